//! modegate's own folder in the user's home: what a repository must not be able to supply.
//!
//! It has the key of this user, and for each project what the person has trusted, the state of its sessions and the
//! compiled modes.

mod environment;
mod repository_bounds;

pub use environment::UserEnvironment;
pub use repository_bounds::is_outside;

use crate::host::paths::{ProjectPaths, safe_name, user_program};
use base::digest::{hex, sha256};
use base::disk::{self, real};
use repository_bounds::RepositoryBounds;
use siphasher::sip128::{Hasher128, SipHasher24};
use std::fs;
use std::hash::Hasher;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The state folder, below the user's home.
const DEFAULT_STATE: &str = ".local/state/modegate";
const KEY: usize = 16;

/// The paths of the project at `home`, with its folder in the user's state folder.
pub fn project_paths(home: PathBuf) -> ProjectPaths {
    paths_with(&UserEnvironment::of(&home), home)
}

/// The paths of a project; nothing of it may be where the repository can have brought it along.
fn paths_with(environment: &UserEnvironment, home: PathBuf) -> ProjectPaths {
    let project = real(&home);
    let own = state_folder(environment).map(|state| (project_folder(&state, &project), state));
    let bounds = RepositoryBounds::of(project);
    // The key is in the state folder itself, and a folder below it may be a link out of the repository.
    let own = own.filter(|(own, state)| bounds.is_outside(own) && bounds.is_outside(state)).map(|(own, _)| own);
    let user_settings = user_settings(environment).filter(|path| bounds.is_outside(path));
    let plugin = environment.path_from_host("CLAUDE_PLUGIN_ROOT").filter(|path| bounds.is_outside(path));
    ProjectPaths { user: user_home(environment), home, state_dir: own, user_settings, plugin }
}

/// The user's own settings file: in `$CLAUDE_CONFIG_DIR` or `~/.claude`, as the host's settings.
fn user_settings(environment: &UserEnvironment) -> Option<PathBuf> {
    let folder = environment.path("CLAUDE_CONFIG_DIR").or_else(|| Some(user_home(environment)?.join(".claude")))?;
    Some(folder.join("modegate.yaml"))
}

/// The user's copy of the program, for hook entries of the user's own settings.
pub fn user_program_at(home: &Path) -> Option<PathBuf> {
    state_folder(&UserEnvironment::of(home)).map(|state| user_program(&state))
}

/// The path that a user writes as `~/src/app`, in settings for the project at `home`.
pub fn expanded(path: &str, home: &Path) -> PathBuf {
    let below_home = path.strip_prefix("~/").and_then(|rest| Some(user_home(&UserEnvironment::of(home))?.join(rest)));
    below_home.unwrap_or_else(|| PathBuf::from(path))
}

/// The paths of the project at `home`, with its own files below `state`: for tests, the demo and scenarios.
pub fn project_paths_in(home: PathBuf, state: &Path) -> ProjectPaths {
    let own = Some(project_folder(state, &real(&home)));
    let user = std::env::home_dir();
    ProjectPaths { user, home, state_dir: own, user_settings: Some(state.join("modegate.yaml")), plugin: None }
}

/// The user's state folder: `$MODEGATE_STATE_DIR`, `$XDG_STATE_HOME/modegate` or `~/.local/state/modegate`.
///
/// The host takes environment variables from a project's settings, so a repository could otherwise bring its own folder,
/// and with it agree to itself.
fn state_folder(environment: &UserEnvironment) -> Option<PathBuf> {
    let data = || environment.path("LOCALAPPDATA").filter(|_| cfg!(windows)).map(|data| data.join("modegate"));
    environment
        .path("MODEGATE_STATE_DIR")
        .or_else(|| Some(environment.path("XDG_STATE_HOME")?.join("modegate")))
        .or_else(data)
        .or_else(|| Some(user_home(environment)?.join(DEFAULT_STATE)))
}

/// The user's home as the system lists it; unlike `$HOME`, a project's settings cannot change it.
#[cfg(unix)]
fn listed_home() -> Option<PathBuf> {
    // Tests must not write to the home of whoever runs them. A project could set this variable, so releases ignore it.
    if let Some(home) = std::env::var_os("MODEGATE_LISTED_HOME").filter(|_| cfg!(debug_assertions)) {
        return Some(real(Path::new(&home)));
    }
    let user = rustix::process::getuid().as_raw().to_string();
    let users = disk::read_text(Path::new("/etc/passwd"), disk::SMALL).ok()?;
    let fields = users.lines().map(|line| line.split(':').collect::<Vec<_>>());
    let own = fields.into_iter().find(|fields| fields.get(2) == Some(&user.as_str()))?;
    own.get(5).map(|home| real(Path::new(home)))
}

