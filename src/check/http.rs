//! `http`: a server decides about the event.

use super::step_reply::{StepReply, shortened};
use super::{CheckKind, Scope, StepOptions};
use crate::facts::{HttpResult, HttpStep, Question, Unknown};
use crate::verdict::Outcome;
use crate::yaml::{Node, NodeValue, TreeReader};
use serde::{Deserialize, Serialize};

/// How long a server may take, in seconds.
const SECONDS: u32 = 30;

/// The accepted spellings of a method.
const METHODS: [(&str, &str); 6] =
    [("post", "POST"), ("put", "PUT"), ("Post", "POST"), ("Put", "PUT"), ("POST", "POST"), ("PUT", "PUT")];

/// Passes when a server that gets the event as JSON answers with success and does not object; its answer is read like
/// that of `run`.
///
/// `${VAR}` in a header is filled from the environment for the names in `env` and no other. A server that is down or
/// too slow leaves the check unknown; with `required: true` only one that is too slow does, and others fail. With
/// `rewrites: true` it may change the tool's input, and is asked after the steps before it.
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
    /// How it is asked.
    pub step: StepOptions,
}

impl CheckKind for HttpCheck {
    fn read(reader: &mut TreeReader, node: &Node) -> Self {
        let mut at = node;
        let mut step = StepOptions { seconds: SECONDS, ..StepOptions::default() };
        let url;
        let (mut method, mut headers) = (None, None);
        if let NodeValue::Map(_) = node.value {
            let fields = reader.fields(node, "`http`", &["url", "method", "headers", "env", "rewrites", "required"]);
            at = fields.get("url").unwrap_or(node);
            url = fields.read(reader, "url", TreeReader::text);
            method = fields.read(reader, "method", |reader, node| reader.word(node, &METHODS)).flatten();
            headers = fields.read(reader, "headers", |reader, node| reader.map(node, TreeReader::text));
            step.env = fields.read(reader, "env", TreeReader::texts).unwrap_or_default();
            step.rewrites = fields.read(reader, "rewrites", TreeReader::boolean).unwrap_or_default();
            step.required = fields.read(reader, "required", TreeReader::boolean).unwrap_or_default();
        } else {
            url = Some(reader.text(node));
        }
        let url = url.unwrap_or_default();
        if !url.starts_with("http://") && !url.starts_with("https://") {
            reader.problem(at, format!("`{url}` is not a URL: it must start with http:// or https://"));
        }
        Self { url, method: method.unwrap_or("POST").to_owned(), headers: headers.unwrap_or_default(), step }
    }

    fn question(&self, scope: &Scope<'_>) -> Option<Question> {
        Some(Question::Http(self.http_step(scope)))
    }

    fn step(&self) -> Option<&StepOptions> {
        Some(&self.step)
    }

    fn step_mut(&mut self) -> Option<&mut StepOptions> {
        Some(&mut self.step)
    }

    fn evaluate(&self, scope: &Scope<'_>) -> Result<Outcome, Outcome> {
        let name = format!("`{}`", self.url.split(['?', '#']).next().unwrap_or_default());
        let HttpResult { status, body } = self.fetch(scope).map_err(|why| self.step.without_answer(why))?;
        if !(200..300).contains(&status) {
            return Ok(Outcome::fails(format!("{name} answered {status}: {}", shortened(&body))));
        }
        Ok(match StepReply::read(&body) {
            Ok(Some(reply)) => reply.outcome(&name, ""),
            Ok(None) => Outcome::passes(format!("{name} answered {status}")),
            Err(error) => Outcome::unknown(format!("{name} sent no readable answer: {error}")),
        })
    }
}

impl HttpCheck {
    fn fetch(&self, scope: &Scope<'_>) -> Result<HttpResult, Unknown> {
        scope.facts.http(self.http_step(scope))
    }

    fn http_step(&self, scope: &Scope<'_>) -> HttpStep {
        let Self { url, method, headers, step: StepOptions { env, seconds, .. } } = self.clone();
        HttpStep { url, method, headers, env, seconds, input: scope.input.cloned() }
    }
}
