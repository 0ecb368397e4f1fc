//! Commands in containers, which change this machine through mounts only.

use super::FileEffect;
use super::args::Args;
use super::scripts::ScriptLimits;
use super::target_path::{TargetPath, absolute};
use super::walker::Walker;
use crate::word::ShellWord;

impl Walker<'_> {
    /// Walks a command in a container.
    pub fn in_container(&mut self, args: &Args, words: &[ShellWord], input: &ShellWord) -> ShellWord {
        let mounts = self.mounts(args);
        let folder = args.value("-w --workdir").and_then(|folder| absolute(&folder.text()?, None));
        let before = self.effects.changes.len();
        let scripts = std::mem::replace(&mut self.scripts, ScriptLimits::none());
        let printed = self.in_subshell(|walker| {
            walker.state.enter(folder);
            walker.run(words, input)
        });
        self.scripts = scripts;
        let inside = self.effects.changes.split_off(before);
        self.effects.changes.extend(inside.into_iter().filter_map(|change| outside(change, &mounts)));
        printed
    }

    /// The folders of this machine that a container sees and may change, each after its path there.
    fn mounts(&self, args: &Args) -> Vec<(String, String)> {
        let mount = |value: &ShellWord| {
            let value = value.text()?;
            let named = |names: [&str; 3]| {
                let mut fields = value.split(',').filter_map(|field| field.split_once('='));
                fields.find(|(name, _)| names.contains(name)).map(|(_, value)| value)
            };
            let mut parts = value.split(':');
            let source = named(["source", "src", ""]).or_else(|| parts.next())?;
            let target = named(["target", "dst", "destination"]).or_else(|| parts.next())?;
            let is_kept = value.split([',', ':']).any(|option| ["ro", "readonly", "readonly=true"].contains(&option));
            // A name without a folder is a volume of its own.
            let is_path = source.starts_with(['/', '.']) && !is_kept;
            let source = absolute(source, self.state.folder.as_deref()).filter(|_| is_path)?;
            Some((absolute(target, None)?, source.trim_end_matches('/').to_owned()))
        };
        args.values("-v --volume --mount").filter_map(mount).collect()
    }
}

/// The change on this machine that a container makes through one of its mounts.
fn outside(change: FileEffect, mounts: &[(String, String)]) -> Option<FileEffect> {
    let TargetPath::Known { path, glob } = &change.target else { return None };
    let below = |target: &str| {
        path.strip_prefix(target.trim_end_matches('/')).filter(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let path = mounts.iter().find_map(|(target, source)| Some(format!("{source}{}", below(target)?)))?;
    let path = if path.is_empty() { "/".to_owned() } else { path };
    Some(FileEffect { target: TargetPath::Known { path, glob: *glob }, ..change })
}
