//! `POST /g/{code}/requests`: the request of a guest, who may have no account and no money yet.

use cuepoint_domain::application::BrowserSession;
use cuepoint_domain::application::commands::{OpenRequest, OpenRequestRefusal};
use cuepoint_domain::application::queries::GuestView;
use cuepoint_domain::authorization::Principal;
use cuepoint_domain::gig::DjCode;
use cuepoint_domain::gig::consent::{Asked, Consent, Found, Questions, consent};
use cuepoint_domain::money::Money;
use cuepoint_domain::music_request::{Agreement, MusicRequest, NewRequest, OpenRefusal};
use cuepoint_domain::text::Line;
use cuepoint_domain::user::guest_account::GuestKey;
use cuepoint_pages::done::DoneNotice;
use cuepoint_pages::guest::Closed;
use cuepoint_pages::payment::DraftPurpose;

use super::page::{self, NewEntry};
use super::request_fields::{GUEST_WALLET, ReadRequest, RequestFields, written};
use super::tips;
use crate::call::{FormKey, PageCall};
use crate::failure::{PageFailure, or_refusal};
use crate::guest_cookie::NextGuestCookie;
use crate::handlers::draft::Draft;
use crate::handlers::payment::{self, Lack};
use crate::response::{INVALID, PageResponse};
use crate::session;

/// What became of a request.
type Attempt = Result<MusicRequest, OpenRequestRefusal>;

/// `POST /g/{code}/draft`: the request or the tip that waited for its payment, by its own key.
pub(super) async fn send_draft(call: PageCall) -> Result<PageResponse, PageFailure> {
    let (Some(draft), Some(principal)) = (Draft::named(&call), call.principal) else {
        return nothing_waits(&call);
    };
    let (code, purpose) = (draft.code.to_string(), draft.purpose);
    let call = PageCall { parameter: code, form: draft.sent_form(), ..call };
    match purpose {
        DraftPurpose::Tip => tips::send(call, principal).await,
        DraftPurpose::Request => send(call).await,
    }
}

/// `POST /g/{code}/draft/discard`: forgets the draft that the page showed.
pub(super) async fn discard_draft(call: PageCall, _: Principal) -> Result<PageResponse, PageFailure> {
    let Some(draft) = Draft::named(&call) else { return nothing_waits(&call) };
    let answer = PageResponse::done(&format!("/g/{}", draft.code), DoneNotice::DraftDiscarded);
    Ok(Draft::forgotten_with(&call, answer))
}

/// The way to the page if the draft that it showed waits no longer: another tab has sent or replaced it, or its time is
/// over.
fn nothing_waits(call: &PageCall) -> Result<PageResponse, PageFailure> {
    let code = DjCode::new(&call.parameter).ok_or(PageFailure::NotFound)?;
    Ok(PageResponse::done(&format!("/g/{code}"), DoneNotice::NothingWaits))
}

pub(super) async fn send(call: PageCall) -> Result<PageResponse, PageFailure> {
    let key = FormKey::of(&call.form)?;
    let Some(view) = page::found(&call).await? else { return Err(PageFailure::NotFound) };
    let view = call.use_cases().boards.with_prices_now(view).await?;
    let fields = RequestFields::read(&call.form, call.currency(), call.principal.is_none());
    let Some(read) = fields.valid(&view.board) else {
        return again(&call, &view, NewEntry { keeps_key: true, ..NewEntry::default() }).await;
    };
    let found = found(&call, &view, &read).await?;
    let sending = Sending { view: &view, key: &key, read, found };
    // Only the wallet that the page showed can pay.
    let kept_guest = match call.form.has(GUEST_WALLET) {
        true => Some(call.kept_guest(call.form.text(GUEST_WALLET)).await?),
        false => None,
    };
    let agreed = match sending.agreed(&call, kept_guest.or(call.principal)).await? {
        Ok(agreed) => agreed,
        Err(questions) => return ask(&call, &view, &questions).await,
    };
    if let Some(guest) = kept_guest {
        // Money is not added to the guest account, so that nothing is left there for long.
        let done = attempt(&call, &guest, &key, agreed.new).await?;
        return sending.answered(&call, done).await;
    }
    if let Some(principal) = call.principal {
        return sending.request(&call, &principal, agreed).await;
    }
    let kept = NextGuestCookie::with_own_wallet(&call).await?;
    let begun = match new_guest(&call, &key, sending.read.name.clone(), &agreed.new).await? {
        Ok(begun) => begun,
        Err(refusal) => return sending.refused(&call, refusal.into()).await,
    };
    let principal = session::principal_of_new(&begun);
    let call = PageCall { principal: Some(principal), ..call };
    let answer = sending.request(&call, &principal, agreed).await?;
    Ok(kept.begin(&call, answer, &begun))
}

