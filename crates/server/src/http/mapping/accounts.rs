//! What the errors of accounts are to a client: registration, login, sessions, passwords, codes, erasure.

use cuepoint_domain::service::{
    ChangePasswordError, EndSessionError, EraseError, LoginError, RefreshError, RegisterError,
    ResetPasswordError, SendCodeError, VerifyError,
};

use time::Duration;

use crate::http::wire::error::{ApiError, Code, Quota};
use crate::http::wire::messages::{self, Errors};

impl From<RegisterError> for ApiError {
    fn from(error: RegisterError) -> Self {
        match error {
            RegisterError::EmailTaken => Self::invalid(Errors::one("email", messages::taken("email"))),
            RegisterError::BreachedPassword => {
                Self::invalid(Errors::one("password", messages::breached("password")))
            }
            RegisterError::Unavailable(unavailable) => unavailable.into(),
        }
    }
}

impl From<LoginError> for ApiError {
    fn from(error: LoginError) -> Self {
        match error {
            LoginError::InvalidCredentials => Code::InvalidCredentials.into(),
            LoginError::Suspended => Code::AccountSuspended.into(),
            LoginError::Unavailable(unavailable) => unavailable.into(),
        }
    }
}

impl From<RefreshError> for ApiError {
    fn from(error: RefreshError) -> Self {
        match error {
            RefreshError::Refused | RefreshError::Reused => Code::InvalidToken.into(),
            RefreshError::Suspended => Code::AccountSuspended.into(),
            RefreshError::Unavailable(unavailable) => unavailable.into(),
        }
    }
}

impl From<EndSessionError> for ApiError {
    fn from(error: EndSessionError) -> Self {
        match error {
            EndSessionError::NotFound => Code::NotFound.into(),
            EndSessionError::Obstacle(obstacle) => obstacle.into(),
        }
    }
}

impl From<ChangePasswordError> for ApiError {
    fn from(error: ChangePasswordError) -> Self {
        match error {
            ChangePasswordError::WrongPassword => {
                Self::invalid(Errors::one("current_password", messages::incorrect("current_password")))
            }
            ChangePasswordError::BreachedPassword => {
                Self::invalid(Errors::one("password", messages::breached("password")))
            }
            ChangePasswordError::Obstacle(obstacle) => obstacle.into(),
        }
    }
}

impl From<ResetPasswordError> for ApiError {
    fn from(error: ResetPasswordError) -> Self {
        match error {
            ResetPasswordError::BreachedPassword => {
                Self::invalid(Errors::one("password", messages::breached("password")))
            }
            ResetPasswordError::Refused => Self::invalid(Errors::one("token", messages::stale("token"))),
            ResetPasswordError::Unavailable(unavailable) => unavailable.into(),
        }
    }
}

impl From<SendCodeError> for ApiError {
    fn from(error: SendCodeError) -> Self {
        match error {
            SendCodeError::NoAddress => Self::invalid(Errors::one("phone", messages::required("phone"))),
            SendCodeError::NotHere => Self::not_here("Messages are not available here."),
            SendCodeError::TooMany { most, wait } => {
                Self::rate_limited(Quota { limit: most, retry_after_seconds: whole_seconds(wait) })
            }
            SendCodeError::BudgetSpent(wait) => {
                Self::not_now("No more codes can be sent to phones now.", whole_seconds(wait))
            }
            SendCodeError::Obstacle(obstacle) => obstacle.into(),
        }
    }
}

/// Fractions of a second are rounded up.
fn whole_seconds(wait: Duration) -> u32 {
    u32::try_from(wait.whole_seconds().saturating_add(1)).unwrap_or(u32::MAX)
}

impl From<VerifyError> for ApiError {
    fn from(error: VerifyError) -> Self {
        match error {
            VerifyError::Refused => Self::invalid(Errors::one("code", messages::stale("code"))),
            VerifyError::Obstacle(obstacle) => obstacle.into(),
        }
    }
}

impl From<EraseError> for ApiError {
    fn from(error: EraseError) -> Self {
        match error {
            EraseError::WrongPassword => {
                Self::invalid(Errors::one("password", messages::incorrect("password")))
            }
            EraseError::MoneyLeft => {
                Self::saying(Code::Conflict, "There is money in the wallet: available, held or owed.")
            }
            EraseError::TopupPending => {
                Self::saying(Code::Conflict, "A top-up is pending: its money may still come.")
            }
            EraseError::LastOperator => Self::saying(Code::Conflict, Self::LAST_OPERATOR),
            EraseError::Obstacle(obstacle) => obstacle.into(),
        }
    }
}
