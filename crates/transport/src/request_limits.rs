//! The rate limits of one request: what it counts against, and what is given back.

use std::sync::Arc;

use actix_web::{HttpMessage as _, HttpRequest};
use cuepoint_adapters::security::password_queue::{PasswordQueue, StrangerAdmission};
use cuepoint_domain::application::queries::{BoardQueries, ProfileQueries};
use cuepoint_domain::application::{CommandError, Failure, SignIns};
use cuepoint_domain::authorization::Principal;
use cuepoint_domain::gig::DjCode;
use cuepoint_domain::ids::{SessionId, UserId};
use cuepoint_domain::network::ClientNetwork;
use cuepoint_domain::ports::{HashingError, Unavailable};
use cuepoint_domain::text::Email;
use cuepoint_domain::user::guest_account::GuestTrust;
use thiserror::Error;

use crate::client_address::client_address;
use crate::rate_limits::{Admitted, Class, KnownClient, LoginAttempt, LoginLimitRefusal, Quota, RateLimits};

/// The limits, for one request.
#[derive(Clone, Copy)]
pub struct RequestLimits<'r> {
    limits: &'r RateLimits,
    request: &'r HttpRequest,
}

/// Why an attempt is refused: a login, a claim or a new request.
#[derive(Debug, Error)]
pub enum AttemptRefusal {
    /// Too many failed logins, or too many requests.
    #[error("too many failed logins or requests")]
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

    /// Counts the request in another way. If that quota is exhausted, the first count stays.
    fn count_instead(self, admitted: Result<Option<Admitted>, Quota>) -> Result<(), Quota> {
        let before = self.admitted();
        self.keep(admitted)?;
        self.give_back(before);
        Ok(())
    }

    /// Counts the request for its client's network instead. If that quota is exhausted, the first count stays.
    ///
    /// # Errors
    /// As [`Self::count`].
    pub fn count_for_network_instead(self, class: Class) -> Result<(), Quota> {
        self.count_instead(self.limits.admit_network(class, self.network()))
    }

    /// Counts the request as the creation of a guest account by a page of this DJ instead. It counts for the DJ and the
    /// client's network together, so that one client uses up neither the first requests of other gigs nor those of other
    /// networks. It also counts for the network alone, because anybody can open gigs.
    ///
    /// # Errors
    /// As [`Self::count`].
    pub fn count_guest_of_page_instead(self, dj: UserId) -> Result<(), Quota> {
        let at_dj = self.limits.admit_at_dj(Class::GuestsOfPages, dj, self.network())?;
        if let Err(quota) = self.limits.admit_network(Class::GuestsOfPages, self.network()) {
            self.give_back(at_dj);
            return Err(quota);
        }
        self.count_instead(Ok(at_dj))
    }

    /// Counts a new music request of a guest account for its DJ and the client's network too, because guest accounts cost
    /// nothing. Once the quota is used up, accounts with a payment are exempt, and old accounts have a separate count.
    ///
    /// # Errors
    /// [`AttemptRefusal::Quota`] or [`AttemptRefusal::Unavailable`].
    pub async fn count_guest_request(
        self,
        profiles: &ProfileQueries,
        principal: &Principal,
        dj: UserId,
    ) -> Result<Option<Admitted>, AttemptRefusal> {
        if !principal.is_guest_account() {
            return Ok(None);
        }
        let counted =
            |class| self.limits.admit_at_dj(class, dj, self.network()).map_err(AttemptRefusal::Quota);
        let refusal = match counted(Class::GuestRequests) {
            Err(refusal) => refusal,
            admitted => return admitted,
        };
        match profiles.guest_trust(principal).await? {
            GuestTrust::Paid => Ok(None),
            GuestTrust::Old => counted(Class::OldGuestRequests),
            GuestTrust::New => Err(refusal),
        }
    }

    /// Whether [`Self::count_guest_request`] would count a request of a guest account that does not exist yet.
    ///
    /// # Errors
    /// As [`Self::count`].
    pub fn ensure_guest_request(self, dj: UserId) -> Result<(), Quota> {
        self.limits
            .admit_at_dj(Class::GuestRequests, dj, self.network())
            .map(|counted| self.give_back(counted))
    }

    /// Gives back what was counted beside the request.
    pub fn give_back(self, counted: Option<Admitted>) {
        counted.into_iter().for_each(|admitted| self.limits.refund(admitted));
    }

