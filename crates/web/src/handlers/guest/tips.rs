//! `POST /g/{code}/tips`: a tip of the guest to the DJ.

use cuepoint_domain::application::commands::{TipDj, TipDjRefusal};
use cuepoint_domain::authorization::Principal;
use cuepoint_domain::gig::DjCode;
use cuepoint_domain::money::Amount;
use cuepoint_pages::done::DoneNotice;
use cuepoint_pages::forms::FieldState;
use cuepoint_pages::texts::Text;

use super::page::{self, NewEntry};
use crate::call::{FormKey, PageCall};
use crate::failure::{PageFailure, or_refusal};
use crate::handlers::display;
use crate::handlers::draft::Draft;
use crate::handlers::payment::{self, Lack};
use crate::response::{INVALID, PageResponse};

/// Gives the tip, or leads to the payment of what is missing.
pub(super) async fn send(call: PageCall, principal: Principal) -> Result<PageResponse, PageFailure> {
    let key = FormKey::of(&call.form)?;
    // Unknown codes count, so that tips try none.
    let code = display::board(&call).await?.code;
    let amount = match payment::typed_amount(&call, typed(&call)) {
        Ok(amount) => amount,
        Err(error) => return again(&call, error, true).await,
    };
    match attempt(&call, &principal, &key, code, amount).await {
        Ok(Err(TipDjRefusal::InsufficientFunds)) => {}
        Ok(done) => return answered(&call, code, done).await,
        // The last gig is long over, or the DJ is suspended.
        Err(PageFailure::NotFound) => return again(&call, call.language.texts().offline_title(), true).await,
        Err(failure) => return Err(failure),
    }
    let draft = Draft::of_tip((&principal, code), &key, amount, call.currency());
    match payment::lead(&call, &principal, &key, draft).await? {
        Lack::Paid => answered(&call, code, attempt(&call, &principal, &key, code, amount).await?).await,
        Lack::Leads(answer) => Ok(answer),
        Lack::Refused(error) => again(&call, error, true).await,
    }
}

/// The amount of the button or of the field.
fn typed(call: &PageCall) -> &str {
    match call.form.text("preset") {
        "" => call.form.text("amount"),
        preset => preset,
    }
}

/// Runs the command, once for each key.
async fn attempt(
    call: &PageCall,
    principal: &Principal,
    key: &FormKey,
    code: DjCode,
    amount: Amount,
) -> Result<Result<(), TipDjRefusal>, PageFailure> {
    let what = format!("{code} {}", call.currency().print(amount.money()));
    let done = call.run(principal, Some(key), TipDj { code }, amount, &what).await;
    Ok(or_refusal(done)?.map(drop))
}

async fn answered(
    call: &PageCall,
    code: DjCode,
    done: Result<(), TipDjRefusal>,
) -> Result<PageResponse, PageFailure> {
    let frame = call.frame(None);
    let lacks = matches!(done, Err(TipDjRefusal::InsufficientFunds));
    let error = match done {
        Ok(()) => {
            return Ok(Draft::forgotten_with(
                call,
                PageResponse::done(&format!("/g/{code}"), DoneNotice::Tipped),
            ));
        }
        Err(TipDjRefusal::Rule(refusal)) => frame.refused_tip(refusal),
        Err(TipDjRefusal::WalletOwes(_)) => frame.t.wallet_owes(),
        Err(TipDjRefusal::InsufficientFunds) => frame.t.not_enough_money(),
    };
    again(call, error, !lacks).await
}

/// The page with the amount, and what is wrong with it. `has_money` says whether what was paid for a draft is there.
async fn again(call: &PageCall, error: Text, has_money: bool) -> Result<PageResponse, PageFailure> {
    let view = page::found(call).await?.ok_or(PageFailure::NotFound)?;
    let view = page::with_kept_guests(call, view).await?;
    let reader = call.profile().await?;
    let t = call.language.texts();
    let tip = FieldState::refused(typed(call), error.clone());
    // A card may be gone, so that the message stands above the page, too. The guest paid for a draft, and learns where the
    // money is.
    let notice = match Draft::is_sent_by(call) && has_money {
        true => format!("{} {error} {}", t.tip_not_given(), t.draft_money()).into(),
        false => error,
    };
    let entry = NewEntry { tip, notice: Some(notice), ..NewEntry::default() };
    page::render(call, INVALID, &view, reader.as_ref(), entry).await
}
