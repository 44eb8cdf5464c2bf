//! Verification of e-mail addresses and phone numbers by codes.

use cuepoint_domain::application::{Address, CommandError, SendCodeRefusal};
use cuepoint_domain::authorization::{Action, Principal};
use cuepoint_domain::ports::Token;

use crate::call::ApiCall;
use crate::declaration::{json, ok, operations, optional_json};
use crate::endpoint::authenticated;
use crate::wire::body::body;
use crate::wire::envelope::ApiResponse;
use crate::wire::error::{ApiError, Code};
use crate::wire::kinds;
use cuepoint_transport::rate_limits::Class;
use cuepoint_views::Empty;
use cuepoint_views::people::{UserData, UserView};

operations! {
    /// Send a verification code by e-mail
    ///
    /// Sends a code of six digits to the caller's e-mail address, unless it is already verified. The code is valid
    /// for 10 minutes and five wrong attempts, and replaces an earlier one. A sixth code within an hour returns 429
    /// `rate_limited`.
    ///
    /// If the message cannot be sent, the request returns 503 `unavailable`. Then request a new code.
    POST "/api/v1/auth/email/code" "sendEmailCode" {
        tag: Passwords,
        run: authenticated(Action::UseCredentials, send_email_code),
        answers: ok::<Empty>("The code is sent, or the address is verified."),
        body: optional_json::<Empty>(),
        fails: &[Code::NotConfigured],
    }

    /// Verify the e-mail address
    ///
    /// Enters the code that `sendEmailCode` has sent. A code that is wrong, used, replaced, older than 10 minutes
    /// or sent to another address returns 422 for `code`, and so does any code after five wrong attempts.
    POST "/api/v1/auth/email/verify" "verifyEmail" {
        tag: Passwords,
        run: authenticated(Action::UseCredentials, verify_email),
        answers: ok::<UserData>("The profile with the verified e-mail address."),
        class: Class::Guess,
        body: json::<VerificationCodeBody>(),
    }

    /// Send a verification code by phone
    ///
    /// Sends a code of six digits to the caller's phone number, as `sendEmailCode` does by e-mail. Without a
    /// number, it returns 422 for `phone`.
    ///
    /// Within 24 hours, five codes are sent to a number and 20 to a client's network. Further ones return 429
    /// `rate_limited`. Once the deployment has sent `phone.codes_per_day` codes within 24 hours, requests return
    /// 503 `unavailable`.
    POST "/api/v1/auth/phone/code" "sendPhoneCode" {
        tag: Passwords,
        run: authenticated(Action::UseCredentials, send_phone_code),
        answers: ok::<Empty>("The code is sent, or the number is verified."),
        body: optional_json::<Empty>(),
        fails: &[Code::NotConfigured],
    }

    /// Verify the phone number
    ///
    /// Enters the code that `sendPhoneCode` has sent. The rules of `verifyEmail` apply.
    POST "/api/v1/auth/phone/verify" "verifyPhone" {
        tag: Passwords,
        run: authenticated(Action::UseCredentials, verify_phone),
        answers: ok::<UserData>("The profile with the verified phone number."),
        class: Class::Guess,
        body: json::<VerificationCodeBody>(),
    }
}

body! {
    /// A verification code.
    pub struct VerificationCodeBody as "VerificationCode", example: {"code": "042137"} {
        /// The six digits of the code.
        code: Token = required(kinds::TOKEN),
    }
}

async fn send_email_code(call: ApiCall, principal: Principal) -> Result<ApiResponse, ApiError> {
    send(&call, &principal, Address::Email).await
}

async fn send_phone_code(call: ApiCall, principal: Principal) -> Result<ApiResponse, ApiError> {
    send(&call, &principal, Address::Phone).await
}

async fn verify_email(call: ApiCall, principal: Principal) -> Result<ApiResponse, ApiError> {
    verify(&call, &principal, Address::Email).await
}

async fn verify_phone(call: ApiCall, principal: Principal) -> Result<ApiResponse, ApiError> {
    verify(&call, &principal, Address::Phone).await
}

async fn send(call: &ApiCall, principal: &Principal, address: Address) -> Result<ApiResponse, ApiError> {
    let sent = call.use_cases().verifications.send_code(&call.context(principal), address).await;
    let budget_spent = matches!(sent, Err(CommandError::Refused(SendCodeRefusal::BudgetSpent(_))));
    if budget_spent && call.api.phone_budget_warning.is_due() {
        tracing::warn!(
            "phone.codes_per_day is used up: no code is sent to a phone until earlier codes are older than 24 hours"
        );
    }
    sent?;
    ApiResponse::new("A code was sent, unless the address is already verified.", Empty {})
}

async fn verify(call: &ApiCall, principal: &Principal, address: Address) -> Result<ApiResponse, ApiError> {
    let VerificationCodeBody { code: Token(code) } = call.body()?;
    let code = Token(code.trim().to_owned());
    let profile = call.use_cases().verifications.verify(&call.context(principal), address, &code).await?;
    let user = UserView::new(&profile.user, profile.balance.available, call.currency());
    ApiResponse::new("Verified.", UserData { user })
}
