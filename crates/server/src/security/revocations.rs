//! What overrules access tokens, as it was read a moment ago: no request waits for a database to be recognised.

use std::sync::{Arc, PoisonError, RwLock};

use cuepoint_domain::access::{Caller, Revoked, Turned};
use cuepoint_domain::ports::{Sessions, Unavailable};
use cuepoint_domain::timestamp::Timestamp;
use time::Duration;
use tokio::sync::Mutex;

use super::tokens::LEEWAY;

/// How often it is read: nobody who was shut out gets further for longer than this, give or take the read itself.
pub const INTERVAL: std::time::Duration = std::time::Duration::from_secs(2);

/// What happened within the life of an access token.
#[derive(Debug)]
pub struct Revocations {
    reach: Duration,
    reading: Mutex<()>,
    read: RwLock<Arc<Revoked>>,
}

impl Revocations {
    /// Nothing yet; tokens are valid for this long.
    #[must_use]
    pub fn new(tokens_valid_for: Duration) -> Self {
        // The clocks of two servers may be apart, where the token was issued and where the session ended.
        let reach = tokens_valid_for.saturating_add(LEEWAY).saturating_add(LEEWAY);
        Self { reach, reading: Mutex::default(), read: RwLock::default() }
    }

    /// Reads it again: what was kept before this is called is known after it. A read that fails leaves what was known.
    ///
    /// # Errors
    /// [`Unavailable`].
    pub async fn refresh(
        &self,
        sessions: &(impl Sessions + ?Sized),
        now: Timestamp,
    ) -> Result<(), Unavailable> {
        // One at a time, so that no read that began earlier takes away what a later one found.
        let _turn = self.reading.lock().await;
        let revoked = Arc::new(sessions.revoked_since(now.minus(self.reach)).await?);
        *self.read.write().unwrap_or_else(PoisonError::into_inner) = revoked;
        Ok(())
    }

    /// The caller that a valid token names, as they stand now.
    ///
    /// # Errors
    /// [`Turned`].
    pub fn judge(&self, caller: Caller) -> Result<Caller, Turned> {
        let revoked = Arc::clone(&self.read.read().unwrap_or_else(PoisonError::into_inner));
        revoked.judge(caller)
    }
}
