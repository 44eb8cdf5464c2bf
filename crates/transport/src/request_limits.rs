//! The rate limits of one request: what it counts against, and what is given back.

use actix_web::{HttpMessage as _, HttpRequest};
use cuepoint_adapters::security::password_queue::PasswordQueue;
use cuepoint_domain::application::queries::BoardQueries;
use cuepoint_domain::application::{CommandError, Failure, SignIns};
use cuepoint_domain::authorization::Principal;
use cuepoint_domain::gig::DjCode;
use cuepoint_domain::ids::SessionId;
use cuepoint_domain::network::ClientNetwork;
use cuepoint_domain::ports::{HashingError, Unavailable};
use cuepoint_domain::text::Email;
use thiserror::Error;

use crate::client_address::client_address;
use crate::rate_limits::{Admitted, Class, LoginAttempt, LoginLimitRefusal, Quota, RateLimits};

/// The limits, for one request.
#[derive(Clone, Copy)]
pub struct RequestLimits<'r> {
    limits: &'r RateLimits,
    request: &'r HttpRequest,
}

/// Why a password is not checked.
#[derive(Debug, Error)]
pub enum AttemptRefusal {
    /// Too many failed logins.
    #[error("too many failed logins")]
    Quota(Quota),
    /// Too many passwords are waiting to be hashed, or the queue is closed.
    #[error(transparent)]
    Queue(#[from] HashingError),
    /// The store cannot be read.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
}

/// Why nothing is found under a code.
#[derive(Debug)]
pub enum CodeRefusal<E> {
    /// Too many unknown codes from this client.
    Quota(Quota),
    /// It is unknown.
    Unknown,
    /// The work failed.
    Failed(E),
}

impl<'r> RequestLimits<'r> {
    /// The limits for this request.
    #[must_use]
    pub const fn new(limits: &'r RateLimits, request: &'r HttpRequest) -> Self {
        Self { limits, request }
    }

    fn network(self) -> Option<ClientNetwork> {
        client_address(self.request).address.map(ClientNetwork::of)
    }

    /// Keeps the admission of the request, for the headers of its response and for [`Self::refund`].
    fn keep(self, admitted: Result<Option<Admitted>, Quota>) -> Result<(), Quota> {
        if let Some(admitted) = admitted? {
            self.request.extensions_mut().insert(admitted);
        }
        Ok(())
    }

    /// The kept admission of the request.
    #[must_use]
    pub fn admitted(self) -> Option<Admitted> {
        self.request.extensions().get::<Admitted>().copied()
    }

    /// Counts the request for its client's network.
    ///
    /// # Errors
    /// The exhausted quota.
    pub fn count(self, class: Class) -> Result<(), Quota> {
        self.keep(self.limits.admit_network(class, self.network()))
    }

    /// Counts the request for its principal.
    ///
    /// # Errors
    /// As [`Self::count`].
    pub fn count_principal(self, class: Class, principal: &Principal) -> Result<(), Quota> {
        self.keep(self.limits.admit_principal(class, principal))
    }

    /// Counts a request with genuine credentials that are not accepted, for their session.
    ///
    /// # Errors
    /// As [`Self::count`].
    pub fn count_session(self, session: SessionId) -> Result<(), Quota> {
        self.keep(self.limits.admit_session(session))
    }

    /// Counts the exchange of a refresh token of this session, or of an unknown token.
    ///
    /// # Errors
    /// As [`Self::count`].
    pub fn count_refresh(self, session: Option<SessionId>) -> Result<(), Quota> {
        self.keep(self.limits.admit_refresh(session, self.network()))
    }

    /// Counts the look-up of a credential that is not in memory.
    ///
    /// # Errors
    /// As [`Self::count`].
    pub fn count_look_up(self) -> Result<(), Quota> {
        self.limits.admit_network(Class::RefreshLookups, self.network()).map(drop)
    }

    /// Counts a request that was not accepted in another class, if only accepted ones count in its own.
    pub fn count_as_not_accepted(self) {
        if let Some(admitted) = self.admitted() {
            self.request.extensions_mut().insert(self.limits.count_as_other(admitted));
        }
    }

    /// Gives the count of the request back.
    pub fn refund(self) {
        let admitted = self.request.extensions_mut().remove::<Admitted>();
        if let Some(admitted) = admitted {
            self.limits.refund(admitted);
        }
    }

    /// Counts the request for its client's network instead. If that quota is exhausted, the first count stays.
    ///
    /// # Errors
    /// As [`Self::count`].
    pub fn count_for_network_instead(self, class: Class) -> Result<(), Quota> {
        let before = self.admitted();
        self.count(class)?;
        self.give_back(before);
        Ok(())
    }

    /// Counts a new music request of a guest account for the client's network too: further accounts cost nothing.
    ///
    /// # Errors
    /// As [`Self::count`].
    pub fn count_guest_request(self, principal: &Principal) -> Result<Option<Admitted>, Quota> {
        if !principal.is_guest_account() {
            return Ok(None);
        }
        self.limits.admit_network(Class::GuestRequests, self.network())
    }

    /// Gives back what was counted beside the request.
    pub fn give_back(self, counted: Option<Admitted>) {
        counted.into_iter().for_each(|admitted| self.limits.refund(admitted));
    }

