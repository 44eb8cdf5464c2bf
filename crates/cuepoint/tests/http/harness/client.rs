//! A client of one server, with a builder for calls.

use std::time::Duration;

use serde_json::Value;
use ureq::http::{Method, Request};
use ureq::{Agent, SendBody};

use super::Answer;

/// The prefix of every path of the contract.
const PREFIX: &str = "/api/v1";

/// A client of one server; clones share its connections.
#[derive(Clone)]
pub(crate) struct Client {
    agent: Agent,
    /// The address of the server, without the prefix.
    pub(crate) address: String,
}

impl Client {
    pub(crate) fn new(address: &str) -> Self {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .proxy(None)
            .max_redirects(0)
            .max_redirects_will_error(false)
            // Below the idle timeout of the server, so that no closed connection is reused.
            .max_idle_age(Duration::from_secs(2))
            .max_idle_connections_per_host(64)
            .timeout_global(Some(Duration::from_secs(60)))
            .build();
        Self { agent: config.into(), address: address.to_owned() }
    }

    /// The base address of the contract.
    pub(crate) fn base(&self) -> String {
        format!("{}{PREFIX}", self.address)
    }

    /// A call of a path of the contract.
    pub(crate) fn call(&self, method: &str, path: &str) -> Call {
        self.outside(method, &format!("{PREFIX}{path}"))
    }

    /// A call of a path outside the base address.
    pub(crate) fn outside(&self, method: &str, path: &str) -> Call {
        Call {
            agent: self.agent.clone(),
            url: format!("{}{path}", self.address),
            request: format!("{method} {path}"),
            method: method.to_owned(),
            headers: Vec::new(),
            body: Vec::new(),
            chunked: false,
        }
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        self.call("POST", path).json(body).send()
    }
}

/// A call being built.
#[derive(Clone)]
pub(crate) struct Call {
    agent: Agent,
    request: String,
    method: String,
    url: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    chunked: bool,
}

impl Call {
    /// Sets a header, replacing any of the same name.
    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.retain(|(known, _)| known != name);
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Removes a header.
    pub(crate) fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(known, _)| known != name);
        self
    }

    pub(crate) fn bearer(self, token: &str) -> Self {
        self.header("authorization", &format!("Bearer {token}"))
    }

    pub(crate) fn key(self, key: &str) -> Self {
        self.header("idempotency-key", key)
    }

    pub(crate) fn json(self, body: &Value) -> Self {
        self.text(&body.to_string())
    }

    /// Sets a body sent as JSON, valid or not.
    pub(crate) fn text(self, body: &str) -> Self {
        self.bytes(body.as_bytes())
    }

    /// Sets a body sent as JSON, valid or not.
    pub(crate) fn bytes(mut self, body: &[u8]) -> Self {
        self.body = body.to_vec();
        self.header("content-type", "application/json")
    }

    /// Sends the body in chunks, without a length.
    pub(crate) fn chunked(mut self) -> Self {
        self.chunked = true;
        self
    }

    pub(crate) fn send(self) -> Answer {
        let request = self.described();
        self.try_send().unwrap_or_else(|error| panic!("{request}: {error}"))
    }

    /// Returns the answer, or the reason for its absence.
    pub(crate) fn try_send(self) -> Result<Answer, ureq::Error> {
        let described = self.described();
        let method: Method = self.method.parse().unwrap();
        let mut request = Request::builder().uri(&self.url).method(method.clone());
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let takes_body =
            [Method::POST, Method::PATCH, Method::PUT].contains(&method) || !self.body.is_empty();
        let mut response = if !takes_body {
            self.agent.run(request.body(())?)
        } else if self.chunked {
            let body = SendBody::from_owned_reader(std::io::Cursor::new(self.body));
            self.agent.run(request.body(body)?)
        } else {
            self.agent.run(request.body(self.body)?)
        }?;
        let headers = response.headers().clone();
        // A stream does not end.
        let is_stream = headers.get("content-type").is_some_and(|media| media == "text/event-stream");
        let body = if is_stream { Vec::new() } else { response.body_mut().read_to_vec()? };
        // Images are answers too.
        let text = String::from_utf8_lossy(&body).into_owned();
        Ok(Answer { request: described, status: response.status().as_u16(), headers, text })
    }

    fn described(&self) -> String {
        let body = String::from_utf8_lossy(&self.body);
        let body: String = body.chars().take(400).collect();
        format!("{} {body}", self.request)
    }
}
