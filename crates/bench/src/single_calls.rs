//! Single calls whose answers are read.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context, ensure};
use cuepoint_domain::ids::UserId;
use ureq::Agent;
use ureq::http::{Request, Response};

/// The longest wait for an answer.
const PATIENCE: Duration = Duration::from_secs(20);

/// The body of a request for a song of a `popular` or `upcoming` artist, with further fields that begin with a comma.
pub(crate) fn song(dj: UserId, title: &str, artist_type: &str, further: &str) -> String {
    format!(
        r#"{{"dj_id":{dj},"song_title":"{title}","artist_name":"New Order","artist_type":"{artist_type}","music_url":"https://example.com/song"{further}}}"#
    )
}

/// The first value with this name in a JSON text.
pub(crate) fn field(json: &str, name: &str) -> anyhow::Result<String> {
    let (_, rest) = json.split_once(&format!(r#""{name}":"#)).context("an answer lacks a field")?;
    let end = rest.find([',', '}']).context("a field has no end")?;
    Ok(rest.get(..end).unwrap_or_default().trim_matches('"').to_owned())
}

/// A client that keeps its connection and follows no redirection.
pub(crate) fn client() -> Agent {
    let config = Agent::config_builder().http_status_as_error(false).max_redirects(0).proxy(None);
    config.timeout_global(Some(PATIENCE)).build().new_agent()
}

/// Makes a call and returns its answer, which is a success or a redirection.
pub(crate) fn call(
    client: &Agent,
    server: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> anyhow::Result<Response<String>> {
    let mut call = Request::builder().method(method).uri(format!("http://{server}{path}"));
    for (name, value) in headers {
        call = call.header(*name, *value);
    }
    let (head, mut text) = client.run(call.body(body.to_owned())?)?.into_parts();
    let text = text.read_to_string()?;
    let is_success = head.status.is_success() || head.status.is_redirection();
    ensure!(is_success, "{method} {path}: {}: {text}", head.status);
    Ok(Response::from_parts(head, text))
}

/// Makes a call with a token and a JSON body, and returns the body of its answer.
pub(crate) fn fetch(
    server: SocketAddr,
    method: &str,
    path: &str,
    token: &str,
    body: &str,
) -> anyhow::Result<String> {
    let headers = [("Authorization", &*format!("Bearer {token}")), ("Content-Type", "application/json")];
    Ok(call(&client(), server, method, path, &headers, body)?.into_body())
}
