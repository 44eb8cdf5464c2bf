//! The authentication ports, implemented by the revocation list, the clock and the access tokens of this
//! server.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use cuepoint_domain::authorization::Principal;
use cuepoint_domain::network::ClientNetwork;
use cuepoint_domain::ports::{
    AccessToken, AccessTokens, Clock as _, PrincipalCheck, PrincipalRefusal, ReadinessProbe, Revocations,
    SigningError, Store, Unavailable,
};
use cuepoint_domain::user::cookie_session::CookieSession;

use crate::clock::ServiceClock;
use crate::runtime::TokioTimer;
use crate::security::kept_credentials::{CredentialRefusal, KeptCookie, KeptCookies, KeptTokens, Known};
use crate::security::revocations::RevocationCache;
use crate::security::tokens::SignedTokens;

/// The time limit of a read of the revocation list after a change; requests wait for it until their deadline.
const REFRESH_WITHIN: Duration = Duration::from_secs(5);

/// The authentication state of this server.
#[derive(Clone)]
pub struct Authentication {
    /// The access tokens.
    pub tokens: Arc<SignedTokens>,
    /// The personal access tokens that this server has read.
    pub personal_tokens: Arc<KeptTokens>,
    /// The sessions of browsers that this server has read.
    pub cookies: Arc<KeptCookies>,
    /// The revocation list.
    pub revocations: Arc<RevocationCache>,
    pub clock: Arc<ServiceClock>,
    /// The timer of deadlines.
    pub timer: TokioTimer,
    /// The store from which the revocation list, personal access tokens and cookies are read.
    pub store: Arc<dyn Store>,
}

impl Authentication {
    /// Returns what is known of a cookie without reading the store.
    #[must_use]
    pub fn known_cookie(&self, cookie: &str) -> Known<CookieSession> {
        self.cookies.known(cookie, &self.revocations, self.clock.now())
    }

    /// Returns whether no session had this cookie when it was read a short time ago.
    #[must_use]
    pub fn has_no_session(&self, cookie: &str) -> bool {
        self.cookies.has_no_session(cookie, self.revocations.epoch(), self.clock.now())
    }

    /// Reads the session of a cookie that is outdated or unknown. The client's network becomes a known one of its owner.
    ///
    /// # Errors
    /// [`CredentialRefusal::Unknown`] and [`CredentialRefusal::Unavailable`].
    pub async fn read_cookie(
        &self,
        cookie: &str,
        network: Option<ClientNetwork>,
    ) -> Result<KeptCookie, CredentialRefusal> {
        let (epoch, now) = (self.revocations.epoch(), self.clock.now());
        self.cookies.read(&*self.store, cookie, network, epoch, now).await
    }

    /// Returns the current principal of a cookie; its session is valid until [`KeptCookie::expires_at`].
    ///
    /// # Errors
    /// [`CredentialRefusal::Expired`] and [`CredentialRefusal::Revoked`].
    pub fn principal_of(&self, kept: &KeptCookie) -> Result<Principal, CredentialRefusal> {
        kept.principal(&self.revocations, self.clock.now())
    }

    /// Reads the revocation list again, and repeats a failed read within a time limit; logs the last failure.
    pub async fn refresh_within(&self, limit: Duration) {
        let read = self.revocations.refresh_within(limit, &*self.store, &self.clock).await;
        if let Err(error) = read {
            tracing::warn!(%error, "the revocation list was not refreshed");
        }
    }
}

impl PrincipalCheck for Authentication {
    fn current(&self, principal: Principal) -> Result<Principal, PrincipalRefusal> {
        let principal = self.revocations.check(principal)?;
        let unreliable = |cause| PrincipalRefusal::Unreliable(Unavailable(cause));
        self.revocations.ensure_current().map_err(|error| unreliable(error.into()))?;
        self.clock.ensure_agreed().map_err(|error| unreliable(error.into()))?;
        Ok(principal)
    }
}

#[async_trait]
impl Revocations for Authentication {
    async fn refresh(&self) {
        self.refresh_within(REFRESH_WITHIN).await;
    }
}

impl AccessTokens for Authentication {
    fn issue(&self, principal: &Principal) -> Result<AccessToken, SigningError> {
        let issued = self.tokens.issue(principal, self.revocations.epoch(), self.clock.now());
        issued.map_err(|error| SigningError(error.into()))
    }
}

impl ReadinessProbe for ServiceClock {
    fn name(&self) -> &'static str {
        "clock"
    }

    fn ready(&self) -> Result<(), Unavailable> {
        self.ensure_agreed().map_err(Unavailable::new)
    }
}

impl ReadinessProbe for RevocationCache {
    fn name(&self) -> &'static str {
        "revocations"
    }

    fn ready(&self) -> Result<(), Unavailable> {
        if self.can_be_read() { Ok(()) } else { Err(Unavailable::new("the revocation list cannot be read")) }
    }
}
