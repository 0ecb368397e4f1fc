//! `http`: what a server says of the event.

use super::Scope;
use super::step_reply::{StepReply, shortened};
use crate::facts::{Answer, HttpStep, Question, unknown};
use crate::verdict::Outcome;
use crate::yaml::{Node, NodeValue, TreeReader};
use serde::{Deserialize, Serialize};

/// How long a server may take, in seconds.
const SECONDS: u32 = 30;

/// Holds when a server that gets the event as JSON answers with success and does not object; its answer is
/// understood like that of `run`.
///
/// `${VAR}` in a header is filled from the environment for the names in `env` and no other. A server that is down,
/// or too slow, leaves the check unknown. With `rewrites: true` it may change the tool's input, and is asked after
/// those before it.
///
/// ```yaml
/// check: { http: "https://gate.example.com/events" }
/// check: { http: { url: "https://gate.example.com", method: put, headers: { Authorization: "Bearer ${TOKEN}" }, env: [TOKEN] } }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HttpCheck {
    /// Where the event is sent.
    pub url: String,
    /// `POST` or `PUT`.
    pub method: String,
    /// Headers by name.
    pub headers: Vec<(String, String)>,
    /// The variables that may stand in headers.
    pub env: Vec<String>,
    /// Whether it may change the tool's input, and so has to wait for those before it.
    pub rewrites: bool,
    /// How long it may take.
    pub seconds: u32,
}

impl HttpCheck {
    /// A server that is posted to.
    #[must_use]
    pub fn new(url: String) -> Self {
        Self { url, method: "POST".to_owned(), headers: Vec::new(), env: Vec::new(), rewrites: false, seconds: SECONDS }
    }

    pub(super) fn read(reader: &mut TreeReader, node: &Node) -> Self {
        let mut at = node;
        let http = if let NodeValue::Map(_) = node.value {
            let fields = reader.fields(node, "`http`", &["url", "method", "headers", "env", "rewrites"]);
            let words =
                [("post", "POST"), ("put", "PUT"), ("Post", "POST"), ("Put", "PUT"), ("POST", "POST"), ("PUT", "PUT")];
            let method = fields.read(reader, "method", |reader, node| reader.word(node, &words)).flatten();
            let headers = fields.read(reader, "headers", |reader, node| reader.map(node, TreeReader::text));
            at = fields.get("url").unwrap_or(node);
            Self {
                method: method.unwrap_or("POST").to_owned(),
                headers: headers.unwrap_or_default().into_iter().collect(),
                env: fields.read(reader, "env", TreeReader::texts).unwrap_or_default(),
                rewrites: fields.read(reader, "rewrites", TreeReader::boolean).unwrap_or_default(),
                ..Self::new(fields.read(reader, "url", TreeReader::text).unwrap_or_default())
            }
        } else {
            Self::new(reader.text(node))
        };
        if !http.url.starts_with("http://") && !http.url.starts_with("https://") {
            reader.problem(at, format!("`{}` is no address: it begins with http:// or https://", http.url));
        }
        http
    }

    /// What is asked of the world.
    #[must_use]
    pub fn question(&self, scope: &Scope<'_>) -> Question {
        let Self { url, method, headers, env, seconds, .. } = self.clone();
        Question::Http(HttpStep { url, method, headers, env, seconds, input: scope.input.cloned() })
    }

    pub(super) fn evaluate(&self, scope: &Scope<'_>) -> Outcome {
        let name = format!("`{}`", self.url.split(['?', '#']).next().unwrap_or_default());
        let (status, body) = match scope.facts.ask(self.question(scope)) {
            Answer::Fetched { status, body } => (status, body),
            other => return Outcome::unknown(unknown(other)),
        };
        if !(200..300).contains(&status) {
            return Outcome::fails(format!("{name} answered {status}: {}", shortened(&body)));
        }
        match StepReply::read(&body) {
            Ok(Some(step_reply)) => step_reply.outcome(&name, ""),
            Ok(None) => Outcome::passes(format!("{name} answered {status}")),
            Err(why) => Outcome::unknown(format!("{name} says nothing that can be read: {why}")),
        }
    }
}
