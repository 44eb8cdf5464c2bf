//! Mapping of refusals about users to API errors: registration, login, sessions, tokens, passwords, verification,
//! profiles, statuses, blocks and erasure.

use cuepoint_domain::application::commands::ChangeUserStatusRefusal;
use cuepoint_domain::application::{
    BlockRefusal, ChangePasswordRefusal, ClaimRefusal, ConfirmEmailRefusal, CreateGuestRefusal, EraseRefusal,
    FirstOperatorRefusal, IssueLinkRefusal, LoginRefusal, NewOperatorRefusal, RefreshRefusal,
    RegisterRefusal, RequestEmailRefusal, RequestResetRefusal, ResetPasswordRefusal, RestoreEmailRefusal,
    SendCodeRefusal, TokenRequestRefusal, VerifyRefusal,
};
use cuepoint_domain::privacy::ErasureRefusal;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::topup::LinkIssueRefusal;
use cuepoint_domain::user::code_quotas::{self, CodeQuota};
use cuepoint_domain::user::personal_token::PersonalToken;
use cuepoint_domain::user::{ProfileRefusal, challenge};
use time::Duration;

use crate::mapping::MOVED;
use crate::wire::error::{ApiError, Code};
use crate::wire::validation_texts::{self, Errors};
use cuepoint_transport::rate_limits::Quota;

/// The message where the deployment cannot deliver messages to addresses of this kind.
const NO_MESSAGES: &str = "This deployment cannot send messages to this kind of address.";

/// The `Retry-After`, in seconds, of a change that waits for the end of an upgrade.
const SECONDS_OF_UPGRADE: u32 = 3_600;

impl From<RegisterRefusal> for ApiError {
    fn from(refusal: RegisterRefusal) -> Self {
        Self::invalid(match refusal {
            RegisterRefusal::EmailTaken => Errors::one("email", validation_texts::taken("email")),
            RegisterRefusal::BreachedPassword => breached_password(),
        })
    }
}

impl From<FirstOperatorRefusal> for ApiError {
    fn from(refusal: FirstOperatorRefusal) -> Self {
        match refusal {
            FirstOperatorRefusal::MadeBefore => Code::NotFound.into(),
            FirstOperatorRefusal::InvalidCode => {
                Self::invalid(Errors::one("code", validation_texts::stale("code")))
            }
            FirstOperatorRefusal::Account(NewOperatorRefusal::EmailTaken) => {
                Self::invalid(Errors::one("email", validation_texts::taken("email")))
            }
            FirstOperatorRefusal::Account(NewOperatorRefusal::BreachedPassword) => {
                Self::invalid(breached_password())
            }
        }
    }
}

impl From<CreateGuestRefusal> for ApiError {
    fn from(refusal: CreateGuestRefusal) -> Self {
        match refusal {
            CreateGuestRefusal::KeyUsed => Self::saying(
                Code::IdempotencyKeyReused,
                "This Idempotency-Key has created an account before. Choose another one.",
            ),
            CreateGuestRefusal::NotYet => Self::not_now(
                "Guest accounts cannot be created until the upgrade of the service is complete.",
                SECONDS_OF_UPGRADE,
            ),
        }
    }
}

impl From<ClaimRefusal> for ApiError {
    fn from(refusal: ClaimRefusal) -> Self {
        Self::invalid(match refusal {
            ClaimRefusal::EmailTaken => Errors::one("email", validation_texts::taken("email")),
            ClaimRefusal::BreachedPassword => breached_password(),
            ClaimRefusal::NotAGuest => {
                return Self::saying(
                    Code::Conflict,
                    "This account has an e-mail address and a password already.",
                );
            }
        })
    }
}

impl From<LoginRefusal> for ApiError {
    fn from(refusal: LoginRefusal) -> Self {
        match refusal {
            LoginRefusal::InvalidCredentials => Code::InvalidCredentials.into(),
            LoginRefusal::Suspended => Code::AccountSuspended.into(),
        }
    }
}

impl From<RefreshRefusal> for ApiError {
    fn from(refusal: RefreshRefusal) -> Self {
        match refusal {
            RefreshRefusal::Reused { is_guest_account: true } => Self::saying(
                Code::InvalidRefreshToken,
                "The refresh token was used before, so its session has ended. No login leads to the guest account: ask \
                 an operator for a wallet link.",
            ),
            RefreshRefusal::GuestEnded => Self::saying(
                Code::InvalidRefreshToken,
                "The session has ended. No login leads to the guest account: ask an operator for a wallet link.",
            ),
            RefreshRefusal::InvalidToken | RefreshRefusal::Reused { is_guest_account: false } => {
                Code::InvalidRefreshToken.into()
            }
            RefreshRefusal::Moved => Self::saying(Code::InvalidRefreshToken, MOVED),
            RefreshRefusal::Suspended => Code::AccountSuspended.into(),
        }
    }
}

