//! Rate limits: each class of routes has a quota per minute or hour for each principal, client address or e-mail
//! address.
//!
//! Counts are local to this process and end with it.

mod counts;
mod failed_logins;
mod quota;
mod subject;

use std::fmt;
use std::num::NonZeroU32;
use std::time::{Duration, Instant};

use cuepoint_domain::authorization::Principal;
use cuepoint_domain::ids::{SessionId, UserId};
use cuepoint_domain::network::ClientNetwork;

use counts::{Counts, Shares, Taken};
use failed_logins::FailedLogins;
pub use failed_logins::{LoginAttempt, LoginLimitRefusal};
pub use quota::{Quota, RateLimitStatus};
use subject::RateLimitSubject;

/// Routes with a shared quota.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    Login,
    Registrations,
    /// Claims of guest accounts, with the quota of [`Class::Registrations`], but a count of their own.
    Claims,
    /// New guest accounts of the API.
    Guests,
    /// New guest accounts of pages, counted for the DJ of the gig and the client address together. They have the quota of
    /// [`Class::Guests`], but a count of their own.
    GuestsOfPages,
    /// New music requests of guest accounts, which also count for their DJ and the client address together.
    GuestRequests,
    /// New music requests of old guest accounts, once [`Class::GuestRequests`] is used up. They have its quota, but a count
    /// of their own.
    OldGuestRequests,
    /// Reads without a token.
    Public,
    /// All other routes that could be used to guess a password or code, that end all sessions, or that read a
    /// large amount of data. Calls with a token are counted by session and by user.
    Guess,
    /// Exchanges of refresh tokens.
    Refreshes,
    /// Look-ups of refresh tokens, which precede each exchange. They have the quota of [`Class::Public`], but a count
    /// of their own.
    RefreshLookups,
    /// New music requests.
    Requests,
    /// New withdrawals.
    Withdrawals,
    /// Creations, tests and replays of webhook endpoints.
    Webhooks,
    /// Changes, removals and rotations of webhook endpoints, counted by session and by user.
    WebhookChanges,
    /// New gigs.
    Gigs,
    /// Boards of gigs.
    Boards,
    /// Searches for gigs near a location.
    Nearby,
    /// Pages that a user reads in a browser.
    Pages,
    /// Unknown or replaced codes of boards.
    UnknownCodes,
    /// All others.
    Other,
}

impl Class {
    /// The configuration key of the quota.
    #[must_use]
    pub const fn resource(self) -> &'static str {
        match self {
            Self::Login => "login_per_minute",
            Self::Registrations | Self::Claims => "registrations_per_minute",
            Self::Guests | Self::GuestsOfPages => "guests_per_minute",
            Self::GuestRequests | Self::OldGuestRequests => "guest_requests_per_minute",
            Self::Public | Self::RefreshLookups => "public_per_minute",
            Self::Guess => "guess_per_minute",
            Self::Refreshes => "refreshes_per_minute",
            Self::Requests => "requests_per_minute",
            Self::Withdrawals => "withdrawals_per_minute",
            Self::Webhooks => "webhooks_per_hour",
            Self::WebhookChanges => "webhook_changes_per_hour",
            Self::Gigs => "gigs_per_hour",
            Self::Boards => "boards_per_minute",
            Self::Nearby => "nearby_per_minute",
            Self::Pages => "pages_per_minute",
            Self::UnknownCodes => "unknown_codes_per_minute",
            Self::Other => "default_per_minute",
        }
    }

    /// Whether a request without a token counts here only once its fields are valid. Until then, it counts as a read, so
    /// that invalid input uses up no scarce quota.
    #[must_use]
    pub const fn counts_valid_calls_only(self) -> bool {
        matches!(
            self,
            Self::Login | Self::Registrations | Self::Claims | Self::Guests | Self::Guess | Self::Nearby
        )
    }

    /// The factor from the quota of a user to the quota of an address. A venue can be behind one address, with 300 guests
    /// and a hostile phone that sends 60 requests a minute.
    const fn times_of_address(self) -> NonZeroU32 {
        match self {
            Self::Guess => NonZeroU32::MIN.saturating_add(99),
            Self::Refreshes | Self::UnknownCodes | Self::Other | Self::GuestsOfPages => {
                NonZeroU32::MIN.saturating_add(9)
            }
            _ => NonZeroU32::MIN,
        }
    }

    /// Whether only accepted calls count. Invalid and repeated ones count as [`Class::Other`].
    #[must_use]
    pub const fn counts_accepted_calls_only(self) -> bool {
        matches!(self, Self::Requests | Self::Withdrawals | Self::Gigs)
    }
}

