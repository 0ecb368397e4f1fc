//! What changes the meaning of later commands on the line.

use super::walker::Walker;
use crate::has_name;
use crate::syntax::Unreadable;
use crate::word::ShellWord;

/// Variables that make programs do something else.
const VARIABLES: &str = "LD_PRELOAD DYLD_INSERT_LIBRARIES BASH_ENV ENV MAKEFLAGS GNUMAKEFLAGS MFLAGS MAKEFILES PYTEST_ADDOPTS \
    PYTEST_PLUGINS JAVA_TOOL_OPTIONS MAVEN_ARGS RUSTC_WRAPPER RUSTC RUSTDOC CARGO_BUILD_RUSTC* npm_config_script_shell \
    NPM_CONFIG_SCRIPT_SHELL";

/// Folders in which people install programs.
const PROGRAM_FOLDERS: &str = "/usr/ /opt/ /bin /sbin /nix/ /snap/ /home/linuxbrew/ /Library/ /Applications/ /.cargo/bin \
    /.local/bin /.local/share/ /go/bin /.bun/bin /.deno/bin /.nvm/ /.pyenv/ /.rbenv/ /.asdf/ /.volta/ /.dotnet \
    /flutter/bin /.pub-cache/bin /.npm-global/bin";

impl Walker<'_> {
    /// Records why later commands may mean something else.
    pub fn mark_redefined(&mut self, why: impl Into<String>) {
        self.redefined.get_or_insert_with(|| why.into());
    }

    /// Notes the assignment of a variable that changes what programs do; walks the command line in one.
    pub fn assigned(&mut self, name: &str, value: &ShellWord) {
        self.command_assigned(name, value);
        // bash then also matches hidden names.
        if name == "GLOBIGNORE" {
            self.give_up(Unreadable::NotFollowed("GLOBIGNORE"));
        }
        let runner = name.starts_with("CARGO_TARGET_") && name.ends_with("_RUNNER")
            || name == "GOFLAGS" && value.filled("").contains("exec");
        let loads = |option: &&str| value.filled("").contains(*option);
        let node = name == "NODE_OPTIONS" && ["-r", "--require", "--import", "loader"].iter().any(loads);
        let path = name == "PATH" && !only_installed(value);
        if has_name(VARIABLES, name) || runner || node || path {
            self.mark_redefined(format!("it sets {name}"));
        }
    }
}

/// Whether a search path has only folders of installed programs besides the old path.
fn only_installed(path: &ShellWord) -> bool {
    let known = path.filled("");
    known.split(':').filter(|folder| !folder.is_empty()).all(|folder| {
        PROGRAM_FOLDERS.split(' ').any(|own| match own.strip_prefix("/.") {
            Some(_) => folder.contains(own),
            None => {
                folder.starts_with(own)
                    || own.starts_with("/go") && folder.ends_with(own)
                    || folder.ends_with("/flutter/bin")
            }
        })
    })
}
