//! Settings of the web server.

use std::time::Duration;

use serde::Deserialize;

use super::storage::Storage;
use super::urls::WebOrigin;
use super::values::{DAY, Seconds, TextList, TextValue, Whole};
use super::{ConfigError, DeploymentEnvironment};
use cuepoint_adapters::clock::ClockRate;
use cuepoint_adapters::networks::Networks;
use cuepoint_transport::web_server::ServerSettings;

/// The section `server`.
#[derive(Clone, Debug)]
pub struct Server {
    /// The IP address or host name to listen on.
    pub host: String,
    /// The port; 0 selects a free one.
    pub port: u16,
    /// The public origin of the service, without a trailing slash.
    pub public_url: Option<String>,
    /// The time in seconds for which browsers reach the host only over https; `None` sends no such header.
    pub hsts_seconds: Option<u32>,
    /// The proxies whose `X-Forwarded-For` is trusted.
    pub trusted_proxies: Networks,
    pub connections: ServerSettings,
    /// The time within which a request body must arrive.
    pub body_timeout: Duration,
    /// The rate of the clock of the service.
    pub clock_rate: ClockRate,
}

const TEN_YEARS: u32 = DAY.saturating_mul(3_650);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ServerSection {
    host: TextValue,
    port: Whole<u16, 0, 65_535>,
    /// The web server refuses more threads than this.
    workers: Option<Whole<usize, 1, 512>>,
    public_url: Option<TextValue<WebOrigin>>,
    hsts_seconds: Option<Seconds<0, TEN_YEARS>>,
    trusted_proxies: TextList<Networks>,
    max_connections: Whole<usize, 1, 1_000_000>,
    head_timeout_seconds: Seconds<1, 300>,
    body_timeout_seconds: Seconds<1, 300>,
    keep_alive_seconds: Seconds<1, 300>,
    clock_rate: Whole<ClockRate, 1, 3600>,
}

impl Server {
    /// Whether clients reach the service over https.
    #[must_use]
    pub fn is_encrypted(&self) -> bool {
        self.public_url.as_deref().is_some_and(|origin| origin.starts_with("https://"))
    }

    /// Refuses plain http in production, where a stolen session is stolen money. Without pages, the URL can be missing,
    /// because no link or cookie depends on it.
    ///
    /// # Errors
    /// [`ConfigError`].
    pub(super) fn check_public_url(
        &self,
        environment: DeploymentEnvironment,
        has_pages: bool,
    ) -> Result<(), ConfigError> {
        let reason = match &self.public_url {
            _ if environment != DeploymentEnvironment::Production || self.is_encrypted() => return Ok(()),
            None if !has_pages => return Ok(()),
            None => {
                "is required in production: set it to the https address that guests see, or pages.enabled to false"
            }
            Some(_) => {
                "must be https in production, because everybody in the network could read logins and cookies"
            }
        };
        Err(ConfigError::new("server.public_url", reason))
    }

    /// Refuses a clock that runs at another rate than real time, except where neither users nor stored data see it.
    ///
    /// # Errors
    /// [`ConfigError`].
    pub(super) fn check_clock_rate(
        &self,
        environment: DeploymentEnvironment,
        storage: &Storage,
    ) -> Result<(), ConfigError> {
        let is_demonstration =
            environment == DeploymentEnvironment::Test && matches!(storage, Storage::Memory);
        if self.clock_rate == ClockRate::MIN || is_demonstration {
            return Ok(());
        }
        let reason = "must be 1 unless CUEPOINT_ENV is test and storage.backend is memory";
        Err(ConfigError::new("server.clock_rate", reason))
    }
}

impl From<ServerSection> for Server {
    fn from(section: ServerSection) -> Self {
        Self {
            host: section.host.0,
            port: section.port.0,
            public_url: section.public_url.map(|TextValue(WebOrigin(origin))| origin),
            hsts_seconds: section.hsts_seconds.map(|seconds| seconds.0),
            trusted_proxies: section.trusted_proxies.0,
            connections: ServerSettings {
                workers: section.workers.map(|workers| workers.0),
                max_connections: section.max_connections.0,
                head_timeout: section.head_timeout_seconds.to_std(),
                keep_alive: section.keep_alive_seconds.to_std(),
            },
            body_timeout: section.body_timeout_seconds.to_std(),
            clock_rate: section.clock_rate.0,
        }
    }
}
