//! `http`: a server decides about the event.

use super::StepOptions;
use super::prelude::*;
use super::step_reply::{StepReply, shortened};
use crate::facts::{HttpResult, HttpStep, Question};

/// How long a server may take, in seconds.
const SECONDS: u32 = 30;

const POST: &str = "POST";

/// The accepted spellings of a method.
const METHODS: [(&str, &str); 6] =
    [("post", POST), ("put", "PUT"), ("Post", POST), ("Put", "PUT"), (POST, POST), ("PUT", "PUT")];

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
    pub url: String,
    /// `POST` or `PUT`.
    pub method: String,
    pub headers: Vec<(String, String)>,
    pub step: StepOptions,
}

impl CheckKind for HttpCheck {
    fn from_node(reader: &mut TreeReader, node: &Node) -> Self {
        let step = StepOptions { seconds: SECONDS, ..StepOptions::default() };
        if !node.is_map() {
            return Self { url: url(reader, node), method: POST.to_owned(), headers: Vec::new(), step };
        }
        let fields = reader.fields(node, "`http`", &["url", "method", "headers", "env", "rewrites", "required"]);
        if fields.get("url").is_none() {
            fields.missing(reader, node, "`http` needs a `url`");
        }
        let headers = fields.read(reader, "headers", |reader, node| reader.map(node, TreeReader::text));
        Self {
            url: fields.read(reader, "url", url).unwrap_or_default(),
            method: fields.word(reader, "method", &METHODS).unwrap_or(POST).to_owned(),
            headers: headers.unwrap_or_default(),
            step: StepOptions {
                env: fields.texts(reader, "env"),
                rewrites: fields.flag(reader, "rewrites"),
                required: fields.flag(reader, "required"),
                ..step
            },
        }
    }

    fn question(&self, scope: &Scope<'_>) -> Option<Question> {
        Some(Question::Http(self.http_step(scope)))
    }

    fn evaluate(&self, scope: &Scope<'_>) -> Result<Outcome, Outcome> {
        let name = format!("`{}`", self.url.split(['?', '#']).next().unwrap_or_default());
        let result = scope.facts.http(self.http_step(scope));
        let HttpResult { status, body } = result.map_err(|why| self.step.without_answer(why))?;
        if !(200..300).contains(&status) {
            return Ok(Outcome::fails(format!("{name} answered {status}: {}", shortened(&body))));
        }
        Ok(match StepReply::parse(&body) {
            Ok(Some(reply)) => reply.outcome(&name, ""),
            Ok(None) => Outcome::passes(format!("{name} answered {status}")),
            Err(error) => Outcome::unknown(format!("{name} sent no readable answer: {error}")),
        })
    }
}

impl HttpCheck {
    fn http_step(&self, scope: &Scope<'_>) -> HttpStep {
        let Self { url, method, headers, step: StepOptions { env, seconds, .. } } = self.clone();
        HttpStep { url, method, headers, env, seconds, input: scope.input.cloned() }
    }
}

fn url(reader: &mut TreeReader, node: &Node) -> String {
    let url = reader.text(node);
    if !url.starts_with("http://") && !url.starts_with("https://") {
        reader.problem(node, format!("`{url}` is not a URL: it must start with http:// or https://"));
    }
    url
}
