//! Payments: the top-up that a request, a tip or the wallet needs, and its state.

use cuepoint_domain::application::commands::{OpenTopup, OpenTopupRefusal};
use cuepoint_domain::application::queries::{GuestView, SeenTopup};
use cuepoint_domain::authorization::{Action, Principal};
use cuepoint_domain::gig::DjCode;
use cuepoint_domain::money::{Amount, Money};
use cuepoint_domain::provider_reference::ProviderReference;
use cuepoint_domain::topup::{Topup, TopupStatus, missing};
use cuepoint_pages::forms::{FieldState, Keys};
use cuepoint_pages::frame::{Frame, Live};
use cuepoint_pages::payment::{
    PaymentPage, PaymentPart, PaymentState, StrangerPaymentPage, StrangerPaymentPart,
};
use cuepoint_pages::texts::Text;
use cuepoint_transport::rate_limits::Class;

use super::draft::Draft;
use super::draft_state;
use super::guest::found_with;
use super::wallet;
use crate::call::{FormKey, PageCall};
use crate::failure::{PageFailure, or_refusal};
use crate::response::{INVALID, PageResponse};
use crate::route::{PageRoute, own_form, page};

pub(super) fn routes() -> Vec<PageRoute> {
    vec![
        page("/topups/{reference}", show),
        page("/topups/{reference}/live", live),
        own_form("/topups", Action::UseWallet, Class::Other, another),
    ]
}

/// Why a top-up is refused, in words.
fn refusal(call: &PageCall, refusal: OpenTopupRefusal) -> Text {
    let frame = call.frame(None);
    match refusal {
        OpenTopupRefusal::NotOffered => frame.t.no_payments(),
        OpenTopupRefusal::RefusedByProvider => frame.t.payment_refused(),
        OpenTopupRefusal::TooSmall(least) => frame.refused_topup_minimum(least),
        OpenTopupRefusal::GuestLimit(limit) => frame.refused_guest_topup(limit),
    }
}

/// Opens a top-up, once for each key. `page_code` is the code of the page on which the payment begins, and `what` names
/// everything that the form decides.
async fn open(
    call: &PageCall,
    principal: &Principal,
    key: &FormKey,
    (amount, page_code): (Amount, Option<DjCode>),
    what: &str,
) -> Result<Result<Topup, OpenTopupRefusal>, PageFailure> {
    let opened = call.run(principal, Some(key), OpenTopup { page_code }, amount, what).await;
    Ok(or_refusal(opened)?.map(|done| done.value))
}

/// What a guest who lacked money does next.
pub(super) enum Lack {
    /// Nothing: the money is there by now.
    Paid,
    /// The guest pays, and the draft is sent afterwards.
    Leads(PageResponse),
    /// No payment is possible, for this reason.
    Refused(Text),
}

/// Opens the top-up of what a draft lacks, once for each key, and keeps the draft until the money arrives.
pub(super) async fn lead(
    call: &PageCall,
    principal: &Principal,
    key: &FormKey,
    draft: Draft,
) -> Result<Lack, PageFailure> {
    let available = call.profile().await?.map_or(Money::ZERO, |profile| profile.balance.available);
    let price = draft.price(call.currency());
    let Some(amount) = missing(price, available, call.use_cases().settings.least_topup()) else {
        return Ok(Lack::Paid);
    };
    // A form that is sent again leads to the same payment, also if the balance has changed meanwhile.
    let key = key.derived(&format!("topup-{}", price.minor()));
    let what = call.currency().print(price);
    Ok(match open(call, principal, &key, (amount, Some(draft.code)), &what).await? {
        Ok(topup) if topup.status == TopupStatus::Confirmed => Lack::Paid,
        Ok(topup) => {
            let draft = draft.paid_by(topup.reference());
            Lack::Leads(PageResponse::see(&path_of(&topup)).with_cookie(&draft.cookie(call)))
        }
        Err(reason) => Lack::Refused(refusal(call, reason)),
    })
}

/// The amount that a guest typed, or what is wrong with it.
pub(super) fn typed_amount(call: &PageCall, typed: &str) -> Result<Amount, Text> {
    let frame = call.frame(None);
    match call.currency().parse_typed(typed) {
        Ok(money) => Amount::new(money).ok_or_else(|| frame.t.amount_above_zero()),
        Err(error) => Err(frame.refused_money(error)),
    }
}

/// The page of a top-up.
fn path_of(topup: &Topup) -> String {
    format!("/topups/{}", topup.reference())
}

/// `POST /topups`: another payment of the wallet's owner. One that begins on the page of a failed payment is for the same
/// draft, which waits for it as long again.
async fn another(call: PageCall, principal: Principal) -> Result<PageResponse, PageFailure> {
    let key = FormKey::of(&call.form)?;
    let typed = call.form.text("amount");
    let amount = match typed_amount(&call, typed) {
        Ok(amount) => amount,
        Err(error) => return refused(&call, &principal, typed, error).await,
    };
    let page_code = DjCode::new(call.form.text("code"));
    let what = call.currency().print(amount.money());
    let topup = match open(&call, &principal, &key, (amount, page_code), &what).await? {
        Ok(topup) => topup,
        Err(reason) => return refused(&call, &principal, typed, refusal(&call, reason)).await,
    };
    let answer = PageResponse::see(&path_of(&topup));
    let failed: Option<ProviderReference> = call.form.text("instead_of").parse().ok();
    let draft = Draft::of(&call).filter(|draft| failed.is_some_and(|failed| draft.is_paid_by(failed)));
    Ok(match draft {
        Some(draft) => answer.with_cookie(&draft.paid_by(topup.reference()).cookie(&call)),
        None => answer,
    })
}

