//! A server that is sent the event.

use crate::facts::{Answer, HttpStep};
use std::io::Read;
use std::time::{Duration, Instant};
use ureq::http::Uri;

/// How much of an answer is read: more is no answer.
const LARGEST: u64 = 1024 * 1024;

/// Sends the event; a server that is down, or too slow, could not be asked.
pub(super) fn fetch(asked: &HttpStep, event: &str, until: Instant) -> Answer {
    let limit = Duration::from_secs(asked.seconds.into()).min(until.saturating_duration_since(Instant::now()));
    match sent(asked, event, limit) {
        Ok((status, body)) => Answer::Fetched { status, body },
        Err(why) => {
            // What stands behind the address may be a secret.
            let address = asked.url.split(['?', '#']).next().unwrap_or_default();
            Answer::Unknown(format!("{address} cannot be asked: {why}"))
        }
    }
}

fn sent(asked: &HttpStep, event: &str, limit: Duration) -> Result<(u16, String), String> {
    // Whoever is asked answers: a redirect could carry the event to anybody.
    let config = ureq::Agent::config_builder().timeout_global(Some(limit)).max_redirects(0);
    let agent = config.http_status_as_error(false).max_redirects_will_error(false).build().new_agent();
    let uri: Uri = asked.url.parse().map_err(|error| format!("{error}"))?;
    let mut request = match asked.method.as_str() {
        "PUT" => agent.put(uri),
        _ => agent.post(uri),
    };
    request = request.header("Content-Type", "application/json");
    for (name, value) in &asked.headers {
        request = request.header(name, filled(value, &asked.env)?);
    }
    let mut response = request.send(event).map_err(|error| error.to_string())?;
    let status = response.status().as_u16();
    if (300..400).contains(&status) {
        return Err("it leads elsewhere, and redirects are not followed".to_owned());
    }
    let mut bytes = Vec::new();
    let body = response.body_mut().as_reader().take(LARGEST + 1).read_to_end(&mut bytes);
    body.map_err(|error| error.to_string())?;
    if bytes.len() as u64 > LARGEST {
        return Err(format!("its answer is larger than {} MiB", LARGEST >> 20));
    }
    Ok((status, String::from_utf8_lossy(&bytes).into_owned()))
}

/// A header with its variables filled in, from the environment and only as far as that is allowed.
fn filled(text: &str, allowed: &[String]) -> Result<String, String> {
    let mut done = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let (name, tail) = after.split_once('}').ok_or("a `${` in a header has no `}`")?;
        if !allowed.iter().any(|own| own == name) {
            return Err(format!("`${{{name}}}` in a header is not among the allowed variables (`env`)"));
        }
        let value = std::env::var(name).map_err(|_| format!("the variable `{name}` is not set"))?;
        done.push_str(before);
        done.push_str(&value);
        rest = tail;
    }
    Ok(done + rest)
}
