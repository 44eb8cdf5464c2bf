//! Payments: the top-up that a request or the wallet needs, its state, and the request that waits for it.

use cuepoint_domain::application::commands::{OpenTopup, OpenTopupRefusal};
use cuepoint_domain::application::queries::{GuestView, SeenTopup};
use cuepoint_domain::authorization::{Action, Principal};
use cuepoint_domain::gig::DjCode;
use cuepoint_domain::money::{Amount, Money};
use cuepoint_domain::provider_reference::ProviderReference;
use cuepoint_domain::topup::{Topup, missing};
use cuepoint_pages::forms::{FieldState, Keys};
use cuepoint_pages::frame::{Frame, Live};
use cuepoint_pages::guest::Closed;
use cuepoint_pages::payment::{Draft, PaymentPage, PaymentPart, PaymentState, StrangerPaymentPage};
use cuepoint_pages::texts::Text;
use cuepoint_transport::rate_limits::Class;

use super::guest::{RequestFields, found_with};
use super::wallet;
use crate::call::{FormKey, PageCall};
use crate::cookies::PageCookie;
use crate::failure::{PageFailure, or_refusal};
use crate::form::Form;
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
pub(super) fn refusal(call: &PageCall, refusal: OpenTopupRefusal) -> Text {
    let frame = call.frame(None);
    match refusal {
        OpenTopupRefusal::NotOffered => frame.t.no_payments(),
        OpenTopupRefusal::RefusedByProvider => frame.t.payment_refused(),
        OpenTopupRefusal::TooSmall(least) => frame.refused_topup_minimum(least),
        OpenTopupRefusal::GuestLimit(limit) => frame.refused_guest_topup(limit),
    }
}

/// Opens a top-up, once for each key.
///
/// # Errors
/// [`PageFailure`]; the refusal is inside.
pub(super) async fn open(
    call: &PageCall,
    principal: &Principal,
    key: &FormKey,
    amount: Amount,
) -> Result<Result<Topup, OpenTopupRefusal>, PageFailure> {
    let what = call.currency().print(amount.money());
    let opened = or_refusal(call.run(principal, Some(key), OpenTopup, amount, &what).await)?;
    Ok(opened.map(|done| done.value))
}

/// Opens the top-up of what a request lacks.
pub(super) async fn open_missing(
    call: &PageCall,
    principal: &Principal,
    key: &FormKey,
    fee: Money,
) -> Result<Result<Topup, OpenTopupRefusal>, PageFailure> {
    let available = call.profile().await?.map_or(Money::ZERO, |profile| profile.balance.available);
    let amount = missing(fee, available, call.use_cases().settings.least_topup());
    let amount = amount.ok_or(PageFailure::Outdated)?;
    open(call, principal, &key.derived(&format!("topup-{}", fee.minor())), amount).await
}

/// The page of a top-up.
pub(super) fn path_of(topup: &Topup) -> String {
    format!("/topups/{}", topup.reference())
}