/// What is known about the song of a form.
async fn found(call: &PageCall, view: &GuestView, read: &ReadRequest) -> Result<Found, PageFailure> {
    let (board, wanted) = (&view.board, read.wanted);
    let tonight = call.use_cases().boards.song_tonight(board.code, wanted.song).await?;
    // The requests of the wallet that pays, and those of the session.
    let all = page::with_kept_guests(call, view.clone()).await?;
    Ok(Found { price: board.list_price(wanted.kind), tonight, has_open: all.has_open(wanted.song) })
}

/// A valid form, and what is known about its song.
struct Sending<'a> {
    view: &'a GuestView,
    key: &'a FormKey,
    read: ReadRequest,
    found: Found,
}

/// A request to which the guest agreed.
struct AgreedRequest {
    new: NewRequest,
    /// The fee at the displayed price.
    fee: Money,
    /// The questions that the guest has answered.
    asked: Asked,
}

impl Sending<'_> {
    /// The request as the guest agreed to it, or what the page asks first.
    async fn agreed(
        &self,
        call: &PageCall,
        payer: Option<Principal>,
    ) -> Result<Result<AgreedRequest, Questions>, PageFailure> {
        let Self { view, key, read, found } = self;
        let questions = match consent(&read.sent, read.wanted, found) {
            Consent::Given { agreement, fee, asked } => {
                let new = read.new_request(&view.board, agreement);
                return Ok(Ok(AgreedRequest { new, fee, asked }));
            }
            Consent::Missing(questions) => questions,
        };
        let Some(principal) = &payer else { return Ok(Err(questions)) };
        // A form that is sent again has made its request: the song may be that one. Its receipt has the fee.
        let new = read.new_request(&view.board, Agreement::AtMost(Money::ZERO));
        let context = call.context(principal, Some(key), &written(&new));
        Ok(match call.use_cases().executor.has_run(&context).await? {
            true => Ok(AgreedRequest { new, fee: Money::ZERO, asked: questions.asked }),
            false => Err(questions),
        })
    }

    /// Makes the request, or leads to the payment of what is missing.
    async fn request(
        &self,
        call: &PageCall,
        principal: &Principal,
        AgreedRequest { new, fee, asked }: AgreedRequest,
    ) -> Result<PageResponse, PageFailure> {
        match attempt(call, principal, self.key, new.clone()).await? {
            Err(OpenRequestRefusal::InsufficientFunds) => {}
            done => return self.answered(call, done).await,
        }
        let owner = (principal, self.view.board.code);
        let draft = Draft::of_request(owner, self.key, (&new, fee), &asked, call.currency());
        match payment::lead(call, principal, self.key, draft).await? {
            Lack::Paid => self.answered(call, attempt(call, principal, self.key, new).await?).await,
            Lack::Leads(answer) => Ok(answer),
            Lack::Refused(error) => {
                let entry = NewEntry { offer_error: Some(error), ..NewEntry::default() };
                again(call, self.view, entry).await
            }
        }
    }

    async fn answered(&self, call: &PageCall, done: Attempt) -> Result<PageResponse, PageFailure> {
        match done {
            Ok(request) => Ok(sent(call, self.view, &request)),
            Err(refusal) => self.refused(call, refusal).await,
        }
    }

    async fn refused(
        &self,
        call: &PageCall,
        refusal: OpenRequestRefusal,
    ) -> Result<PageResponse, PageFailure> {
        let (t, view) = (call.language.texts(), self.view);
        let entry = match refusal {
            // The price was raised after the page had read it.
            OpenRequestRefusal::Rule(OpenRefusal::FeeBelowPrice(price)) => {
                let found = Found { price, ..self.found.clone() };
                return match consent(&self.read.sent, self.read.wanted, &found) {
                    Consent::Missing(questions) => ask(call, view, &questions).await,
                    Consent::Given { .. } => Err(PageFailure::Outdated),
                };
            }
            // The end of a gig takes its DJ offline, too.
            OpenRequestRefusal::Rule(OpenRefusal::DjOffline) => {
                let shown = Closed::of_view(view);
                let closed = shown.or(Closed::of_refusal(OpenRefusal::DjOffline));
                NewEntry { closed, ..NewEntry::default() }
            }
            OpenRequestRefusal::Rule(refusal) => {
                NewEntry { closed: Closed::of_refusal(refusal), ..NewEntry::default() }
            }
            OpenRequestRefusal::TooManyOpen(most) => {
                NewEntry { closed: Some(Closed::TooManyOpen { most }), ..NewEntry::default() }
            }
            OpenRequestRefusal::NoRoom(refusal) => {
                NewEntry { closed: Some(Closed::of_queue(refusal)), ..NewEntry::default() }
            }
            OpenRequestRefusal::WalletOwes(_) => {
                NewEntry { offer_error: Some(t.wallet_owes()), ..NewEntry::default() }
            }
            OpenRequestRefusal::InsufficientFunds => {
                NewEntry { offer_error: Some(t.not_enough_money()), ..NewEntry::default() }
            }
        };
        // The guest paid for a draft, and learns where the money is.
        let is_paid = entry.closed.is_some() && Draft::is_sent_by(call);
        let notice = is_paid.then(|| format!("{} {}", t.draft_not_sent(), t.draft_money()).into());
        again(call, view, NewEntry { notice, ..entry }).await
    }
}