impl From<ChangePasswordRefusal> for ApiError {
    fn from(refusal: ChangePasswordRefusal) -> Self {
        Self::invalid(match refusal {
            ChangePasswordRefusal::WrongPassword => {
                Errors::one("current_password", validation_texts::incorrect("current_password"))
            }
            ChangePasswordRefusal::BreachedPassword => breached_password(),
        })
    }
}

impl From<RequestResetRefusal> for ApiError {
    fn from(refusal: RequestResetRefusal) -> Self {
        match refusal {
            RequestResetRefusal::NotOffered => Self::saying(Code::NotConfigured, NO_MESSAGES),
        }
    }
}

impl From<ResetPasswordRefusal> for ApiError {
    fn from(refusal: ResetPasswordRefusal) -> Self {
        Self::invalid(match refusal {
            ResetPasswordRefusal::BreachedPassword => breached_password(),
            ResetPasswordRefusal::InvalidToken => Errors::one("token", validation_texts::stale("token")),
        })
    }
}

impl From<SendCodeRefusal> for ApiError {
    fn from(refusal: SendCodeRefusal) -> Self {
        match refusal {
            SendCodeRefusal::NoAddress => {
                Self::invalid(Errors::one("phone", validation_texts::required("phone")))
            }
            SendCodeRefusal::NotOffered => Self::saying(Code::NotConfigured, NO_MESSAGES),
            SendCodeRefusal::TooMany { quota, most, wait } => too_many_codes(quota, most, wait),
            SendCodeRefusal::BudgetSpent(wait) => {
                Self::not_now("No more codes can be sent to phones at the moment.", whole_seconds(wait))
            }
        }
    }
}

/// The failure of a code beyond a quota of this many, of which another one can be sent after this time.
fn too_many_codes(quota: CodeQuota, most: u32, wait: Duration) -> ApiError {
    let (resource, window) = named(quota);
    let retry_after_seconds = whole_seconds(wait);
    // No code counts longer than the window.
    let reset_seconds = u32::try_from(window.whole_seconds()).unwrap_or(u32::MAX);
    ApiError::rate_limited(Quota { resource, limit: most, retry_after_seconds, reset_seconds })
}

impl From<VerifyRefusal> for ApiError {
    fn from(refusal: VerifyRefusal) -> Self {
        match refusal {
            VerifyRefusal::InvalidCode => Self::invalid(Errors::one("code", validation_texts::stale("code"))),
        }
    }
}

impl From<RequestEmailRefusal> for ApiError {
    fn from(refusal: RequestEmailRefusal) -> Self {
        match refusal {
            RequestEmailRefusal::WrongPassword => {
                Self::invalid(Errors::one("password", validation_texts::incorrect("password")))
            }
            RequestEmailRefusal::SameAddress => {
                Self::invalid(Errors::one("email", validation_texts::different("email")))
            }
            RequestEmailRefusal::Restorable(until) => restorable(until),
            RequestEmailRefusal::NotOffered => Self::saying(Code::NotConfigured, NO_MESSAGES),
            RequestEmailRefusal::NotYet => Self::not_now(
                "E-mail addresses cannot be changed until the upgrade of the service is complete.",
                SECONDS_OF_UPGRADE,
            ),
            RequestEmailRefusal::TooMany { quota, most, wait } => too_many_codes(quota, most, wait),
        }
    }
}

impl From<ConfirmEmailRefusal> for ApiError {
    fn from(refusal: ConfirmEmailRefusal) -> Self {
        match refusal {
            ConfirmEmailRefusal::InvalidCode => {
                Self::invalid(Errors::one("code", validation_texts::stale("code")))
            }
            ConfirmEmailRefusal::EmailTaken => {
                Self::invalid(Errors::one("email", validation_texts::taken("email")))
            }
            ConfirmEmailRefusal::Restorable(until) => restorable(until),
        }
    }
}

impl From<RestoreEmailRefusal> for ApiError {
    fn from(refusal: RestoreEmailRefusal) -> Self {
        Self::invalid(match refusal {
            RestoreEmailRefusal::BreachedPassword => breached_password(),
            RestoreEmailRefusal::InvalidToken => Errors::one("token", validation_texts::stale("token")),
            RestoreEmailRefusal::EmailTaken => Errors::one("email", validation_texts::taken("email")),
        })
    }
}

/// The refusal of a second change of the e-mail address before this time.
fn restorable(until: Timestamp) -> ApiError {
    let (day, time) = (until.to_utc().date(), until.to_utc().time());
    let message = format!(
        "The e-mail address cannot be changed again until {day} {:02}:{:02} UTC, because the previous one can still \
         be restored.",
        time.hour(),
        time.minute()
    );
    ApiError::saying(Code::EmailRestorable, message)
}

