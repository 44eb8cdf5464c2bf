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
    /// All other sessions of the caller end. Passwords from known data leaks are rejected.
    POST "/api/v1/auth/password" "changePassword" {
        tag: Accounts,
        run: authenticated(Action::UseCredentials, change),
        answers: ok::<Empty>("The password is changed."),
        class: Class::Guess,
        body: json::<NewPasswordBody>(),
        fails: &[Code::Conflict],
    }

    /// Request a password reset
    ///
    /// Sends a reset token if the e-mail address belongs to an account. A previous address that can be restored
    /// gets its token for that again. The answer is the same for every address, and is given before the account
    /// is looked up.
    POST "/api/v1/auth/password/forgot" "forgotPassword" {
        tag: Accounts,
        run: anonymous(forgot),
        answers: ok::<Empty>("A message is sent, if an account has the address."),
        class: Class::Guess,
        body: json::<ForgottenPasswordBody>(),
        fails: &[Code::NotConfigured],
    }

    /// Reset the password
    ///
    /// Sets a new password with a reset token. All sessions of the account end. A rejected password does not
    /// use up the token.
    POST "/api/v1/auth/password/reset" "resetPassword" {
        tag: Accounts,
        run: anonymous(reset),
        answers: ok::<Empty>("The password is set."),
        class: Class::Guess,
        body: json::<ResetPasswordBody>(),
    }
}

body! {
    /// A new password.
    pub struct NewPasswordBody as "NewPassword", example: {
        "current_password": "correct horse", "password": "battery staple"
    } {
        /// Current password.
        current_password: Password = required(kinds::PRESENTED_PASSWORD),
        /// New password.
        password: Password = required(kinds::PASSWORD),
    }
}

body! {
    /// A request for a password reset.
    pub struct ForgottenPasswordBody as "ForgottenPassword", example: {"email": "ada@example.com"} {
        /// E-mail address of the account, in any letter case.
        email: Email = required(kinds::EMAIL),
    }
}

body! {
    /// A new password to replace a forgotten one.
    pub struct ResetPasswordBody as "ResetPassword", example: {
        "token": "bntE_GS4RCx0KV37F1UrUOK6KToVtUo03oh9oh-6w1c", "password": "battery staple"
    } {
        /// Token of the password reset.
        token: Token = required(kinds::TOKEN),
        /// New password.
        password: Password = required(kinds::PASSWORD),
    }
}

async fn change(call: ApiCall, principal: Principal) -> Result<ApiResponse, ApiError> {
    let NewPasswordBody { current_password, password } = call.body()?;
    let context = call.context(&principal);
    let changed = call.use_cases().passwords.change(&context, &current_password, &password).await;
    call.refund_unhashed(&changed);
    changed?;
    ApiResponse::new("Password changed.", Empty {})
}

async fn forgot(call: ApiCall) -> Result<ApiResponse, ApiError> {
    let ForgottenPasswordBody { email } = call.body()?;
    call.use_cases().passwords.request_reset(&call.client_context(), email)?;
    ApiResponse::new("If an account has this address, a message is on its way.", Empty {})
}

async fn reset(call: ApiCall) -> Result<ApiResponse, ApiError> {
    let ResetPasswordBody { token, password } = call.body()?;
    let reset = call.use_cases().passwords.reset(&call.client_context(), &token, &password).await;
    call.refund_unhashed(&reset);
    reset?;
    ApiResponse::new("Password set.", Empty {})
}
