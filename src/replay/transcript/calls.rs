//! Tool calls on their way: the host runs together what only looks, and one by one what may change something.

use crate::shell::{self, ExecContext};
use serde_json::Value;
use std::collections::VecDeque;

/// A call of a tool.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PendingCall {
    pub id: String,
    pub tool: String,
    pub input: Value,
    /// The line on which it stands.
    pub line: usize,
    /// Where its `PreToolUse` stands among the events, once it has begun.
    pub begun: Option<usize>,
}

/// The calls of one agent that have no result yet.
#[derive(Debug, Default)]
pub(super) struct PendingCalls {
    running: Vec<PendingCall>,
    waiting: VecDeque<PendingCall>,
}

impl PendingCalls {
    /// Adds a call behind those that wait.
    pub(super) fn add(&mut self, call: PendingCall) {
        self.waiting.push_back(call);
    }

    /// The next call that begins now, to be put under way.
    pub(super) fn next(&mut self) -> Option<PendingCall> {
        let together = |call: &PendingCall| only_looks(call) && self.running.iter().all(only_looks);
        let may = self.waiting.front().is_some_and(|call| self.running.is_empty() || together(call));
        if may { self.waiting.pop_front() } else { None }
    }

    /// A call is under way.
    pub(super) fn run(&mut self, call: PendingCall) {
        self.running.push(call);
    }

    /// The running call of an id, taken out.
    pub(super) fn end(&mut self, id: &str) -> Option<PendingCall> {
        let at = self.running.iter().rposition(|call| call.id == id)?;
        Some(self.running.remove(at))
    }

    /// The calls that must have begun, since the one of this id has a result: it and all before it.
    pub(super) fn overdue(&mut self, id: &str) -> Vec<PendingCall> {
        match self.waiting.iter().position(|call| call.id == id) {
            Some(at) => self.waiting.drain(..=at).collect(),
            None => Vec::new(),
        }
    }

    /// Takes out a call that never began.
    pub(super) fn withdraw(&mut self, id: &str) -> Option<PendingCall> {
        let at = self.waiting.iter().position(|call| call.id == id)?;
        self.waiting.remove(at)
    }

    /// Whether any has no result yet.
    pub(super) fn are_open(&self) -> bool {
        !self.running.is_empty() || !self.waiting.is_empty()
    }

    /// All calls that have not begun; those that run are given up.
    pub(super) fn clear(&mut self) -> Vec<PendingCall> {
        self.running.clear();
        self.waiting.drain(..).collect()
    }
}

/// Programs that the host takes for harmless.
const LOOKERS: [&str; 28] = [
    "cat", "head", "tail", "ls", "pwd", "echo", "printf", "wc", "grep", "rg", "find", "sort", "uniq", "cut", "stat",
    "file", "which", "date", "true", "false", "sleep", "diff", "du", "df", "tree", "basename", "dirname", "jq",
];

/// Words of git that only look.
const GIT: [&str; 6] = ["status", "log", "diff", "show", "rev-parse", "blame"];

/// Whether the host runs this call beside others of its kind.
fn only_looks(call: &PendingCall) -> bool {
    match call.tool.as_str() {
        "Read" | "Grep" | "Glob" | "LS" | "NotebookRead" | "WebFetch" | "WebSearch" | "Agent" | "Task" => true,
        "Bash" => call.input.get("command").and_then(Value::as_str).is_some_and(line_only_looks),
        _ => false,
    }
}

fn line_only_looks(line: &str) -> bool {
    let ground = ExecContext { cwd: "/".to_owned(), home: "/".to_owned(), project: "/".to_owned() };
    let effects = shell::effects(line, &ground);
    let looks = |run: &shell::ProgramCall| {
        let argv = run.argv();
        let word = |at: usize| argv.get(at).map_or("", String::as_str);
        LOOKERS.contains(&word(0)) || word(0) == "git" && GIT.contains(&word(1))
    };
    effects.changes.is_empty()
        && effects.hidden.is_empty()
        && effects.unreadable.is_none()
        && effects.calls.iter().all(looks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn call(id: &str, tool: &str, command: &str) -> PendingCall {
        PendingCall {
            id: id.to_owned(),
            tool: tool.to_owned(),
            input: json!({"command": command}),
            line: 1,
            begun: None,
        }
    }

    fn begun(calls: &mut PendingCalls) -> Vec<String> {
        let mut ids = Vec::new();
        while let Some(call) = calls.next() {
            ids.push(call.id.clone());
            calls.run(call);
        }
        ids
    }

    #[test]
    fn what_may_change_something_waits_for_its_turn() {
        let mut calls = PendingCalls::default();
        for (id, tool, command) in
            [("1", "Write", ""), ("2", "Agent", ""), ("3", "Bash", "cat x | wc -l"), ("4", "Bash", "echo x > y")]
        {
            calls.add(call(id, tool, command));
        }
        assert_eq!(begun(&mut calls), ["1"]);
        assert!(calls.end("1").is_some());
        assert_eq!(begun(&mut calls), ["2", "3"]);
        assert!(calls.end("3").is_some());
        assert_eq!(begun(&mut calls), [""; 0]);
        assert!(calls.end("2").is_some());
        assert_eq!(begun(&mut calls), ["4"]);
    }

    #[test]
    fn a_result_shows_that_a_call_has_begun() {
        let mut calls = PendingCalls::default();
        for id in ["1", "2", "3"] {
            calls.add(call(id, "Bash", "make"));
        }
        assert_eq!(begun(&mut calls), ["1"]);
        assert!(calls.end("2").is_none());
        let overdue: Vec<String> = calls.overdue("2").into_iter().map(|call| call.id).collect();
        assert_eq!(overdue, ["2"]);
        assert!(calls.are_open());
    }
}