/// Admitted calls of one subject, per minute unless stated otherwise; all of them may arrive together. An address has
/// a multiple of the quotas of users, and the site of an IPv6 address has
/// [`ClientSite::QUOTA`](cuepoint_domain::network::ClientSite::QUOTA) times its quota.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Quotas {
    /// Quota of [`Class::Login`].
    pub login: NonZeroU32,
    /// Quota of [`Class::Registrations`].
    pub registrations: NonZeroU32,
    /// Quota of [`Class::Guests`].
    pub guests: NonZeroU32,
    /// Quota of [`Class::GuestRequests`].
    pub guest_requests: NonZeroU32,
    /// Quota of [`Class::Public`].
    pub public: NonZeroU32,
    /// Quota of [`Class::Guess`], per session for calls with a token.
    pub guess: NonZeroU32,
    /// Quota of [`Class::Refreshes`], per session, and per address for unknown tokens.
    pub refreshes: NonZeroU32,
    /// Quota of [`Class::Requests`].
    pub requests: NonZeroU32,
    /// Quota of [`Class::Withdrawals`].
    pub withdrawals: NonZeroU32,
    /// Quota of [`Class::Webhooks`], per hour.
    pub webhooks_per_hour: NonZeroU32,
    /// Quota of [`Class::WebhookChanges`], per hour and session.
    pub webhook_changes_per_hour: NonZeroU32,
    /// Quota of [`Class::Gigs`], per hour.
    pub gigs_per_hour: NonZeroU32,
    /// Quota of [`Class::Boards`].
    pub boards: NonZeroU32,
    /// Quota of [`Class::Nearby`].
    pub nearby: NonZeroU32,
    /// Quota of [`Class::Pages`].
    pub pages: NonZeroU32,
    /// Quota of [`Class::UnknownCodes`].
    pub unknown_codes: NonZeroU32,
    /// Quota of [`Class::Other`].
    pub other: NonZeroU32,
    /// Failed logins with one e-mail address from one network.
    pub failed_logins: NonZeroU32,
    /// Failed logins with all e-mail addresses from one network.
    pub failed_logins_per_address: NonZeroU32,
    /// Failed logins with one e-mail address from all networks, per hour.
    pub failed_logins_per_hour: NonZeroU32,
    /// Passwords from one network that wait to be hashed at the same time.
    pub waiting_passwords: NonZeroU32,
}

/// What shows that a client belongs to an account.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KnownClient<'a> {
    /// A session of this account began in the browser.
    Browser(UserId),
    /// Sessions of the account with this folded e-mail address began in the network.
    Network(&'a str),
}

/// An admitted call.
#[derive(Clone, Copy, Debug)]
pub struct Admitted {
    /// The quota after the call.
    pub status: RateLimitStatus,
    class: Class,
    shares: Shares,
    taken: Taken,
}

/// The time since the start of this process, or a time that a test sets.
type Clock = Box<dyn Fn() -> Duration + Send + Sync>;

/// The counts of all subjects.
pub struct RateLimits {
    clock: Clock,
    /// `None` admits every call.
    classes: Option<Box<Classes>>,
}

struct Classes {
    login: Counts,
    registrations: Counts,
    claims: Counts,
    guests: Counts,
    guests_of_pages: Counts,
    guest_requests: Counts,
    old_guest_requests: Counts,
    public: Counts,
    guess: Counts,
    refreshes: Counts,
    refresh_lookups: Counts,
    requests: Counts,
    withdrawals: Counts,
    webhooks: Counts,
    webhook_changes: Counts,
    gigs: Counts,
    boards: Counts,
    nearby: Counts,
    pages: Counts,
    unknown_codes: Counts,
    other: Counts,
    failed_logins: FailedLogins,
}

