//! Asks a server what it sees of a request.

use cuepoint_adapters::diagnosis::echo::{self, Echo, EchoRequest};
use cuepoint_adapters::security::echo_nonces::EchoNonces;
use cuepoint_adapters::security::keys::KeysInForce;
use cuepoint_adapters::security::random::RandomSecrets;
use cuepoint_domain::timestamp::Timestamp;
use url::Url;

/// A client of servers that have the same signing keys.
pub(super) struct EchoClient {
    nonce: String,
}

impl EchoClient {
    /// A client with these signing keys; `None` if none of them signs now.
    pub(super) fn new(keys: KeysInForce, now: Timestamp) -> Option<Self> {
        let nonce = EchoNonces::new(keys).issue(RandomSecrets::new().ok()?, now).ok()?;
        Some(Self { nonce })
    }

    /// Asks the server at a URL; see [`echo::ask`].
    pub(super) async fn ask(&self, origin: &Url, request: EchoRequest) -> anyhow::Result<Option<Echo>> {
        echo::ask(origin, &self.nonce, request).await
    }
}
