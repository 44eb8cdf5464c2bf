//! Mapping of application errors to API errors. This file maps the errors that all use cases share. The other files map
//! refusals: of commands about money (`commands`), about users (`users`), and about webhook endpoints
//! (`webhook_endpoints`).

mod commands;
mod users;
mod webhook_endpoints;

use std::convert::Infallible;

use cuepoint_domain::application::queries::FeedRefusal;
use cuepoint_domain::application::{CommandError, Failure};
use cuepoint_domain::authorization::{Action, DenialReason, Denied, Revocation};
use cuepoint_domain::ledger::adjustment::Adjustment;
use cuepoint_domain::money::Currency;
use cuepoint_domain::ports::{HashingError, Unavailable};

use crate::wire::error::{ApiError, Code};
use cuepoint_adapters::long_work::RETRY_AFTER_SECONDS;
use cuepoint_adapters::security::kept_credentials::CredentialRefusal;
use cuepoint_adapters::security::password_queue::PATIENCE_SECONDS;
use cuepoint_adapters::security::tokens::TokenRefusal;
use cuepoint_transport::rate_limits::Quota;
use cuepoint_transport::request_limits::{AttemptRefusal, CodeRefusal};

/// The message while too much long work of DJs waits for its turn.
const BUSY: &str = "Too many large gigs are being read. Try again in a few seconds.";

/// The API error of a command's refusal. Refusals without amounts convert by [`From`].
pub trait IntoApiError {
    /// The API error, with amounts in `currency`.
    fn into_api_error(self, currency: &Currency) -> ApiError;
}

impl<R: Into<ApiError>> IntoApiError for R {
    fn into_api_error(self, _: &Currency) -> ApiError {
        self.into()
    }
}

impl<R: Into<Self>, I: Into<Self>> From<CommandError<R, I>> for ApiError {
    fn from(error: CommandError<R, I>) -> Self {
        match error {
            CommandError::Refused(refusal) => refusal.into(),
            CommandError::Input(error) => error.into(),
            CommandError::Failed(failure) => failure.into(),
        }
    }
}

impl From<Infallible> for ApiError {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}

impl From<Failure> for ApiError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::NotFound => Code::NotFound.into(),
            Failure::Denied(denied) => denied.into(),
            Failure::WrongRole => Code::InsufficientScope.into(),
            Failure::Unclaimed(action) => Self::claim_required(action),
            Failure::Revoked(revocation) => revocation.into(),
            Failure::UnknownPrincipal => Code::SessionEnded.into(),
            Failure::Unreliable(Unavailable(cause)) => Self::unreliable(cause),
            Failure::KeyReused => Code::IdempotencyKeyReused.into(),
            Failure::InFlight => Code::IdempotencyInFlight.into(),
            Failure::RecentAdjustment => Self::saying(Code::RecentAdjustment, recent_adjustment()),
            Failure::Conflict => Code::Conflict.into(),
            Failure::OutOfRange => Self::saying(Code::LimitExceeded, Self::BALANCE_TOO_LARGE),
            Failure::Broken(what) => Self::internal(what),
            Failure::Signing(error) => Self::internal(error),
            Failure::TooManyPasswords(most) => Self::too_many_passwords(most),
            Failure::Busy => Self::not_now(BUSY, RETRY_AFTER_SECONDS),
            Failure::Unavailable(unavailable) => unavailable.into(),
        }
    }
}

impl From<HashingError> for ApiError {
    fn from(error: HashingError) -> Self {
        Failure::from(error).into()
    }
}

impl ApiError {
    /// The refusal of an action of members by a guest account.
    fn claim_required(action: Action) -> Self {
        let what = action.rule().name;
        let message = format!(
            "A guest account cannot do this ({what}). Add an e-mail address and a password to it first."
        );
        Self::saying(Code::ClaimRequired, message)
    }

    /// More than this many passwords of a network would wait to be hashed. Whether one waits no longer is not known
    /// in advance, but none waits longer than a few seconds.
    fn too_many_passwords(most: u32) -> Self {
        Self::rate_limited(Quota {
            resource: "waiting_passwords_per_network",
            limit: most,
            retry_after_seconds: PATIENCE_SECONDS,
            reset_seconds: PATIENCE_SECONDS,
        })
    }
}

