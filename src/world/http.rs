//! Sends the event to a server.

#![expect(clippy::disallowed_methods, reason = "does I/O")]

use super::StepInput;
use crate::facts::{Answer, HttpResult, HttpStep, Unknown};
use crate::state::user_folder::UserEnvironment;
use std::io::Read;
use std::time::{Duration, Instant};
use ureq::http::Uri;

const LARGEST_RESPONSE: u64 = 1024 * 1024;

/// The variables that name a proxy, in upper or lower case.
const PROXIES: [&str; 3] = ["ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY"];

/// The problem with an https address in a build without the feature `tls`.
const WITHOUT_TLS: &str = "this modegate was built without TLS; build it with `--features tls`, or use a released one";

/// Sends the event; a server that is down or too slow gives no answer.
pub(super) fn send(step: &HttpStep, input: &StepInput) -> Result<Answer, Unknown> {
    let timeout =
        Duration::from_secs(step.seconds.into()).min(input.deadline.saturating_duration_since(Instant::now()));
    // The query may contain a secret.
    let address = step.url.split(['?', '#']).next().unwrap_or_default();
    request(step, input, timeout).map_err(|error| match error {
        RequestError::TooSlow => Unknown::timeout(address, "answer", timeout.as_secs()),
        RequestError::Other(why) => format!("the request to {address} failed: {why}").into(),
    })
}

/// Why a server gave no answer.
enum RequestError {
    TooSlow,
    Other(String),
}

impl<T: Into<String>> From<T> for RequestError {
    fn from(why: T) -> Self {
        Self::Other(why.into())
    }
}

fn failure(error: &ureq::Error) -> RequestError {
    let is_slow = |error: &std::io::Error| error.kind() == std::io::ErrorKind::TimedOut;
    match error {
        ureq::Error::Timeout(_) => RequestError::TooSlow,
        ureq::Error::Io(error) if is_slow(error) => RequestError::TooSlow,
        other => other.to_string().into(),
    }
}

fn request(step: &HttpStep, input: &StepInput, timeout: Duration) -> Result<Answer, RequestError> {
    if !cfg!(feature = "tls") && step.url.starts_with("https://") {
        return Err(WITHOUT_TLS.into());
    }
    // A redirect could send the event to anybody.
    let config = ureq::Agent::config_builder().timeout_global(Some(timeout)).max_redirects(0);
    let config = config.http_status_as_error(false).max_redirects_will_error(false);
    let environment = UserEnvironment::of(&input.home);
    // A proxy reads what is sent, and can answer in the place of the server.
    let is_proxy_of_project = PROXIES.iter().any(|name| environment.is_set_by_project(name));
    let agent = if is_proxy_of_project { config.proxy(None) } else { config }.build().new_agent();
    let uri: Uri = step.url.parse().map_err(|error| format!("{error}"))?;
    let mut request = match step.method.as_str() {
        "PUT" => agent.put(uri),
        _ => agent.post(uri),
    };
    request = request.header("Content-Type", "application/json");
    for (name, value) in &step.headers {
        request = request.header(name, expanded(value, &step.env).map_err(|why| why.to_string())?);
    }
    let mut response = request.send(&input.event).map_err(|error| failure(&error))?;
    let status = response.status().as_u16();
    if (300..400).contains(&status) {
        return Err("it redirects elsewhere, and redirects are not followed".into());
    }
    let mut bytes = Vec::new();
    let body = response.body_mut().as_reader().take(LARGEST_RESPONSE + 1).read_to_end(&mut bytes);
    body.map_err(|error| failure(&ureq::Error::from(error)))?;
    if bytes.len() as u64 > LARGEST_RESPONSE {
        return Err(format!("its response is larger than {} MiB", LARGEST_RESPONSE >> 20).into());
    }
    Ok(Answer::Fetched(HttpResult { status, body: String::from_utf8_lossy(&bytes).into_owned() }))
}

/// A header with its environment variables expanded; only `allowed` ones may be used.
fn expanded(text: &str, allowed: &[String]) -> Result<String, Unknown> {
    let mut done = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let (name, tail) = after.split_once('}').ok_or("a `${` in a header has no `}`")?;
        if !allowed.iter().any(|own| own == name) {
            return Err(format!("`${{{name}}}` in a header is not among the allowed variables (`env`)").into());
        }
        let value = std::env::var(name).map_err(|_| format!("the variable `{name}` is not set"))?;
        done.push_str(before);
        done.push_str(&value);
        rest = tail;
    }
    Ok(done + rest)
}
