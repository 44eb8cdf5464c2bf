//! Changing the e-mail address, and restoring the previous one.

use cuepoint_domain::application::Confirmation;
use cuepoint_domain::authorization::{Action, Principal};
use cuepoint_domain::ports::Token;
use cuepoint_domain::text::{Email, Password};

use crate::call::ApiCall;
use crate::declaration::{json, ok, operations};
use crate::endpoint::{anonymous, authenticated};
use crate::operations::members::verifications::VerificationCodeBody;
use crate::wire::body::body;
use crate::wire::envelope::ApiResponse;
use crate::wire::error::{ApiError, Code};
use crate::wire::kinds;
use cuepoint_transport::rate_limits::Class;
use cuepoint_views::Empty;
use cuepoint_views::people::{UserData, UserView};

operations! {
    /// Request a change of the e-mail address
    ///
    /// Sends a code of six digits to the new address, for `confirmEmailChange`. The code is valid for 10 minutes
    /// and five wrong attempts, and replaces an earlier one. If the address belongs to another user, the answer is
    /// the same, and that user gets a message instead of the code.
    ///
    /// A wrong password returns 422 for `password`, and the current address 422 for `email`. A sixth code within an
    /// hour returns 429 `rate_limited`. While the previous address can be restored, the request returns 409
    /// `email_restorable`.
    POST "/api/v1/auth/email/change" "requestEmailChange" {
        tag: Passwords,
        run: authenticated(Action::UseCredentials, request),
        answers: ok::<Empty>("A message is sent to the new address."),
        class: Class::Guess,
        body: json::<EmailChangeBody>(),
        fails: &[Code::EmailRestorable, Code::NotConfigured],
    }

    /// Confirm a change of the e-mail address
    ///
    /// Sets and verifies the address that received the code. The sessions continue. All other open codes and reset
    /// tokens of the user end. For the code, the rules of `verifyEmail` apply. An address that another user took
    /// meanwhile returns 422 for `email`.
    ///
    /// Both addresses get a message with the time of the change. If the previous address was verified, its message
    /// has a token for `restoreEmail`, valid for 7 days. During this time, no other user can take the previous
    /// address, and another change returns 409 `email_restorable`. An unverified previous address is free
    /// immediately.
    ///
    /// For 48 hours after the change, no withdrawal of the user is approved automatically.
    POST "/api/v1/auth/email/confirm" "confirmEmailChange" {
        tag: Passwords,
        run: authenticated(Action::UseCredentials, confirm),
        answers: ok::<UserData>("The profile with the new e-mail address."),
        class: Class::Guess,
        body: json::<VerificationCodeBody>(),
        fails: &[Code::EmailRestorable],
    }

    /// Restore the previous e-mail address
    ///
    /// Returns the user to the previous address, with the token that was sent there, and sets a new password. All
    /// sessions end, and the request has the other effects of `resetPassword`. A token that is unknown, used or
    /// older than 7 days returns 422 for `token`. A refused password does not use up the token.
    ///
    /// If the message with the token was lost, `requestPasswordReset` with the previous address sends it again.
    POST "/api/v1/auth/email/restore" "restoreEmail" {
        tag: Passwords,
        run: anonymous(restore),
        answers: ok::<Empty>("The e-mail address is restored, and the password is set."),
        class: Class::Guess,
        body: json::<EmailRestorationBody>(),
    }
}

body! {
    /// A change of the e-mail address.
    pub struct EmailChangeBody as "EmailChange", example: {
        "email": "ada@new.example.com", "password": "correct horse"
    } {
        /// New e-mail address.
        email: Email = required(kinds::EMAIL),
        /// Current password.
        password: Password = required(kinds::PRESENTED_PASSWORD),
    }
}

body! {
    /// The restoration of the previous e-mail address, with a new password.
    pub struct EmailRestorationBody as "EmailRestoration", example: {
        "token": "bntE_GS4RCx0KV37F1UrUOK6KToVtUo03oh9oh-6w1c", "password": "battery staple"
    } {
        /// Token that was sent to the previous address, valid for 7 days.
        token: Token = required(kinds::TOKEN),
        /// New password. One of the most common passwords in data leaks returns 422.
        password: Password = required(kinds::PASSWORD),
    }
}

async fn request(call: ApiCall, principal: Principal) -> Result<ApiResponse, ApiError> {
    let EmailChangeBody { email, password } = call.body()?;
    let confirmation = Confirmation::Password(&password);
    let requested =
        call.use_cases().email_changes.request(&call.context(&principal), email, confirmation).await;
    call.limits().refund_unhashed(&requested);
    requested?;
    ApiResponse::new("A message is on its way to the new address.", Empty {})
}

async fn confirm(call: ApiCall, principal: Principal) -> Result<ApiResponse, ApiError> {
    let VerificationCodeBody { code: Token(code) } = call.body()?;
    let code = Token(code.trim().to_owned());
    let profile = call.use_cases().email_changes.confirm(&call.context(&principal), &code).await?;
    let user = UserView::new(&profile.user, profile.balance.available, call.currency());
    ApiResponse::new("E-mail address changed.", UserData { user })
}

async fn restore(call: ApiCall) -> Result<ApiResponse, ApiError> {
    let EmailRestorationBody { token, password } = call.counted_body()?;
    let restored = call.use_cases().email_changes.restore(&call.client_context(), &token, &password).await;
    call.limits().refund_unhashed(&restored);
    restored?;
    ApiResponse::new("E-mail address restored.", Empty {})
}
