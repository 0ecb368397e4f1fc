//! Finds out which agent is stopping.

use super::Engine;
use crate::ids::AgentName;
use crate::mode::Worker;

/// The agent that stops.
pub(super) enum StoppingAgent {
    /// An agent of this type.
    Agent(AgentName),
    /// An internal fork of the host; ignored.
    Fork,
    /// Not known: such a stop changes no state and is never blocked.
    Unattributed,
}

impl Engine<'_> {
    /// Returns the agent that stops: by its type, else by its id, else the only gated agent that is running.
    pub(super) fn stopping_agent(&self) -> StoppingAgent {
        match self.event.text("agent_type") {
            Some("") => return StoppingAgent::Fork,
            Some(name) => return StoppingAgent::Agent(name.into()),
            None => {}
        }
        if let Some(id) = self.event.agent_id() {
            let transcript = self.event.text("agent_transcript_path").map(str::to_owned);
            if let Ok(Some(name)) = self.facts.agent(id.to_owned(), transcript) {
                return StoppingAgent::Agent(name.into());
            }
        }
        match self.facts.in_flight() {
            Ok(agents) => {
                let mut gated: Vec<AgentName> =
                    agents.into_iter().filter(|agent| self.is_gated(agent)).map(AgentName::from).collect();
                gated.dedup();
                match gated.as_slice() {
                    [only] => StoppingAgent::Agent(only.clone()),
                    _ => StoppingAgent::Unattributed,
                }
            }
            Err(_) => StoppingAgent::Unattributed,
        }
    }

    fn is_gated(&self, agent: &str) -> bool {
        let mut workers = self.active().flat_map(|mode| mode.phases.iter().map(|phase| &phase.worker));
        workers.any(|worker: &Worker| worker.is_agent(agent))
    }
}