/// The session of a new guest account.
///
/// # Errors
/// [`PageFailure`]; the refusal of a request for which no account is created is inside.
async fn new_guest(
    call: &PageCall,
    key: &FormKey,
    name: Option<Line>,
    new: &NewRequest,
) -> Result<Result<BrowserSession, OpenRefusal>, PageFailure> {
    let (sign_ins, guest_key) = (&call.use_cases().sign_ins, GuestKey::new(key.as_str()));
    // A repeated form may have created its account and made its request before the refusal.
    let created = async || match &guest_key {
        Some(key) => sign_ins.guest_created::<BrowserSession>(key).await,
        None => Ok(None),
    };
    if let Some(refusal) = call.use_cases().music_requests.refusal_before_account(new).await? {
        return Ok(created().await?.ok_or(refusal));
    }
    // No account is created after an earlier question, field error or refusal, or beyond the limit of requests.
    let limits = call.limits();
    let counted =
        limits.ensure_guest_request(new.dj).and_then(|()| limits.count_guest_of_page_instead(new.dj));
    if let Err(quota) = counted {
        return created().await?.map(Ok).ok_or(PageFailure::rate_limited(quota));
    }
    Ok(Ok(sign_ins.create_guest(&call.client_context(), name, guest_key).await?))
}

/// Runs the command, once for each key.
///
/// # Errors
/// [`PageFailure`]; the refusal is inside.
async fn attempt(
    call: &PageCall,
    principal: &Principal,
    key: &FormKey,
    new: NewRequest,
) -> Result<Attempt, PageFailure> {
    let limits = call.limits();
    let what = written(&new);
    let counted = match limits.count_guest_request(&call.use_cases().profiles, principal, new.dj).await {
        Ok(counted) => counted,
        // A repeated form has made its request.
        Err(refusal) => {
            let context = call.context(principal, Some(key), &what);
            if !call.use_cases().executor.has_run(&context).await? {
                return Err(refusal.into());
            }
            None
        }
    };
    let done = call.run(principal, Some(key), OpenRequest, new, &what).await;
    if done.as_ref().map_or(true, |done| done.replayed) {
        limits.give_back(counted);
    }
    Ok(or_refusal(done)?.map(|done| done.value))
}

/// The way back to the page, which shows the request.
fn sent(call: &PageCall, view: &GuestView, request: &MusicRequest) -> PageResponse {
    let answer = PageResponse::see(&format!("/g/{}#request-{}", view.board.code, request.id));
    Draft::forgotten_with(call, answer)
}

/// The page with what the guest typed, and the questions that apply.
async fn ask(call: &PageCall, view: &GuestView, questions: &Questions) -> Result<PageResponse, PageFailure> {
    let entry = NewEntry { questions: Some(questions), keeps_key: true, ..NewEntry::default() };
    again(call, view, entry).await
}

/// The page with what the guest typed, and what is wrong.
async fn again(call: &PageCall, view: &GuestView, entry: NewEntry<'_>) -> Result<PageResponse, PageFailure> {
    let view = page::with_kept_guests(call, view.clone()).await?;
    let reader = call.profile().await?;
    let entry = NewEntry { form: &call.form, refused: true, ..entry };
    page::render(call, INVALID, &view, reader.as_ref(), entry).await
}
