//! Finds out which agent acts or stops.

use super::Engine;
use crate::facts::Facts;
use crate::facts::session::Session;
use crate::host::event::{Event, EventKind};
use crate::host::ids::{AgentName, UNKNOWN_TEAMMATE};
use crate::policy::check::Check;
use crate::policy::mode::{BASE, Catalogue, Gate, Worker};
use std::borrow::Cow;

/// Returns the event with the type of its agent, where the host has put a teammate's name or nothing.
///
/// The type comes from the start of the agent or from the host's metadata. It is looked up only where something
/// depends on it.
pub(super) fn with_agent_type<'e>(
    event: &'e Event,
    catalogue: &Catalogue,
    session: &Session,
    facts: &Facts<'_>,
) -> Cow<'e, Event> {
    let Some(id) = event.agent_id() else { return Cow::Borrowed(event) };
    let is_typed = event.teammate().is_none() && event.text("agent_type").is_some();
    if is_typed || !type_matters(event, catalogue, session) {
        return Cow::Borrowed(event);
    }
    let states = || session.modes.values();
    let recorded = states().find_map(|state| state.agents.get(id)).map(|record| record.agent.to_string());
    let Some(name) = event.teammate() else {
        let transcript = || event.text("agent_transcript_path").map(str::to_owned);
        let agent = recorded.or_else(|| facts.agent(id.to_owned(), transcript()).ok().flatten());
        return agent.map_or(Cow::Borrowed(event), |agent| Cow::Owned(typed(event, agent)));
    };
    let starts = || states().flat_map(|state| &state.admitted).find(|start| start.name.as_deref() == Some(name));
    let admitted = || starts().filter(|_| event.kind == Some(EventKind::SubagentStart));
    let agent = recorded
        .or_else(|| admitted().map(|start| start.agent.to_string()))
        .or_else(|| facts.agent(id.to_owned(), event.agent_transcript()).ok().flatten());
    Cow::Owned(typed(event, agent.unwrap_or_else(|| UNKNOWN_TEAMMATE.to_owned())))
}

fn typed(event: &Event, agent: String) -> Event {
    let mut event = event.clone();
    event.fields.insert("agent_type".to_owned(), agent.into());
    event
}

/// Whether a decision may depend on the type of the agent: a mode is active, or a gate or context file names agents.
fn type_matters(event: &Event, catalogue: &Catalogue, session: &Session) -> bool {
    let names_agent = |gate: &Gate| {
        let mut found = false;
        let checks = std::iter::once(&gate.check).chain(gate.condition.as_ref());
        checks.for_each(|check| check.walk(&mut |check| found |= matches!(check, Check::Agent(_))));
        found
    };
    let starts_or_stops = matches!(event.kind, Some(EventKind::SubagentStart | EventKind::SubagentStop));
    let base = catalogue.modes.iter().filter(|mode| mode.name == BASE).flat_map(|mode| &mode.gates);
    let mut base = base.filter(|gate| {
        gate.on.iter().any(|trigger| {
            let same_kind = event.kind.is_some_and(|kind| trigger.event.kinds().contains(&kind));
            same_kind && starts_or_stops || trigger.matches(event, &[]) && names_agent(gate)
        })
    });
    session.is_in_mode()
        || starts_or_stops && (!catalogue.contexts.is_empty() || event.kind == Some(EventKind::SubagentStart))
        || base.next().is_some()
}

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
