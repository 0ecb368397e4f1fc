//! Tool calls without a result. The host runs read-only calls in parallel, and all others one by one.

use serde_json::Value;
use shell_effects::ExecContext;
use std::collections::VecDeque;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct PendingCall {
    pub id: String,
    pub tool: String,
    pub input: Value,
    /// The line of its record.
    pub line: usize,
    /// The index of its `PreToolUse` event, once it has started.
    pub started: Option<usize>,
}

/// The calls of one agent that have no result yet.
#[derive(Debug, Default)]
pub(super) struct PendingCalls {
    pub running: Vec<PendingCall>,
    pub queued: VecDeque<PendingCall>,
}

impl PendingCalls {
    /// Takes the next call from the queue if it can start now.
    pub(super) fn next(&mut self) -> Option<PendingCall> {
        let parallel = |call: &PendingCall| is_read_only(call) && self.running.iter().all(is_read_only);
        self.queued.pop_front_if(|call| self.running.is_empty() || parallel(call))
    }

    pub(super) fn end(&mut self, id: &str) -> Option<PendingCall> {
        let at = self.running.iter().rposition(|call| call.id == id)?;
        Some(self.running.remove(at))
    }

    /// Takes the call with this id, which has a result, and all before it from the queue: they must have started.
    pub(super) fn overdue(&mut self, id: &str) -> Vec<PendingCall> {
        let at = self.queued.iter().position(|call| call.id == id);
        at.map(|at| self.queued.drain(..=at).collect()).unwrap_or_default()
    }

    /// Takes out a call that never started.
    pub(super) fn withdraw(&mut self, id: &str) -> Option<PendingCall> {
        let at = self.queued.iter().position(|call| call.id == id)?;
        self.queued.remove(at)
    }

    pub(super) fn are_open(&self) -> bool {
        !self.running.is_empty() || !self.queued.is_empty()
    }

    /// Drops all calls and returns those that have not started.
    pub(super) fn clear(&mut self) -> Vec<PendingCall> {
        self.running.clear();
        self.queued.drain(..).collect()
    }
}

/// Programs that the host considers read-only.
const READ_ONLY_PROGRAMS: [&str; 28] = [
    "cat", "head", "tail", "ls", "pwd", "echo", "printf", "wc", "grep", "rg", "find", "sort", "uniq", "cut", "stat",
    "file", "which", "date", "true", "false", "sleep", "diff", "du", "df", "tree", "basename", "dirname", "jq",
];

/// Read-only git subcommands.
const READ_ONLY_GIT: [&str; 6] = ["status", "log", "diff", "show", "rev-parse", "blame"];

/// Whether the host runs this call in parallel with others of its kind.
fn is_read_only(call: &PendingCall) -> bool {
    match call.tool.as_str() {
        "Read" | "Grep" | "Glob" | "LS" | "NotebookRead" | "WebFetch" | "WebSearch" | "Agent" | "Task" => true,
        "Bash" => call.input.get("command").and_then(Value::as_str).is_some_and(is_read_only_command),
        _ => false,
    }
}

fn is_read_only_command(line: &str) -> bool {
    let context =
        ExecContext { cwd: "/".to_owned(), home: "/".to_owned(), project: "/".to_owned(), ..ExecContext::default() };
    let effects = shell_effects::effects(line, &context);
    let is_read_only = |run: &shell_effects::ProgramCall| {
        let argv = run.argv();
        let word = |at: usize| argv.get(at).map_or("", String::as_str);
        READ_ONLY_PROGRAMS.contains(&word(0)) || word(0) == "git" && READ_ONLY_GIT.contains(&word(1))
    };
    effects.changes.is_empty()
        && effects.hidden.is_empty()
        && effects.unreadable.is_none()
        && effects.calls.iter().all(is_read_only)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn call(id: &str, tool: &str, command: &str) -> PendingCall {
        let input = json!({"command": command});
        PendingCall { id: id.to_owned(), tool: tool.to_owned(), input, line: 1, started: None }
    }

    fn started(calls: &mut PendingCalls) -> Vec<String> {
        let mut ids = Vec::new();
        while let Some(call) = calls.next() {
            ids.push(call.id.clone());
            calls.running.push(call);
        }
        ids
    }

    #[test]
    fn a_call_that_may_write_waits_for_its_turn() {
        let mut calls = PendingCalls::default();
        for (id, tool, command) in
            [("1", "Write", ""), ("2", "Agent", ""), ("3", "Bash", "cat x | wc -l"), ("4", "Bash", "echo x > y")]
        {
            calls.queued.push_back(call(id, tool, command));
        }
        assert_eq!(started(&mut calls), ["1"]);
        assert!(calls.end("1").is_some());
        assert_eq!(started(&mut calls), ["2", "3"]);
        assert!(calls.end("3").is_some());
        assert_eq!(started(&mut calls), [""; 0]);
        assert!(calls.end("2").is_some());
        assert_eq!(started(&mut calls), ["4"]);
    }

    #[test]
    fn a_result_shows_that_a_call_has_started() {
        let mut calls = PendingCalls::default();
        for id in ["1", "2", "3"] {
            calls.queued.push_back(call(id, "Bash", "make"));
        }
        assert_eq!(started(&mut calls), ["1"]);
        assert!(calls.end("2").is_none());
        let overdue: Vec<String> = calls.overdue("2").into_iter().map(|call| call.id).collect();
        assert_eq!(overdue, ["2"]);
        assert!(calls.are_open());
    }
}