impl From<ProfileRefusal> for ApiError {
    fn from(refusal: ProfileRefusal) -> Self {
        Self::invalid(match refusal {
            ProfileRefusal::NotADj => return Self::saying(Code::DjOnly, Self::DJ_FIELDS),
            ProfileRefusal::StaysADj => Errors::one("is_dj", validation_texts::unchangeable("is_dj")),
            ProfileRefusal::Phone => Errors::one("phone", validation_texts::phone("phone")),
            ProfileRefusal::LatitudeMissing => {
                Errors::one("latitude", validation_texts::required_with("latitude", "longitude"))
            }
            ProfileRefusal::LongitudeMissing => {
                Errors::one("longitude", validation_texts::required_with("longitude", "latitude"))
            }
            ProfileRefusal::OffTheMap => {
                Errors::one("latitude", validation_texts::between("latitude", "-90", "90"))
            }
        })
    }
}

impl From<ChangeUserStatusRefusal> for ApiError {
    fn from(refusal: ChangeUserStatusRefusal) -> Self {
        match refusal {
            ChangeUserStatusRefusal::LastOperator => Code::LastOperator.into(),
            ChangeUserStatusRefusal::GuestAccount => {
                Self::saying(Code::Conflict, "A guest account becomes a member when its guest claims it.")
            }
        }
    }
}

impl From<IssueLinkRefusal> for ApiError {
    fn from(refusal: IssueLinkRefusal) -> Self {
        match refusal {
            IssueLinkRefusal::Rule(LinkIssueRefusal::NotAGuest) => {
                Self::saying(Code::Conflict, "Only a guest account has a wallet link. Other users log in.")
            }
            IssueLinkRefusal::Rule(LinkIssueRefusal::NotItsPayment) => {
                Self::invalid(Errors::one("reference", validation_texts::no_payment()))
            }
            IssueLinkRefusal::NotYet => Self::not_now(
                "Wallet links cannot be issued until the upgrade of the service is complete.",
                SECONDS_OF_UPGRADE,
            ),
            IssueLinkRefusal::TooMany { quota, most, wait } => too_many_codes(quota, most, wait),
        }
    }
}

impl From<BlockRefusal> for ApiError {
    fn from(refusal: BlockRefusal) -> Self {
        match refusal {
            BlockRefusal::Oneself => {
                Self::invalid(Errors::one("id", validation_texts::yourself("You cannot block yourself.")))
            }
        }
    }
}

impl From<TokenRequestRefusal> for ApiError {
    fn from(refusal: TokenRequestRefusal) -> Self {
        match refusal {
            TokenRequestRefusal::WrongPassword => {
                Self::invalid(Errors::one("password", validation_texts::incorrect("password")))
            }
            TokenRequestRefusal::TooMany => Self::saying(
                Code::LimitExceeded,
                format!("You can have at most {} personal access tokens.", PersonalToken::MAX_LIVE),
            ),
        }
    }
}

impl From<EraseRefusal> for ApiError {
    fn from(refusal: EraseRefusal) -> Self {
        match refusal {
            EraseRefusal::PasswordMissing => {
                Self::invalid(Errors::one("password", validation_texts::required("password")))
            }
            EraseRefusal::WrongPassword => {
                Self::invalid(Errors::one("password", validation_texts::incorrect("password")))
            }
            EraseRefusal::GuestMoneyLeft => Self::saying(
                Code::WalletNotEmpty,
                "Spend the balance, claim the account to withdraw it, or ask the operator.",
            ),
            EraseRefusal::Rule(ErasureRefusal::ConfirmationOutdated) => Code::Conflict.into(),
            EraseRefusal::Rule(ErasureRefusal::MoneyLeft) => Code::WalletNotEmpty.into(),
            EraseRefusal::Rule(ErasureRefusal::TopupPending) => Code::TopupPending.into(),
            EraseRefusal::Rule(ErasureRefusal::EmailRestorable(until)) => restorable(until),
            EraseRefusal::Rule(ErasureRefusal::LastOperator) => Code::LastOperator.into(),
        }
    }
}

fn breached_password() -> Errors {
    Errors::one("password", validation_texts::breached("password"))
}

/// The name of a quota of codes, and its window.
const fn named(quota: CodeQuota) -> (&'static str, Duration) {
    match quota {
        CodeQuota::Hour => ("codes_per_hour", challenge::ISSUE_WINDOW),
        CodeQuota::Number => ("codes_per_number_and_day", code_quotas::WINDOW),
        CodeQuota::Network => ("codes_per_network_and_day", code_quotas::WINDOW),
        CodeQuota::Deployment => ("codes_per_day", code_quotas::WINDOW),
    }
}

/// The wait in seconds, rounded up.
fn whole_seconds(wait: Duration) -> u32 {
    u32::try_from(wait.whole_seconds().saturating_add(1)).unwrap_or(u32::MAX)
}