/// The wallet with the amount of a refused top-up and its error.
async fn refused(
    call: &PageCall,
    principal: &Principal,
    typed: &str,
    error: Text,
) -> Result<PageResponse, PageFailure> {
    let is_offered = call.use_cases().settings.takes_topups();
    let notice = (!is_offered).then(|| error.clone());
    let refused = wallet::Refused { topup: FieldState::refused(typed, error), notice, ..Default::default() };
    wallet::render(call, principal, INVALID, refused).await
}

async fn show(call: PageCall) -> Result<PageResponse, PageFailure> {
    match seen(&call).await? {
        (SeenTopup::Other { status, page_code }, _) => {
            let frame = call.frame(None);
            let path = format!("{}/live", call.path());
            let part = strangers_part(&frame, (status, page_code), &path);
            Ok(PageResponse::page(StrangerPaymentPage { frame: &frame, part }.render()))
        }
        (SeenTopup::Own(topup), owner) => {
            let reader = call.profile().await?;
            let frame = call.frame(reader.as_ref());
            let shown = Shown::new(&call, &topup, owner).await?;
            let page = PaymentPage { frame: &frame, part: shown.part(&call, &frame, &topup) };
            Ok(PageResponse::page(page.render()))
        }
    }
}

async fn live(call: PageCall) -> Result<PageResponse, PageFailure> {
    let frame = call.frame(None);
    match seen(&call).await? {
        (SeenTopup::Other { status, page_code }, _) => {
            Ok(call.part(strangers_part(&frame, (status, page_code), call.path()).render()))
        }
        (SeenTopup::Own(topup), owner) => {
            let shown = Shown::new(&call, &topup, owner).await?;
            Ok(call.part(shown.part(&call, &frame, &topup).render()))
        }
    }
}

/// What a reader without the owner's session sees of a top-up, at this path of the live part.
fn strangers_part<'a>(
    frame: &'a Frame<'a>,
    (status, gig): (TopupStatus, Option<DjCode>),
    path: &'a str,
) -> StrangerPaymentPart<'a> {
    StrangerPaymentPart { frame, state: status.into(), gig, live: Live { path, stream: None } }
}

/// The top-up as this browser sees it, and the principal who sees it: the principal of the session, or a kept guest
/// account.
async fn seen(call: &PageCall) -> Result<(SeenTopup, Option<Principal>), PageFailure> {
    let reference: ProviderReference = call.parameter.parse().map_err(|_| PageFailure::NotFound)?;
    let topups = &call.use_cases().topups;
    let seen = topups.seen(call.principal.as_ref(), reference).await?;
    if let SeenTopup::Other { .. } = seen {
        for guest in call.kept_guests().await? {
            if let own @ SeenTopup::Own(_) = topups.seen(Some(&guest), reference).await? {
                return Ok((own, Some(guest)));
            }
        }
    }
    Ok((seen, call.principal))
}

/// What the page shows of a top-up.
struct Shown {
    /// What waits for its payment.
    draft: Option<Draft>,
    /// What the guest sees of the gig of a draft whose money has arrived.
    view: Option<GuestView>,
    available: Money,
    is_of_kept_guest: bool,
    key: String,
    path: String,
}

impl Shown {
    async fn new(call: &PageCall, topup: &Topup, owner: Option<Principal>) -> Result<Self, PageFailure> {
        let draft = Draft::of(call);
        let (available, view) = match topup.status {
            TopupStatus::Confirmed => {
                let view = match &draft {
                    Some(draft) => found_with(call, draft.code.as_str()).await?,
                    None => None,
                };
                (available_to(call, owner).await?, view)
            }
            _ => (Money::ZERO, None),
        };
        // The part keeps what the page knows about the way back.
        let returned = if call.query.has("returned") { "?returned=1" } else { "" };
        Ok(Self {
            draft,
            view,
            available,
            is_of_kept_guest: owner != call.principal,
            key: call.new_key(),
            path: format!("{}/live{returned}", path_of(topup)),
        })
    }

    fn part<'s>(&'s self, call: &'s PageCall, frame: &'s Frame<'s>, topup: &'s Topup) -> PaymentPart<'s> {
        // The payment page sends the browser back by a link of its own.
        let has_returned = call.query.has("returned");
        let draft = self.draft.as_ref();
        let state = match (PaymentState::of(topup, has_returned, self.available, frame), draft) {
            (PaymentState::Confirmed { available }, Some(draft)) => {
                draft_state::once_paid(draft, self.view.as_ref(), available, call.currency())
                    .unwrap_or(PaymentState::Confirmed { available })
            }
            (state, _) => state,
        };
        PaymentPart {
            frame,
            reference: topup.reference(),
            amount: topup.amount,
            state,
            draft_key: draft.map_or("", |draft| draft.form.text("key")),
            pays_for: draft
                .filter(|draft| draft.is_paid_by(topup.reference()))
                .map(|draft| draft_state::described(draft, self.view.as_ref(), call.currency())),
            gig: topup.page_code.or(draft.map(|draft| draft.code)),
            is_of_kept_guest: self.is_of_kept_guest,
            keys: Keys::new(&self.key),
            live: Live { path: &self.path, stream: None },
        }
    }
}

/// The available balance of the owner of a top-up.
async fn available_to(call: &PageCall, owner: Option<Principal>) -> Result<Money, PageFailure> {
    let Some(owner) = owner else { return Ok(Money::ZERO) };
    Ok(call.use_cases().profiles.own(&owner).await?.balance.available)
}