impl Classes {
    fn new(quotas: &Quotas) -> Self {
        let minute = |class: Class, calls| Counts::per_minute(class.resource(), calls);
        let hour = |class: Class, calls| Counts::per_hour(class.resource(), calls);
        Self {
            login: minute(Class::Login, quotas.login),
            registrations: minute(Class::Registrations, quotas.registrations),
            claims: minute(Class::Claims, quotas.registrations),
            guests: minute(Class::Guests, quotas.guests),
            guests_of_pages: minute(Class::GuestsOfPages, quotas.guests),
            guest_requests: minute(Class::GuestRequests, quotas.guest_requests),
            old_guest_requests: minute(Class::OldGuestRequests, quotas.guest_requests),
            public: minute(Class::Public, quotas.public),
            guess: minute(Class::Guess, quotas.guess),
            refreshes: minute(Class::Refreshes, quotas.refreshes),
            refresh_lookups: minute(Class::RefreshLookups, quotas.public),
            requests: minute(Class::Requests, quotas.requests),
            withdrawals: minute(Class::Withdrawals, quotas.withdrawals),
            webhooks: hour(Class::Webhooks, quotas.webhooks_per_hour),
            webhook_changes: hour(Class::WebhookChanges, quotas.webhook_changes_per_hour),
            gigs: hour(Class::Gigs, quotas.gigs_per_hour),
            boards: minute(Class::Boards, quotas.boards),
            nearby: minute(Class::Nearby, quotas.nearby),
            pages: minute(Class::Pages, quotas.pages),
            unknown_codes: minute(Class::UnknownCodes, quotas.unknown_codes),
            other: minute(Class::Other, quotas.other),
            failed_logins: FailedLogins::new(quotas),
        }
    }

    const fn counts(&self, class: Class) -> &Counts {
        match class {
            Class::Login => &self.login,
            Class::Registrations => &self.registrations,
            Class::Claims => &self.claims,
            Class::Guests => &self.guests,
            Class::GuestsOfPages => &self.guests_of_pages,
            Class::GuestRequests => &self.guest_requests,
            Class::OldGuestRequests => &self.old_guest_requests,
            Class::Public => &self.public,
            Class::Guess => &self.guess,
            Class::Refreshes => &self.refreshes,
            Class::RefreshLookups => &self.refresh_lookups,
            Class::Requests => &self.requests,
            Class::Withdrawals => &self.withdrawals,
            Class::Webhooks => &self.webhooks,
            Class::WebhookChanges => &self.webhook_changes,
            Class::Gigs => &self.gigs,
            Class::Boards => &self.boards,
            Class::Nearby => &self.nearby,
            Class::Pages => &self.pages,
            Class::UnknownCodes => &self.unknown_codes,
            Class::Other => &self.other,
        }
    }
}

impl RateLimits {
    /// The limits with these quotas; without quotas, every call is admitted.
    #[must_use]
    pub fn new(quotas: Option<Quotas>) -> Self {
        let start = Instant::now();
        Self::with_clock(quotas, Box::new(move || start.elapsed()))
    }

    fn with_clock(quotas: Option<Quotas>, clock: Clock) -> Self {
        Self { clock, classes: quotas.map(|quotas| Box::new(Classes::new(&quotas))) }
    }

    /// Counts a login as failed before its password is checked, so that concurrent guesses cannot exceed the
    /// quota. Counts it for this address, even if no user has the address, and for this network. Call
    /// [`RateLimits::give_back`] if the login succeeds.
    ///
    /// # Errors
    /// [`LoginLimitRefusal`].
    pub fn try_login(
        &self,
        folded_email: &str,
        network: Option<ClientNetwork>,
    ) -> Result<LoginAttempt, LoginLimitRefusal> {
        match &self.classes {
            Some(classes) => classes.failed_logins.attempt(folded_email, network, (self.clock)()),
            None => Ok(LoginAttempt::default()),
        }
    }

    /// Counts a login of a known browser as failed, as [`RateLimits::try_login`] does. It counts for the session that began
    /// in the browser, so that failures elsewhere do not matter.
    ///
    /// # Errors
    /// The exhausted [`Quota`]; a refused login does not count.
    pub fn try_login_of_browser(&self, session: SessionId) -> Result<LoginAttempt, Quota> {
        match &self.classes {
            Some(classes) => classes.failed_logins.attempt_of_browser(session, (self.clock)()),
            None => Ok(LoginAttempt::default()),
        }
    }

    /// Refunds a login that did not fail.
    pub fn give_back(&self, attempt: LoginAttempt) {
        if let Some(classes) = &self.classes {
            classes.failed_logins.give_back(attempt, (self.clock)());
        }
    }

