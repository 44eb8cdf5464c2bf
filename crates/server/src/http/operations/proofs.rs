//! Proof of an address: a code is sent, and a code is taken.

use cuepoint_domain::access::Caller;
use cuepoint_domain::ports::Token;
use cuepoint_domain::service::{Address, SendCodeError};

use crate::http::call::Call;
use crate::http::openapi::bodies::VerificationCode;
use crate::http::operations::views::{Nothing, User, UserData};
use crate::http::wire::envelope::{Answer, Success};
use crate::http::wire::error::ApiError;
use crate::http::wire::values;

/// Sends a code of six digits to the caller's e-mail address.
///
/// It is good for 10 minutes, five wrong answers and one right one; another one takes its place. No more than five are
/// sent within an hour, and none where the address is proven already.
#[utoipa::path(
    post,
    path = "/api/v1/auth/email/code",
    operation_id = "sendEmailCode",
    tag = "Accounts",
    request_body = Nothing,
    responses((status = 200, description = "The code is sent.", body = Success<Nothing>)),
)]
pub async fn send_email_code(call: Call, caller: Caller) -> Result<Answer, ApiError> {
    send(&call, &caller, Address::Email).await
}

/// Sends a code of six digits to the caller's phone.
///
/// As with e-mail; without a phone number in the profile it is a 422 of `phone`. Within 24 hours at most five are sent to a
/// number, and 20 for a client's network. It is a 503 once the deployment has sent `phone.codes_per_day` within 24 hours.
#[utoipa::path(
    post,
    path = "/api/v1/auth/phone/code",
    operation_id = "sendPhoneCode",
    tag = "Accounts",
    request_body = Nothing,
    responses((status = 200, description = "The code is sent.", body = Success<Nothing>)),
)]
pub async fn send_phone_code(call: Call, caller: Caller) -> Result<Answer, ApiError> {
    send(&call, &caller, Address::Phone).await
}

/// Proves the caller's e-mail address by the code that was sent to it.
#[utoipa::path(
    post,
    path = "/api/v1/auth/email/verify",
    operation_id = "verifyEmail",
    tag = "Accounts",
    request_body = VerificationCode,
    responses((status = 200, description = "The address is proven.", body = Success<UserData>)),
)]
pub async fn verify_email(call: Call, caller: Caller) -> Result<Answer, ApiError> {
    verify(&call, &caller, Address::Email).await
}

/// Proves the caller's phone number by the code that was sent to it.
#[utoipa::path(
    post,
    path = "/api/v1/auth/phone/verify",
    operation_id = "verifyPhone",
    tag = "Accounts",
    request_body = VerificationCode,
    responses((status = 200, description = "The number is proven.", body = Success<UserData>)),
)]
pub async fn verify_phone(call: Call, caller: Caller) -> Result<Answer, ApiError> {
    verify(&call, &caller, Address::Phone).await
}

async fn send(call: &Call, caller: &Caller, address: Address) -> Result<Answer, ApiError> {
    let sent = call.app.services.proofs.send_code(caller, address, &call.visitor()).await;
    if matches!(sent, Err(SendCodeError::BudgetSpent(_))) && call.app.phone_budget_warning.is_due() {
        tracing::warn!(
            "phone.codes_per_day is used up: no code is sent to a phone until earlier ones are older than 24 hours"
        );
    }
    sent?;
    Answer::ok("Code sent, unless it was proven before.", Nothing {})
}

async fn verify(call: &Call, caller: &Caller, address: Address) -> Result<Answer, ApiError> {
    let mut fields = call.fields();
    let code = fields.required("code", values::presented);
    let code = fields.complete(|| code.map(|code| Token(code.trim().to_owned())))?;
    let profile = call.app.services.proofs.verify(caller, address, &code, call.visitor()).await?;
    let user = User::new(&profile.user, profile.balance.available, call.currency());
    Answer::ok("Verified.", UserData { user })
}
