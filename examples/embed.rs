//! Embeds the engine: decides two events of a session with a mode and facts of its own, without any file.
//!
//! Run it with `cargo run --example embed`.
#![expect(clippy::print_stdout, reason = "an example shows its result")]

use modegate::{Answer, Catalogue, Event, FactSource, Facts, Question, Session, decide, reply};

const MODE: &str = "
mode: release
commands: [/release]
phases:
  - phase: publish
    agent: publisher
    before: [{ id: notes-exist, check: { file: NOTES.md }, else: Release notes not found. Write them first. }]
";

/// A world without files.
struct NoFiles;

impl FactSource for NoFiles {
    fn answer(&self, question: &Question) -> Answer {
        match question {
            Question::Files(_) => Answer::Files(Vec::new()),
            _ => Answer::Unknown("this world has no files".into()),
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let modes = Catalogue::compose(None, &[("release.yaml".to_owned(), MODE.to_owned())]);
    let mut session = Session { id: "s1".into(), ..Session::default() };
    for event in [
        r#"{"hook_event_name": "UserPromptSubmit", "session_id": "s1", "prompt": "/release"}"#,
        r#"{"hook_event_name": "PreToolUse", "session_id": "s1", "tool_name": "Agent", "tool_input": {"subagent_type": "publisher"}}"#,
    ] {
        let event = Event::parse(event.as_bytes())?;
        let decided = decide(&event, &modes, &session, &Facts::new(&NoFiles));
        let reply = reply(&event, &decided.decision, &decided.findings);
        println!("{}: {} (exit {})\n{}", event.name(), decided.outcome(), reply.exit, reply.stderr);
        session = decided.session;
    }
    assert_eq!(session.mode_state("release_mode").and_then(|state| state.phase.as_deref()), Some("publish"));
    Ok(())
}

#[test]
fn the_example_runs() {
    main().unwrap();
}
