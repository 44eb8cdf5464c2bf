//! Another password.

use cuepoint_domain::access::Caller;
use cuepoint_domain::ids::UserId;
use cuepoint_domain::ports::Token;
use cuepoint_domain::text::Password;

use crate::http::call::Call;
use crate::http::openapi::bodies::{ForgottenPassword, NewPassword, ResetPassword};
use crate::http::operations::views::Nothing;
use crate::http::wire::envelope::{Answer, Success};
use crate::http::wire::error::ApiError;
use crate::http::wire::values;
use crate::jobs::queue::Errand;

/// Changes the caller's password; all their other sessions end.
///
/// The new password must not be one that is known from data leaks.
#[utoipa::path(
    post,
    path = "/api/v1/auth/password",
    operation_id = "changePassword",
    tag = "Accounts",
    request_body = NewPassword,
    responses((status = 200, description = "The password is changed.", body = Success<Nothing>)),
)]
pub async fn change(call: Call, caller: Caller) -> Result<Answer, ApiError> {
    let mut fields = call.fields();
    let present = fields.required("current_password", values::presented);
    let new = fields.required("password", values::password);
    let (present, new) = fields.complete(|| Some((Password::presented(&present?), new?)))?;
    call.app.services.passwords.change(&caller, &present, &new, call.visitor()).await?;
    changed(&call, caller.user).await;
    Answer::ok("Password changed.", Nothing {})
}

/// Sends a message with a token to set a new password, if the address is somebody's.
///
/// The answer is the same for every address, and comes before anything is looked up.
#[utoipa::path(
    post,
    path = "/api/v1/auth/password/forgot",
    operation_id = "forgotPassword",
    tag = "Accounts",
    request_body = ForgottenPassword,
    responses((status = 200, description = "A message is sent to who has the address.", body = Success<Nothing>)),
)]
pub async fn forgot(call: Call) -> Result<Answer, ApiError> {
    let mut fields = call.fields();
    let email = fields.required("email", values::email);
    let email = fields.complete(|| email)?;
    if !call.app.services.passwords.can_tell(&email) {
        return Err(ApiError::not_here("Messages are not available here."));
    }
    call.app.errands.leave(Errand::Forgot { email, visitor: call.visitor() })?;
    Answer::ok("If there is such an account, a message is on its way.", Nothing {})
}

/// Sets a new password with a token that was sent; all sessions of the account end.
///
/// A password that cannot be chosen does not use the token up.
#[utoipa::path(
    post,
    path = "/api/v1/auth/password/reset",
    operation_id = "resetPassword",
    tag = "Accounts",
    request_body = ResetPassword,
    responses((status = 200, description = "The password is set.", body = Success<Nothing>)),
)]
pub async fn reset(call: Call) -> Result<Answer, ApiError> {
    let mut fields = call.fields();
    let token = fields.required("token", values::presented);
    let new = fields.required("password", values::password);
    let (token, new) = fields.complete(|| Some((Token(token?), new?)))?;
    let user = call.app.services.passwords.reset(&token, &new, call.visitor()).await?;
    changed(&call, user).await;
    Answer::ok("Password set.", Nothing {})
}

/// What follows from another password: sessions are refused at once, and its owner is told.
async fn changed(call: &Call, user: UserId) {
    call.refresh_revocations().await;
    if let Err(unavailable) = call.app.errands.leave(Errand::TellPasswordChanged(user)) {
        tracing::warn!(%user, %unavailable, "nobody is told of a changed password");
    }
}