#[cfg(not(unix))]
fn listed_home() -> Option<PathBuf> {
    None
}

/// The user's home; the listed one where the project's settings set another.
fn user_home(environment: &UserEnvironment) -> Option<PathBuf> {
    let listed = || listed_home().filter(|_| environment.is_set_by_project("HOME"));
    environment.path("HOME").or_else(|| environment.path("USERPROFILE")).or_else(listed)
}

/// The folder of the project at `home` in the default state folder of the user's listed home, which no variable changes.
pub fn listed_project_folder(home: &Path) -> Option<PathBuf> {
    listed_home().map(|user| project_folder(&user.join(DEFAULT_STATE), &real(home)))
}

fn project_folder(state: &Path, home: &Path) -> PathBuf {
    let name: String = home.file_name().unwrap_or_default().to_string_lossy().chars().take(40).collect();
    let digest = sha256(home.as_os_str().as_encoded_bytes());
    state.join(["projects/", &safe_name(&name), "-", digest.get(..16).unwrap_or_default()].concat())
}

/// Creates a folder that only the user can read, with the folders above it.
pub fn create_private(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// The user's key, which seals what modegate has written.
#[derive(Clone)]
pub struct UserKey([u8; KEY]);

impl UserKey {
    /// The key of the user, for a project's folder in the state folder; it is created if it is missing.
    pub fn open(own: &Path) -> io::Result<Self> {
        let state = own.ancestors().nth(2).ok_or(io::ErrorKind::NotFound)?;
        let path = state.join("key");
        match Self::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Self::create(state, &path),
            key => key,
        }
    }

    fn read(path: &Path) -> io::Result<Self> {
        let bytes = disk::read(path, disk::SMALL)?;
        let key = bytes.first_chunk().copied().map(Self);
        key.ok_or_else(|| io::Error::other(format!("`{}` is not a key", path.display())))
    }

    /// Of several processes that create the key, one succeeds, and all use its key.
    fn create(state: &Path, path: &Path) -> io::Result<Self> {
        create_private(state)?;
        let mut key = [0; KEY];
        getrandom::fill(&mut key).map_err(|error| io::Error::other(error.to_string()))?;
        let mut file = tempfile::NamedTempFile::new_in(state)?;
        file.write_all(&key)?;
        file.as_file().sync_data()?;
        match file.persist_noclobber(path) {
            Ok(_) => Ok(Self(key)),
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Self::read(path),
            Err(error) => Err(error.error),
        }
    }

    /// The seal of some texts, in hexadecimal digits: only a holder of the key can make it.
    ///
    /// `SipHash` is made for short texts; HMAC takes longer to prepare its key than to read a state.
    pub fn seal(&self, texts: &[&[u8]]) -> String {
        let mut hasher = SipHasher24::new_with_key(&self.0);
        for text in texts {
            // The lengths keep apart what concatenation would join.
            hasher.write(&(text.len() as u64).to_le_bytes());
            hasher.write(text);
        }
        hex(&hasher.finish128().as_bytes())
    }
}

impl std::fmt::Debug for UserKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("UserKey")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_processes_of_a_user_have_one_key() {
        let state = tempfile::tempdir().unwrap();
        let own = state.path().join("state/projects/app");
        let keys: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| UserKey::open(&own).unwrap())).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(keys.iter().all(|key| key.0 == keys[0].0));
    }

    #[test]
    fn a_seal_is_for_its_texts_and_its_key() {
        let (first, second) = (UserKey([1; KEY]), UserKey([2; KEY]));
        let seal = first.seal(&[b"session", b"state"]);
        assert_eq!(first.seal(&[b"session", b"state"]), seal);
        assert_ne!(first.seal(&[b"sessions", b"tate"]), seal);
        assert_ne!(first.seal(&[b"session", b"other"]), seal);
        assert_ne!(second.seal(&[b"session", b"state"]), seal);
    }
}
