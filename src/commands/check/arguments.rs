//! Reads a check from arguments, as a mode file would have it.

use super::super::cli_error::CliError;
use crate::host::paths::lexical;
use crate::policy::check::{BUILTIN_VARIABLES, Check, Definitions};
use crate::policy::yaml::{Node, TreeReader};
use clap::Subcommand;
use serde_json::{Map, Value, json};
use std::path::Path;

#[derive(Subcommand)]
pub(super) enum CheckKindArgs {
    /// Check that a file matches each glob and is not empty
    #[command(after_help = "Example:\n  modegate check file 'project/**/research_*.md' --min-chars 200")]
    File {
        /// Paths, globs, or artifacts of the mode
        #[arg(required = true, value_name = "GLOB")]
        globs: Vec<String>,
        /// Minimum length of the file, in characters
        #[arg(long, value_name = "N")]
        min_chars: Option<u32>,
        /// Require the file to be newer than the newest match of this glob
        #[arg(long, value_name = "GLOB")]
        newer_than: Option<String>,
        /// Accept any match, not only the newest one
        #[arg(long)]
        any: bool,
    },
    /// Check that the frontmatter of a file has these values
    #[command(
        after_help = "Example:\n  modegate check frontmatter plan.md consulted_by=consulting-expert approved=true"
    )]
    Frontmatter {
        /// Path, glob (the newest match counts), or artifact of the mode
        #[arg(value_name = "GLOB")]
        glob: String,
        /// Keys and values; `true`, `false` and numbers are typed unless quoted: `version='"3"'`
        #[arg(required = true, value_name = "KEY=VALUE")]
        has: Vec<String>,
    },
    /// Check that the current content of each file is committed
    #[command(after_help = "Example:\n  modegate check committed docs/plan.md docs/report.md")]
    Committed {
        /// Paths, globs (the newest match counts), or artifacts of the mode
        #[arg(required = true, value_name = "FILE")]
        files: Vec<String>,
    },
    /// Check that git has no uncommitted changes under the paths; staged and untracked files count
    #[command(after_help = "Example:\n  modegate check clean src tests '!tests/out'")]
    Clean {
        /// Files and folders; `!PATH` excludes one [default: the whole project]
        #[arg(value_name = "PATH")]
        paths: Vec<String>,
    },
    /// Check that a milestone is set, and print its folder
    #[command(after_help = "Example:\n  cd \"$(modegate check milestone)\"")]
    Milestone,
    /// Run a check written as in a mode file
    #[command(after_help = "Example:\n  modegate check yaml '{ text: { of: plan.md, sections: [Risks] } }'")]
    Yaml {
        /// Check in YAML; paths are relative to the project
        #[arg(value_name = "CHECK")]
        check: String,
    },
}

/// How paths among the arguments are read: relative to the current folder.
pub(super) struct PathArguments<'a> {
    /// The folders that are searched for files.
    pub roots: [&'a Path; 2],
    pub cwd: &'a Path,
    pub definitions: &'a Definitions,
}

impl CheckKindArgs {
    /// The check; `None` for the milestone, which is no check of a mode.
    pub(super) fn check(&self, paths: &PathArguments<'_>) -> Result<Option<Check>, CliError> {
        let tree = match self {
            Self::Milestone => return Ok(None),
            Self::Yaml { check } => return paths.read(check, Vec::new()).and_then(without_event).map(Some),
            Self::Committed { files } => all_of(files, |of| json!({"committed": paths.inside(of)})),
            Self::File { globs, min_chars, newer_than, any } => all_of(globs, |of| {
                let mut fields = Map::new();
                fields.insert("of".to_owned(), paths.inside(of).into());
                fields.insert("newest".to_owned(), (!any).into());
                fields.extend(min_chars.map(|size| ("min_chars".to_owned(), size.into())));
                fields.extend(newer_than.as_ref().map(|of| ("newer_than".to_owned(), paths.inside(of).into())));
                json!({ "file": fields })
            }),
            Self::Frontmatter { glob, has } => {
                let has: Result<Map<String, Value>, CliError> = has.iter().map(|pair| key_and_value(pair)).collect();
                json!({"frontmatter": {"of": paths.inside(glob), "has": has?}})
            }
            Self::Clean { paths: given } if given.is_empty() => json!({"clean": "."}),
            Self::Clean { paths: given } => {
                let inside = |path: &String| match path.strip_prefix('!') {
                    Some(excluded) => format!("!{}", paths.inside(excluded)),
                    None => paths.inside(path),
                };
                json!({"clean": given.iter().map(inside).collect::<Vec<_>>()})
            }
        };
        paths.read(&tree.to_string(), self.plain_names(paths)).map(Some)
    }