/// `POST /topups`: another payment of the wallet's owner.
async fn another(call: PageCall, principal: Principal) -> Result<PageResponse, PageFailure> {
    let key = FormKey::of(&call.form)?;
    let (typed, frame) = (call.form.text("amount"), call.frame(None));
    let amount = match call.currency().parse_typed(typed) {
        Ok(money) => Amount::new(money).ok_or_else(|| frame.t.amount_above_zero()),
        Err(error) => Err(frame.refused_money(error)),
    };
    let amount = match amount {
        Ok(amount) => amount,
        Err(error) => return refused(&call, &principal, typed, error).await,
    };
    match open(&call, &principal, &key, amount).await? {
        Ok(topup) => Ok(PageResponse::see(&path_of(&topup))),
        Err(reason) => refused(&call, &principal, typed, refusal(&call, reason)).await,
    }
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

/// The wallet of a principal who lacks money for something of this price, with the amount of the top-up.
pub(super) async fn lacking(
    call: &PageCall,
    principal: &Principal,
    price: Money,
) -> Result<PageResponse, PageFailure> {
    let available = call.profile().await?.map_or(Money::ZERO, |profile| profile.balance.available);
    let frame = call.frame(None);
    let lacking = missing(price, available, call.use_cases().settings.least_topup());
    let typed = lacking.map(|amount| frame.number(amount.money())).unwrap_or_default();
    refused(call, principal, &typed, frame.t.not_enough_money()).await
}

/// The request that waits for its payment, from the cookie.
pub(super) struct WaitingRequest {
    pub(super) form: Form,
    pub(super) code: DjCode,
}

impl WaitingRequest {
    /// The one of this browser.
    pub(super) fn of(call: &PageCall) -> Option<Self> {
        let form = Form::parse(call.cookie(PageCookie::Draft)?.as_bytes());
        let code = DjCode::new(form.text("code"))?;
        Some(Self { form, code })
    }

    fn fee(&self, call: &PageCall) -> Money {
        RequestFields::read(&self.form, call.currency()).fee.unwrap_or(Money::ZERO)
    }
}

async fn show(call: PageCall) -> Result<PageResponse, PageFailure> {
    let seen = seen(&call).await?;
    let waiting = WaitingRequest::of(&call);
    let gig = waiting.as_ref().map(|waiting| waiting.code);
    match seen {
        SeenTopup::Other(status) => {
            let frame = call.frame(None);
            let page = StrangerPaymentPage { frame: &frame, state: status.into(), gig };
            Ok(PageResponse::page(page.render()))
        }
        SeenTopup::Own(topup) => {
            let reader = call.profile().await?;
            let frame = call.frame(reader.as_ref());
            let shown = Shown::new(&call, &topup, waiting.as_ref()).await?;
            let page = PaymentPage { frame: &frame, part: shown.part(&call, &frame, &topup) };
            Ok(PageResponse::page(page.render()))
        }
    }
}

async fn live(call: PageCall) -> Result<PageResponse, PageFailure> {
    let SeenTopup::Own(topup) = seen(&call).await? else { return Err(PageFailure::NotFound) };
    let waiting = WaitingRequest::of(&call);
    let frame = call.frame(None);
    let shown = Shown::new(&call, &topup, waiting.as_ref()).await?;
    Ok(call.part(shown.part(&call, &frame, &topup).render()))
}

async fn seen(call: &PageCall) -> Result<SeenTopup, PageFailure> {
    let reference: ProviderReference = call.parameter.parse().map_err(|_| PageFailure::NotFound)?;
    Ok(call.use_cases().topups.seen(call.principal.as_ref(), reference).await?)
}

/// What the page shows of a top-up.
struct Shown<'a> {
    waiting: Option<&'a WaitingRequest>,
    /// Why the waiting request cannot be sent any more.
    closed: Option<Closed>,
    available: Money,
    key: String,
    path: String,
}

impl<'a> Shown<'a> {
    async fn new(
        call: &PageCall,
        topup: &Topup,
        waiting: Option<&'a WaitingRequest>,
    ) -> Result<Self, PageFailure> {
        let available = call.profile().await?.map_or(Money::ZERO, |profile| profile.balance.available);
        let view = match waiting {
            Some(waiting) => found_with(call, &waiting.code.to_string()).await?,
            None => None,
        };
        // The part keeps what the page knows about the way back.
        let returned = if call.query.has("returned") { "?returned=1" } else { "" };
        let closed = |view: GuestView| Closed::of_board(&view.board, view.ended_at.is_some());
        Ok(Self {
            waiting,
            closed: view.and_then(closed),
            available,
            key: call.new_key(),
            path: format!("{}/live{returned}", path_of(topup)),
        })
    }

    fn part<'s>(&'s self, call: &'s PageCall, frame: &'s Frame<'s>, topup: &'s Topup) -> PaymentPart<'s> {
        // The payment page sends the browser back by a link of its own.
        let has_returned = call.query.has("returned");
        let state = PaymentState::of(topup, has_returned, self.available, frame);
        let state = match (state, self.waiting, self.closed) {
            (PaymentState::Confirmed { .. }, Some(_), Some(closed)) => PaymentState::ConfirmedTooLate(closed),
            (PaymentState::Confirmed { .. }, Some(waiting), None) => {
                PaymentState::ConfirmedWithDraft(Draft {
                    song_title: waiting.form.text("song_title"),
                    artist_name: waiting.form.text("artist_name"),
                    fee: waiting.fee(call),
                })
            }
            (state, _, _) => state,
        };
        PaymentPart {
            frame,
            reference: topup.reference(),
            amount: topup.amount,
            state,
            gig: self.waiting.map(|waiting| waiting.code),
            keys: Keys::new(&self.key),
            live: Live { path: &self.path, stream: None },
        }
    }
}
