//! Changing and resetting a password.

use cuepoint_domain::authorization::{Action, Principal};
use cuepoint_domain::ports::Token;
use cuepoint_domain::text::{Email, Password};

use crate::call::ApiCall;
use crate::declaration::{json, ok, operations};
use crate::endpoint::{anonymous, authenticated};
use crate::wire::body::body;
use crate::wire::envelope::ApiResponse;
use crate::wire::error::{ApiError, Code};
use crate::wire::kinds;
use cuepoint_transport::rate_limits::Class;
use cuepoint_views::Empty;

operations! {
    /// Change the password
    ///
    /// Sets a new password, and ends all other sessions of the caller. A wrong `current_password` returns 422 for
    /// that field. The e-mail about the change lists the webhook endpoints of the user.
    POST "/api/v1/auth/password" "changePassword" {
        tag: Passwords,
        run: authenticated(Action::UseCredentials, change),
        answers: ok::<Empty>("The password is changed."),
        class: Class::Guess,
        body: json::<PasswordChangeBody>(),
        fails: &[Code::Conflict],
    }

    /// Request a password reset
    ///
    /// Sends a reset token to the address, if it belongs to a user. The token is valid for 30 minutes and replaces
    /// an earlier one. At most five are sent within an hour, no matter who asks. The answer is the same for every
    /// address, and is given before the user is looked up.
    ///
    /// A previous address that can be restored gets its token for `restoreEmail` again.
    POST "/api/v1/auth/password/forgot" "requestPasswordReset" {
        tag: Passwords,
        run: anonymous(forgot),
        answers: ok::<Empty>("A message is sent, if a user has the address."),
        class: Class::Guess,
        body: json::<PasswordResetRequestBody>(),
        fails: &[Code::NotConfigured],
    }

    /// Reset the password
    ///
    /// Sets a new password with a reset token, verifies the e-mail address, and ends all sessions. A token that is
    /// unknown, used, replaced or older than 30 minutes returns 422 for `token`. A refused password does not use up
    /// the token.
    ///
    /// In the same step, it disables the active webhook endpoints for the user's own events with the reason
    /// `security`. For 48 hours, no withdrawal of the user is approved automatically.
    POST "/api/v1/auth/password/reset" "resetPassword" {
        tag: Passwords,
        run: anonymous(reset),
        answers: ok::<Empty>("The password is set."),
        class: Class::Guess,
        body: json::<PasswordResetBody>(),
    }
}

body! {
    /// A new password.
    pub struct PasswordChangeBody as "PasswordChange", example: {
        "current_password": "correct horse", "password": "battery staple"
    } {
        /// Current password.
        current_password: Password = required(kinds::PRESENTED_PASSWORD),
        /// New password. One of the most common passwords in data leaks returns 422.
        password: Password = required(kinds::PASSWORD),
    }
}

body! {
    /// A request for a password reset.
    pub struct PasswordResetRequestBody as "PasswordResetRequest", example: {"email": "ada@example.com"} {
        /// E-mail address of the user, in any letter case.
        email: Email = required(kinds::EMAIL),
    }
}

body! {
    /// A new password to replace a forgotten one.
    pub struct PasswordResetBody as "PasswordReset", example: {
        "token": "bntE_GS4RCx0KV37F1UrUOK6KToVtUo03oh9oh-6w1c", "password": "battery staple"
    } {
        /// Token that was sent by `requestPasswordReset`, valid for 30 minutes.
        token: Token = required(kinds::TOKEN),
        /// New password. One of the most common passwords in data leaks returns 422.
        password: Password = required(kinds::PASSWORD),
    }
}

async fn change(call: ApiCall, principal: Principal) -> Result<ApiResponse, ApiError> {
    let PasswordChangeBody { current_password, password } = call.body()?;
    let context = call.context(&principal);
    let changed = call.use_cases().passwords.change(&context, &current_password, &password).await;
    call.limits().refund_unhashed(&changed);
    changed?;
    ApiResponse::new("Password changed.", Empty {})
}

async fn forgot(call: ApiCall) -> Result<ApiResponse, ApiError> {
    let PasswordResetRequestBody { email } = call.counted_body()?;
    call.use_cases().passwords.request_reset(&call.client_context(), email)?;
    ApiResponse::new("If an account has this address, a message is on its way.", Empty {})
}

async fn reset(call: ApiCall) -> Result<ApiResponse, ApiError> {
    let PasswordResetBody { token, password } = call.counted_body()?;
    let reset = call.use_cases().passwords.reset(&call.client_context(), &token, &password).await;
    call.limits().refund_unhashed(&reset);
    reset?;
    ApiResponse::new("Password set.", Empty {})
}
