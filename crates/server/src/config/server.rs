//! Listening.

use std::time::Duration;

use serde::Deserialize;

use super::urls::WebOrigin;
use super::values::{Seconds, Text, TextList, Whole};
use crate::http::transport::networks::Networks;

/// Where the service listens.
#[derive(Clone, Debug)]
pub struct Server {
    /// An address or name of this machine.
    pub host: String,
    /// The port; 0 takes a free one.
    pub port: u16,
    /// Threads that answer requests; `None` means one per core.
    pub workers: Option<usize>,
    /// The origin under which clients reach the service, without a slash at its end.
    pub public_url: Option<String>,
    /// The proxies whose word on where a call comes from is taken.
    pub trusted_proxies: Networks,
    /// The most connections of each thread.
    pub max_connections: usize,
    /// How long the head of a request may take to arrive.
    pub head_timeout: Duration,
    /// How long a connection may be silent between two requests.
    pub keep_alive: Duration,
    /// How long a body may take to arrive.
    pub body_timeout: Duration,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ServerSection {
    host: Text,
    port: Whole<u16, 0, 65_535>,
    /// The web server refuses more threads.
    workers: Option<Whole<usize, 1, 512>>,
    public_url: Option<Text<WebOrigin>>,
    trusted_proxies: TextList<Networks>,
    max_connections: Whole<usize, 1, 1_000_000>,
    head_timeout_seconds: Seconds<1, 300>,
    body_timeout_seconds: Seconds<1, 300>,
    keep_alive_seconds: Seconds<1, 300>,
}

impl From<ServerSection> for Server {
    fn from(section: ServerSection) -> Self {
        Self {
            host: section.host.0,
            port: section.port.0,
            workers: section.workers.map(|workers| workers.0),
            public_url: section.public_url.map(|Text(WebOrigin(origin))| origin),
            trusted_proxies: section.trusted_proxies.0,
            max_connections: section.max_connections.0,
            head_timeout: section.head_timeout_seconds.to_std(),
            keep_alive: section.keep_alive_seconds.to_std(),
            body_timeout: section.body_timeout_seconds.to_std(),
        }
    }
}