impl From<Denied> for ApiError {
    fn from(denied: Denied) -> Self {
        match denied.reason() {
            DenialReason::DjsOnly => Code::DjOnly.into(),
            DenialReason::GuestOfRequestOnly => {
                Self::saying(Code::NotYourRequest, "Only the guest who made this request can do this.")
            }
            DenialReason::DjOfRequestOnly => {
                Self::saying(Code::NotYourRequest, "Only the DJ of this request can answer it.")
            }
            DenialReason::MembersOnly => Self::claim_required(denied.action),
            DenialReason::OwnEntity => Code::OwnAccount.into(),
            DenialReason::RoleMissing => Code::InsufficientScope.into(),
            DenialReason::Concealed => Code::NotFound.into(),
        }
    }
}

impl From<FeedRefusal> for ApiError {
    fn from(refusal: FeedRefusal) -> Self {
        match refusal {
            FeedRefusal::Expired { oldest } => Self::events_expired(oldest.get()),
            FeedRefusal::Lost { continue_after } => Self::events_lost(continue_after.get()),
        }
    }
}

impl From<TokenRefusal> for ApiError {
    fn from(refusal: TokenRefusal) -> Self {
        match refusal {
            TokenRefusal::Expired(_) => Code::TokenExpired.into(),
            TokenRefusal::Invalid => Code::InvalidToken.into(),
        }
    }
}

impl From<CredentialRefusal> for ApiError {
    fn from(refusal: CredentialRefusal) -> Self {
        match refusal {
            CredentialRefusal::Unknown => Code::InvalidToken.into(),
            CredentialRefusal::Expired => Code::TokenExpired.into(),
            CredentialRefusal::Revoked(revocation) => revocation.into(),
            CredentialRefusal::Unavailable(unavailable) => unavailable.into(),
        }
    }
}

/// The message for a session that a wallet link ended.
pub(crate) const MOVED: &str = "A wallet link of the operator moved this guest account to another browser, which ended all its other sessions.";

impl From<Revocation> for ApiError {
    fn from(revocation: Revocation) -> Self {
        match revocation {
            Revocation::SessionEnded => Code::SessionEnded.into(),
            Revocation::Suspended => Code::AccountSuspended.into(),
        }
    }
}

impl From<AttemptRefusal> for ApiError {
    fn from(refusal: AttemptRefusal) -> Self {
        match refusal {
            AttemptRefusal::Quota(quota) => Self::rate_limited(quota),
            AttemptRefusal::Queue(error) => error.into(),
            AttemptRefusal::Unavailable(unavailable) => unavailable.into(),
        }
    }
}

impl From<CodeRefusal<Self>> for ApiError {
    fn from(refusal: CodeRefusal<Self>) -> Self {
        match refusal {
            CodeRefusal::Quota(quota) => Self::rate_limited(quota),
            CodeRefusal::Unknown => Code::NotFound.into(),
            CodeRefusal::Failed(error) => error,
        }
    }
}

impl From<Unavailable> for ApiError {
    fn from(Unavailable(cause): Unavailable) -> Self {
        Self::caused(Code::Unavailable, cause)
    }
}

/// The message for an operator whose recent adjustment excludes them from reviewing withdrawals of the
/// wallet.
fn recent_adjustment() -> String {
    let days = Adjustment::JUDGING_BAR.whole_days();
    format!("You adjusted this balance within the last {days} days. Ask another operator.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn busy_threads_of_reports_return_503_with_a_time_to_retry() {
        let refused = ApiError::from(Failure::Busy);
        assert_eq!(refused.code, Code::Unavailable);
        assert_eq!(refused.details.retry_after_seconds, Some(RETRY_AFTER_SECONDS));
    }

    #[test]
    fn the_recent_adjustment_message_names_the_period_in_days() {
        assert_eq!(
            recent_adjustment(),
            "You adjusted this balance within the last 30 days. Ask another operator."
        );
    }
}
