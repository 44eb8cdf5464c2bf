//! What the errors of sessions, passwords and codes are to a client.

use cuepoint_domain::challenge::MOST_ISSUED;
use cuepoint_domain::service::{
    ChangePasswordError, EndSessionError, ResetPasswordError, SendCodeError, VerifyError,
};

use super::{ApiError, Code, Quota};
use crate::http::sentence::{self, Errors};

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
                Self::invalid(Errors::one("current_password", sentence::incorrect("current_password")))
            }
            ChangePasswordError::BreachedPassword => {
                Self::invalid(Errors::one("password", sentence::breached("password")))
            }
            ChangePasswordError::Obstacle(obstacle) => obstacle.into(),
        }
    }
}

impl From<ResetPasswordError> for ApiError {
    fn from(error: ResetPasswordError) -> Self {
        match error {
            ResetPasswordError::BreachedPassword => {
                Self::invalid(Errors::one("password", sentence::breached("password")))
            }
            ResetPasswordError::Refused => Self::invalid(Errors::one("token", sentence::stale("token"))),
            ResetPasswordError::Unavailable(unavailable) => unavailable.into(),
        }
    }
}

impl From<SendCodeError> for ApiError {
    fn from(error: SendCodeError) -> Self {
        match error {
            SendCodeError::NoAddress => Self::invalid(Errors::one("phone", sentence::required("phone"))),
            SendCodeError::NotHere => Self::not_here("Messages are not available here."),
            SendCodeError::TooMany(wait) => Self::rate_limited(Quota {
                limit: u32::try_from(MOST_ISSUED).unwrap_or(u32::MAX),
                // A part of a second is waited for as a whole one.
                retry_after_seconds: u32::try_from(wait.whole_seconds().saturating_add(1))
                    .unwrap_or(u32::MAX),
            }),
            SendCodeError::Obstacle(obstacle) => obstacle.into(),
        }
    }
}

impl From<VerifyError> for ApiError {
    fn from(error: VerifyError) -> Self {
        match error {
            VerifyError::Refused => Self::invalid(Errors::one("code", sentence::stale("code"))),
            VerifyError::Obstacle(obstacle) => obstacle.into(),
        }
    }
}