    /// Names without a `/`, `.` or `*`, which a mode file would take for artifacts.
    fn plain_names(&self, paths: &PathArguments<'_>) -> Vec<String> {
        let (given, more) = match self {
            Self::File { globs, newer_than, .. } => (globs.as_slice(), newer_than.as_ref()),
            Self::Committed { files } => (files.as_slice(), None),
            Self::Frontmatter { glob, .. } => (std::slice::from_ref(glob), None),
            Self::Clean { .. } | Self::Milestone | Self::Yaml { .. } => (&[][..], None),
        };
        given.iter().chain(more).map(|path| paths.inside(path)).collect()
    }
}

impl PathArguments<'_> {
    /// A path or glob relative to the project; names of artifacts, and what starts with a variable, are not changed.
    fn inside(&self, given: &str) -> String {
        if self.definitions.artifacts.contains_key(given) || given.starts_with('{') {
            return given.to_owned();
        }
        let path = lexical(&self.cwd.join(given));
        let below = self.roots.iter().find_map(|root| path.strip_prefix(root).ok());
        match below.unwrap_or(&path).to_string_lossy().replace('\\', "/") {
            here if here.is_empty() => ".".to_owned(),
            path => path,
        }
    }

    /// Reads a check; `names` may be used besides the artifacts of the mode.
    fn read(&self, text: &str, mut names: Vec<String>) -> Result<Check, CliError> {
        let Definitions { artifacts, variables } = self.definitions;
        names.extend(artifacts.keys().cloned());
        let variables = BUILTIN_VARIABLES.into_iter().map(str::to_owned).chain(variables.keys().cloned()).collect();
        let mut reader = TreeReader::default();
        (reader.artifacts, reader.variables) = (names, variables);
        let node = Node::parse(text).map_err(|problem| CliError::usage(problem.message))?;
        let check = Check::read(&mut reader, &node);
        let problems: Vec<String> = reader.problems.into_iter().map(|problem| problem.message).collect();
        if problems.is_empty() { Ok(check) } else { Err(CliError::usage(problems.join("; "))) }
    }
}

fn all_of(given: &[String], check: impl Fn(&str) -> Value) -> Value {
    let mut checks: Vec<Value> = given.iter().map(|given| check(given)).collect();
    if checks.len() == 1 { checks.remove(0) } else { json!({ "all": checks }) }
}

fn key_and_value(pair: &str) -> Result<(String, Value), CliError> {
    let split = pair.split_once('=').filter(|(key, _)| !key.is_empty());
    let (key, value) = split.ok_or_else(|| {
        CliError::usage(format!("`{pair}` is not KEY=VALUE")).hint("for example `consulted_by=consulting-expert`")
    })?;
    let scalar = Node::parse(value).ok().map(|node| node.to_json());
    let scalar = scalar.filter(|scalar| scalar.is_string() || scalar.is_number() || scalar.is_boolean());
    Ok((key.to_owned(), scalar.unwrap_or_else(|| value.into())))
}

/// The check, unless a part of it needs an event, a program or a server.
fn without_event(check: Check) -> Result<Check, CliError> {
    let mut is_fit = true;
    check.walk(&mut |part| is_fit &= !part.is_about_event());
    let error = || {
        CliError::usage("this works only for checks on files, git and the state, not on events, programs or servers")
            .hint("run `modegate check --help` for examples")
    };
    if is_fit { Ok(check) } else { Err(error()) }
}
