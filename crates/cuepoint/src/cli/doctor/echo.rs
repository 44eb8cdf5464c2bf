//! Asks a server what it sees of a request.

use std::path::Path;

use cuepoint_adapters::diagnosis::echo::{self, Echo, EchoRequest};
use cuepoint_adapters::security::echo_nonces::EchoNonces;
use cuepoint_adapters::security::random::RandomSecrets;
use cuepoint_domain::timestamp::Timestamp;
use url::Url;

use crate::composition;
use crate::config::{KeySource, Settings};
use cuepoint_adapters::clock::SystemClock;

/// A client of servers that have the same signing keys.
pub(super) struct EchoClient {
    nonce: String,
}

impl EchoClient {
    /// A client with the configured keys; `None` if there are none, so that no server can know it.
    pub(super) fn new(settings: &Settings, now: Timestamp) -> Option<Self> {
        let file = settings.auth.signing_keys.as_ref().and_then(KeySource::file);
        if !file.is_none_or(Path::is_file) {
            return None;
        }
        let keys = composition::existing_signing_keys(settings, &SystemClock).ok()?;
        let nonce = EchoNonces::new(keys).issue(RandomSecrets::new().ok()?, now).ok()?;
        Some(Self { nonce })
    }

    /// Asks the server at a URL; see [`echo::ask`].
    pub(super) async fn ask(&self, origin: &Url, request: EchoRequest) -> anyhow::Result<Option<Echo>> {
        echo::ask(origin, &self.nonce, request).await
    }
}
