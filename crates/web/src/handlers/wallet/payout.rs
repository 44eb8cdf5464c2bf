//! The forms of withdrawals: check, confirmation, cancellation.

use cuepoint_domain::address::AddressPolicy;
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
use crate::failure::{PageFailure, or_refusal};
use crate::recent_password::{self, Confirmed};
use crate::response::{INVALID, PageResponse};

/// A person types the address, and no program has checked it.
const OPEN: OpenWithdrawal = OpenWithdrawal { address_policy: AddressPolicy::Strict };

/// The fields that a withdrawal consists of.
const FIELDS: &[&str] = &["amount", "payout", "wallet_address"];
/// The fields of the confirmation, which the page that asks for the password keeps.
const KEPT: &[&str] = &["key", "amount", "payout", "wallet_address"];

/// `POST /wallet/payout`: the withdrawal is shown once more. Nothing changes.
pub(super) async fn check(call: PageCall, principal: Principal) -> Result<PageResponse, PageFailure> {
    let reader = call.profile().await?;
    let frame = call.frame(reader.as_ref());
    let new = match PayoutFields::read(&call.form, &frame) {
        Ok(new) => new,
        Err(fields) => return again(&call, &principal, Some(*fields)).await,
    };
    let checked = match or_refusal(call.use_cases().withdrawals.preview(&principal, OPEN, new).await)? {
        Ok(checked) => checked,
        Err(refusal) => return refused(&call, &principal, &refusal).await,
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
    Ok(PageResponse::page(page.render()))
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
    let opened = call.run(&principal, Some(&key), OPEN, new, &what).await;
    let answer = match or_refusal(opened)? {
        Ok(done) => PageResponse::see(&path_of(done.value.withdrawal.id)),
        Err(refusal) => refused(&call, &principal, &refusal).await?,
    };
    Ok(repeated.kept_by(answer))
}

/// `POST /withdrawals/{id}/cancel`.
pub(super) async fn cancel(call: PageCall, principal: Principal) -> Result<PageResponse, PageFailure> {
    let (key, id) = (FormKey::of(&call.form)?, call.id(WithdrawalId::new)?);
    match or_refusal(call.run(&principal, Some(&key), CancelWithdrawal { id }, (), &id.to_string()).await)? {
        Ok(_) => Ok(PageResponse::see(&path_of(id))),
        Err(MoveWithdrawalRefusal::InvalidTransition(transition)) => Err(transition.into()),
        Err(_) => Err(PageFailure::NotAllowed),
    }
}

fn path_of(id: WithdrawalId) -> String {
    format!("/wallet#withdrawal-{id}")
}

async fn refused(
    call: &PageCall,
    principal: &Principal,
    refusal: &OpenWithdrawalRefusal,
) -> Result<PageResponse, PageFailure> {
    again(call, principal, PayoutFields::refused(&call.form, refusal, &call.frame(None))).await
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