    /// Counts a login with this address as failed, whether or not a user has the address. A successful login is
    /// refunded by [`Self::conclude`]. In a known `browser`, in which this session of the account began, only the failures
    /// of that browser count. A known network of the account is exempt from the count of failures elsewhere and from the
    /// limits of the address.
    ///
    /// # Errors
    /// [`AttemptRefusal`].
    pub async fn admit_login(
        self,
        queue: &Arc<PasswordQueue>,
        sign_ins: &SignIns,
        email: &str,
        browser: Option<(UserId, SessionId)>,
    ) -> Result<LoginAttempt, AttemptRefusal> {
        if let Some((user, session)) = browser {
            let attempt = self.limits.try_login_of_browser(session).map_err(AttemptRefusal::Quota)?;
            return self.admit_known(queue, KnownClient::Browser(user), attempt);
        }
        let name = folded(email);
        let (attempt, refusal) = match self.limits.try_login(&name, self.network()) {
            Ok(attempt) => match self.admit_stranger(queue, Class::Login) {
                Ok(admission) => return Ok(attempt.of_stranger(admission)),
                Err(refusal) => (attempt, refusal),
            },
            Err(LoginLimitRefusal::Account(quota)) => return Err(AttemptRefusal::Quota(quota)),
            Err(LoginLimitRefusal::Network(quota, attempt) | LoginLimitRefusal::Email(quota, attempt)) => {
                (*attempt, AttemptRefusal::Quota(quota))
            }
        };
        match sign_ins.knows_network(&name, self.network()).await {
            Ok(true) => self.admit_known(queue, KnownClient::Network(&name), attempt),
            Ok(false) => {
                self.limits.give_back(attempt);
                Err(refusal)
            }
            Err(unavailable) => {
                self.limits.give_back(attempt);
                Err(unavailable.into())
            }
        }
    }

    /// Counts a registration with this address as a failed login until the address is found free. Failures from other
    /// networks do not count, so that strangers cannot block a registration.
    ///
    /// # Errors
    /// [`AttemptRefusal`].
    pub fn admit_registration(
        self,
        queue: &Arc<PasswordQueue>,
        email: &Email,
    ) -> Result<LoginAttempt, AttemptRefusal> {
        let attempt = match self.limits.try_login(&email.folded(), self.network()) {
            Ok(attempt) => attempt,
            Err(LoginLimitRefusal::Email(_, attempt)) => *attempt,
            Err(LoginLimitRefusal::Account(quota)) => return Err(AttemptRefusal::Quota(quota)),
            Err(LoginLimitRefusal::Network(quota, attempt)) => {
                self.limits.give_back(*attempt);
                return Err(AttemptRefusal::Quota(quota));
            }
        };
        match self.admit_stranger(queue, Class::Registrations) {
            Ok(admission) => Ok(attempt.of_stranger(admission)),
            Err(refusal) => {
                self.limits.give_back(attempt);
                Err(refusal)
            }
        }
    }

    /// Counts a claim with this address, as [`Self::admit_registration`]. The caller has an account, so that neither
    /// registrations nor failed logins of strangers stop it. An account without a payment costs nothing, so that its password
    /// waits among those of strangers.
    ///
    /// # Errors
    /// [`AttemptRefusal`].
    pub fn admit_claim(
        self,
        queue: &Arc<PasswordQueue>,
        email: &Email,
        trust: GuestTrust,
    ) -> Result<LoginAttempt, AttemptRefusal> {
        let admission = if trust == GuestTrust::Paid {
            queue.ensure_room(self.network())?;
            None
        } else {
            Some(queue.admit_stranger(self.network())?)
        };
        let attempt = match self.limits.try_login(&email.folded(), self.network()) {
            Err(LoginLimitRefusal::Account(quota)) => return Err(AttemptRefusal::Quota(quota)),
            Err(LoginLimitRefusal::Network(_, attempt) | LoginLimitRefusal::Email(_, attempt)) => *attempt,
            Ok(attempt) => attempt,
        };
        if let Err(quota) = self.count_for_network_instead(Class::Claims) {
            self.limits.give_back(attempt);
            return Err(AttemptRefusal::Quota(quota));
        }
        Ok(match admission {
            Some(admission) => attempt.of_stranger(admission),
            None => attempt,
        })
    }

    /// Admits a client that is not known to have an account to the queue, and then counts the request for its address. A
    /// refused request keeps its previous count.
    fn admit_stranger(
        self,
        queue: &Arc<PasswordQueue>,
        class: Class,
    ) -> Result<StrangerAdmission, AttemptRefusal> {
        let admission = queue.admit_stranger(self.network())?;
        self.count_for_network_instead(class).map_err(AttemptRefusal::Quota)?;
        Ok(admission)
    }

    /// Admits an attempt of a known client, who has a quota of their own and both halves of the queue.
    fn admit_known(
        self,
        queue: &PasswordQueue,
        known: KnownClient<'_>,
        attempt: LoginAttempt,
    ) -> Result<LoginAttempt, AttemptRefusal> {
        let admitted = queue.ensure_room(self.network()).map_err(AttemptRefusal::from).and_then(|()| {
            let counted = self.limits.admit_known(known, self.network());
            self.count_instead(counted).map_err(AttemptRefusal::Quota)
        });
        match admitted {
            Ok(()) => Ok(attempt),
            Err(refusal) => {
                self.limits.give_back(attempt);
                Err(refusal)
            }
        }
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
