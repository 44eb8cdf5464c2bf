//! The forms of withdrawals: check, confirmation, cancellation.

use actix_web::http::StatusCode;
use cuepoint_domain::application::CommandError;
use cuepoint_domain::application::commands::{
    CancelWithdrawal, MoveWithdrawalRefusal, OpenWithdrawal, OpenWithdrawalRefusal,
};
use cuepoint_domain::authorization::Principal;
use cuepoint_domain::ids::WithdrawalId;
use cuepoint_domain::withdrawal::NewWithdrawal;
use cuepoint_pages::wallet::ConfirmPayoutPage;

use super::page::{self, Refused};
use super::payout_fields::PayoutFields;
use crate::call::{FormKey, PageCall};
use crate::failure::PageFailure;
use crate::recent_password::{self, Confirmed};
use crate::response::{INVALID, PageResponse};

/// The fields that a withdrawal consists of.
const FIELDS: &[&str] = &["amount", "currency", "network", "wallet_address"];
/// The fields of the confirmation, which the page that asks for the password keeps.
const KEPT: &[&str] = &["key", "amount", "currency", "network", "wallet_address"];

/// `POST /wallet/payout`: the withdrawal is shown once more. Nothing changes.
pub(super) async fn check(call: PageCall, principal: Principal) -> Result<PageResponse, PageFailure> {
    let reader = call.profile().await?;
    let frame = call.frame(reader.as_ref());
    let new = match PayoutFields::read(&call.form, &frame) {
        Ok(new) => new,
        Err(fields) => return again(&call, &principal, Some(*fields)).await,
    };
    let checked = match call.use_cases().withdrawals.preview(&principal, new).await {
        Ok(checked) => checked,
        Err(error) => return refused(&call, &principal, error).await,
    };
    let NewWithdrawal { amount, wallet_address, currency, network } = &checked;
    let key = call.new_key();
    let page = ConfirmPayoutPage {
        frame: &frame,
        key: &key,
        amount: amount.get(),
        currency,
        network,
        wallet_address,
    };
    Ok(call.html(StatusCode::OK, page.render()))
}

/// `POST /wallet/payout/confirm`: the withdrawal, once for each key.
pub(super) async fn open(call: PageCall, principal: Principal) -> Result<PageResponse, PageFailure> {
    let key = FormKey::of(&call.form)?;
    let new = match PayoutFields::read(&call.form, &call.frame(None)) {
        Ok(new) => new,
        Err(fields) => return again(&call, &principal, Some(*fields)).await,
    };
    let repeated = match recent_password::ensure(&call, &principal, KEPT).await? {
        Confirmed::Recent(repeated) => repeated,
        Confirmed::Asked(page) => return Ok(page),
    };
    let what = call.form.only(FIELDS).encode();
    let answer = match call.run(&principal, Some(&key), OpenWithdrawal, new, &what).await {
        Ok(done) => PageResponse::see(&path_of(done.value.withdrawal.id)),
        Err(error) => refused(&call, &principal, error).await?,
    };
    Ok(repeated.kept_by(answer))
}

/// `POST /withdrawals/{id}/cancel`.
pub(super) async fn cancel(call: PageCall, principal: Principal) -> Result<PageResponse, PageFailure> {
    let (key, id) = (FormKey::of(&call.form)?, call.id(WithdrawalId::new)?);
    match call.run(&principal, Some(&key), CancelWithdrawal { id }, (), &id.to_string()).await {
        Ok(_) => Ok(PageResponse::see(&path_of(id))),
        Err(CommandError::Refused(MoveWithdrawalRefusal::InvalidTransition(transition))) => {
            Err(transition.into())
        }
        Err(CommandError::Refused(_)) => Err(PageFailure::NotAllowed),
        Err(CommandError::Input(never)) => match never {},
        Err(CommandError::Failed(failure)) => Err(failure.into()),
    }
}

fn path_of(id: WithdrawalId) -> String {
    format!("/wallet#withdrawal-{id}")
}

async fn refused(
    call: &PageCall,
    principal: &Principal,
    error: CommandError<OpenWithdrawalRefusal>,
) -> Result<PageResponse, PageFailure> {
    match error {
        CommandError::Refused(refusal) => {
            again(call, principal, PayoutFields::refused(&call.form, &refusal, &call.frame(None))).await
        }
        CommandError::Input(never) => match never {},
        CommandError::Failed(failure) => Err(failure.into()),
    }
}

/// The wallet with what was sent, and what is wrong.
async fn again(
    call: &PageCall,
    principal: &Principal,
    fields: Option<PayoutFields>,
) -> Result<PageResponse, PageFailure> {
    let payout = fields.unwrap_or_else(|| PayoutFields::sent(&call.form));
    page::render(call, principal, INVALID, Refused { payout, ..Refused::default() }).await
}