    /// Counts a login with this address as failed, whether or not a user has the address. A successful login is
    /// refunded by [`Self::conclude`]. From a recognised network of the user, failures elsewhere do not count.
    ///
    /// # Errors
    /// [`AttemptRefusal`].
    pub async fn admit_login(
        self,
        queue: &PasswordQueue,
        sign_ins: &SignIns,
        email: &str,
    ) -> Result<LoginAttempt, AttemptRefusal> {
        self.ensure_hashable(queue)?;
        let (name, network) = (folded(email), self.network());
        match self.limits.try_login(&name, network) {
            Ok(attempt) => Ok(attempt),
            Err(LoginLimitRefusal::Network(quota)) => Err(self.refused_for_network(quota)),
            Err(LoginLimitRefusal::Email(quota, attempt)) => {
                let known = sign_ins.knows_network(&name, network).await;
                if matches!(known, Ok(true)) {
                    return Ok(*attempt);
                }
                self.limits.give_back(*attempt);
                known?;
                Err(AttemptRefusal::Quota(quota))
            }
        }
    }

    /// Counts a registration or a claim with this address as a failed login until the address is found free. Failures
    /// from other networks do not count, so that strangers cannot block a registration.
    ///
    /// # Errors
    /// [`AttemptRefusal`].
    pub fn admit_registration(
        self,
        queue: &PasswordQueue,
        email: &Email,
    ) -> Result<LoginAttempt, AttemptRefusal> {
        self.ensure_hashable(queue)?;
        match self.limits.try_login(&email.folded(), self.network()) {
            Ok(attempt) => Ok(attempt),
            Err(LoginLimitRefusal::Email(_, attempt)) => Ok(*attempt),
            Err(LoginLimitRefusal::Network(quota)) => Err(self.refused_for_network(quota)),
        }
    }

    /// Ends the request if its password could not even wait to be hashed. Nothing was read yet, so it does not
    /// count.
    fn ensure_hashable(self, queue: &PasswordQueue) -> Result<(), AttemptRefusal> {
        queue.ensure_room(self.network()).map_err(|error| {
            self.refund();
            error.into()
        })
    }

    /// The refusal of a login for which nothing was read, so that it does not count.
    fn refused_for_network(self, quota: Quota) -> AttemptRefusal {
        self.refund();
        AttemptRefusal::Quota(quota)
    }

    /// Refunds a login, a registration or a claim, unless its refusal counts as a guess, and gives the count of
    /// the request back if its password could not even wait to be hashed.
    pub fn conclude<T, R>(
        self,
        attempt: LoginAttempt,
        outcome: &Result<T, CommandError<R>>,
        is_guess: impl FnOnce(&R) -> bool,
    ) {
        let failed = match outcome {
            Err(CommandError::Refused(refusal)) => is_guess(refusal),
            _ => false,
        };
        if !failed {
            self.limits.give_back(attempt);
        }
        self.refund_unhashed(outcome);
    }

    /// Gives the count of the request back if its password could not even wait to be hashed.
    pub fn refund_unhashed<T, R>(self, outcome: &Result<T, CommandError<R>>) {
        if is_unhashed(outcome) {
            self.refund();
        }
    }

    /// Does work with a password that the principal presents, which counts as an attempt to guess it unless it could
    /// not even wait to be hashed.
    ///
    /// # Errors
    /// The exhausted quota. The result of the work is inside.
    pub async fn with_password<T, R>(
        self,
        principal: &Principal,
        work: impl Future<Output = Result<T, CommandError<R>>>,
    ) -> Result<Result<T, CommandError<R>>, Quota> {
        let admitted = self.limits.admit_principal(Class::Guess, principal)?;
        // On the heap, since the futures around it are moved several times.
        let outcome = Box::pin(work).await;
        if let Some(admitted) = admitted.filter(|_| is_unhashed(&outcome)) {
            self.limits.refund(admitted);
            self.refund();
        }
        Ok(outcome)
    }

    /// What is found under a code. Unknown and replaced codes count for the caller, so that they cannot be tried without
    /// limit: for the client's network without a principal, and for guest accounts, which cost nothing. Codes of recent
    /// gigs do not count, because a client could lock the guests of a venue out otherwise.
    ///
    /// # Errors
    /// [`CodeRefusal`].
    pub async fn look_up_code<T, E>(
        self,
        boards: &BoardQueries,
        code: &str,
        principal: Option<&Principal>,
        find: impl AsyncFnOnce(DjCode) -> Result<T, E>,
        is_unknown: impl Fn(&E) -> bool,
    ) -> Result<T, CodeRefusal<E>>
    where
        E: From<Failure>,
    {
        let code = DjCode::new(code);
        if let Some(code) = code
            && boards.is_well_known(code).await.map_err(|failure| CodeRefusal::Failed(failure.into()))?
        {
            return find(code).await.map_err(CodeRefusal::Failed);
        }
        let admitted = match principal {
            Some(member) if !member.is_guest_account() => {
                self.limits.admit_principal(Class::UnknownCodes, member)
            }
            _ => self.limits.admit_network(Class::UnknownCodes, self.network()),
        };
        let admitted = admitted.map_err(CodeRefusal::Quota)?;
        let found = find(code.ok_or(CodeRefusal::Unknown)?).await;
        if let Some(admitted) = admitted.filter(|_| !found.as_ref().is_err_and(is_unknown)) {
            self.limits.refund(admitted);
        }
        found.map_err(CodeRefusal::Failed)
    }
}

/// Whether a password could not even wait to be hashed.
const fn is_unhashed<T, R>(outcome: &Result<T, CommandError<R>>) -> bool {
    matches!(outcome, Err(CommandError::Failed(Failure::TooManyPasswords(_))))
}

/// The case-folded e-mail address by which logins are compared, valid or not.
fn folded(email: &str) -> String {
    Email::new(email).map_or_else(|_| email.to_lowercase(), |email| email.folded())
}