    /// Counts a call of a principal, for [`Class::Guess`] and [`Class::WebhookChanges`] by session and by user;
    /// `None` if the limits are disabled.
    ///
    /// # Errors
    /// The exhausted [`Quota`]; a refused call does not count.
    pub fn admit_principal(&self, class: Class, principal: &Principal) -> Result<Option<Admitted>, Quota> {
        let shares = match class {
            Class::Guess | Class::WebhookChanges => Shares::session(principal),
            _ => Shares::of(RateLimitSubject::Principal(principal.user)),
        };
        self.admit(class, shares)
    }

    /// Counts a call of a client without a token; all clients of unknown networks share one count.
    ///
    /// # Errors
    /// As [`RateLimits::admit_principal`].
    pub fn admit_network(
        &self,
        class: Class,
        network: Option<ClientNetwork>,
    ) -> Result<Option<Admitted>, Quota> {
        self.admit(class, Shares::network(network, class.times_of_address()))
    }

    /// Counts a call of a client for a DJ and the client's network together: other DJs have counts of their own.
    ///
    /// # Errors
    /// As [`RateLimits::admit_principal`].
    pub fn admit_at_dj(
        &self,
        class: Class,
        dj: UserId,
        network: Option<ClientNetwork>,
    ) -> Result<Option<Admitted>, Quota> {
        self.admit(class, Shares::at_dj(dj, network))
    }

    /// Counts a login that is exempt from the limits of its address as [`Class::Other`]: for the account in all its known
    /// browsers, or for the account and its known network together.
    ///
    /// # Errors
    /// As [`RateLimits::admit_principal`].
    pub fn admit_known(
        &self,
        known: KnownClient<'_>,
        network: Option<ClientNetwork>,
    ) -> Result<Option<Admitted>, Quota> {
        let Some(classes) = &self.classes else { return Ok(None) };
        let shares = match known {
            KnownClient::Browser(user) => Shares::of(RateLimitSubject::AtBrowsers(user)),
            KnownClient::Network(folded_email) => classes.failed_logins.account_from(folded_email, network),
        };
        self.admit(Class::Other, shares)
    }

    /// Counts a call with a genuine token that is not accepted as [`Class::Other`], by its session, so that a
    /// stolen token uses up no other quota.
    ///
    /// # Errors
    /// As [`RateLimits::admit_principal`].
    pub fn admit_session(&self, session: SessionId) -> Result<Option<Admitted>, Quota> {
        self.admit(Class::Other, Shares::of(RateLimitSubject::Session(session)))
    }

    /// Counts the exchange of a refresh token, for its session if the token is known, else for the client's
    /// network.
    ///
    /// # Errors
    /// As [`RateLimits::admit_principal`].
    pub fn admit_refresh(
        &self,
        session: Option<SessionId>,
        network: Option<ClientNetwork>,
    ) -> Result<Option<Admitted>, Quota> {
        let by_session = |session| Shares::of(RateLimitSubject::Session(session));
        let by_network = || Shares::network(network, Class::Refreshes.times_of_address());
        self.admit(Class::Refreshes, session.map_or_else(by_network, by_session))
    }

    fn admit(&self, class: Class, shares: Shares) -> Result<Option<Admitted>, Quota> {
        let Some(classes) = &self.classes else { return Ok(None) };
        let (status, taken) = classes.counts(class).take(shares, (self.clock)())?;
        Ok(Some(Admitted { status, class, shares, taken }))
    }

    /// Gives back an admitted call.
    pub fn refund(&self, admitted: Admitted) {
        if let Some(classes) = &self.classes {
            classes.counts(admitted.class).give_back(admitted.taken, (self.clock)());
        }
    }

    /// Gives back an admitted call that was not accepted, if only accepted calls count in its class, and counts
    /// it as [`Class::Other`] instead. While that quota is used up, the call still counts in its class, so that
    /// the number of invalid calls is limited too.
    ///
    /// Returns the current admission.
    #[must_use]
    pub fn count_as_other(&self, admitted: Admitted) -> Admitted {
        if !admitted.class.counts_accepted_calls_only() {
            return admitted;
        }
        let Ok(Some(other)) = self.admit(Class::Other, admitted.shares) else { return admitted };
        self.refund(admitted);
        other
    }
}

impl fmt::Debug for RateLimits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RateLimits").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
