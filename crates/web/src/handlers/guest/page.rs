//! The page `/g/{code}` and its live part.

use actix_web::http::StatusCode;
use cuepoint_domain::application::queries::GuestView;
use cuepoint_domain::gig::consent::Questions;
use cuepoint_domain::gig::offers::{offers, with_better_places};
use cuepoint_domain::gig::{Board, DjCode};
use cuepoint_domain::money::{Amount, Money};
use cuepoint_domain::ports::Profile;
use cuepoint_domain::text::TextError;
use cuepoint_domain::tip::presets;
use cuepoint_domain::user::ArtistType;
use cuepoint_pages::forms::{FieldState, Keys};
use cuepoint_pages::frame::{Frame, Live, LiveStream, NoticeKind, PageNotice};
use cuepoint_pages::guest::{
    Closed, GuestPage, GuestPart, Offer, OfferFields, Offers, RequestEntry, RequestForm, TipForm, Typed,
    UnknownCodePage,
};
use cuepoint_pages::texts::Text;

use super::request_fields::{GUEST_WALLET, RequestFields};
use crate::call::PageCall;
use crate::failure::PageFailure;
use crate::form::Form;
use crate::handlers::draft::Draft;
use crate::handlers::draft_state::DraftOfGig;
use crate::response::PageResponse;

/// `GET /g?code=…`: the way from a typed code to its page.
pub(super) async fn with_code(call: PageCall) -> Result<PageResponse, PageFailure> {
    match DjCode::new(call.query.text("code")) {
        Some(code) => Ok(PageResponse::see(&format!("/g/{code}"))),
        None => Ok(unknown(&call, call.query.text("code"))),
    }
}

pub(super) async fn show(call: PageCall) -> Result<PageResponse, PageFailure> {
    let Some(view) = found(&call).await? else { return Ok(unknown(&call, &call.parameter)) };
    let view = with_kept_guests(&call, view).await?;
    let reader = call.profile().await?;
    // "Me too" fills in the song, and a link nothing else.
    let song = call.query.only(&["song_title", "artist_name", "joins"]);
    let entry = NewEntry { form: &song, ..NewEntry::default() };
    render(&call, StatusCode::OK, &view, reader.as_ref(), entry).await
}

pub(super) async fn live(call: PageCall) -> Result<PageResponse, PageFailure> {
    let view = found(&call).await?.ok_or(PageFailure::NotFound)?;
    let view = with_kept_guests(&call, view).await?;
    let reader = call.profile().await?;
    let (frame, key) = (call.frame(reader.as_ref()), call.new_key());
    let paths = Paths::of(&view.board);
    let presets = presets_of(&call, &view, reader.as_ref());
    let tip = tip_form(presets.as_deref(), FieldState::default());
    let proposed = proposed(&call, &view, None);
    Ok(call.part(part(&frame, &view, &proposed, Keys::new(&key), tip, &paths).render()))
}

/// The way from the code in a path to its page: from a typed code, or from a form that was refused.
pub(in crate::handlers) async fn of_code(call: PageCall) -> Result<PageResponse, PageFailure> {
    let code = DjCode::new(&call.parameter).ok_or(PageFailure::NotFound)?;
    Ok(PageResponse::see(&format!("/g/{code}")))
}

/// What the caller sees of the gig, with all offers; `None` for an unknown code.
pub(super) async fn found(call: &PageCall) -> Result<Option<GuestView>, PageFailure> {
    found_with(call, &call.parameter).await
}

/// What the caller sees of the gig of this code; `None` for an unknown code.
pub(in crate::handlers) async fn found_with(
    call: &PageCall,
    code: &str,
) -> Result<Option<GuestView>, PageFailure> {
    let (boards, principal) = (&call.use_cases().boards, call.principal.as_ref());
    let find = async |code| boards.guest_view(principal, code, call.currency()).await;
    match call.look_up_code(code, find).await {
        Ok(view) => Ok(Some(view)),
        Err(PageFailure::NotFound) => Ok(None),
        Err(failure) => Err(failure),
    }
}

/// The view with the requests of the guest accounts that this browser had before.
pub(super) async fn with_kept_guests(call: &PageCall, mut view: GuestView) -> Result<GuestView, PageFailure> {
    for guest in call.kept_guests().await? {
        let kept = call.use_cases().boards.own_requests(&guest, view.board.code, &[]).await?;
        view.own.requests.extend(kept.requests);
    }
    Ok(view)
}

fn unknown(call: &PageCall, code: &str) -> PageResponse {
    let frame = call.frame(None);
    let code = FieldState::with(code.chars().take(20).collect::<String>());
    PageResponse::html(StatusCode::NOT_FOUND, UnknownCodePage { frame: &frame, code }.render())
}

/// What the page shows beside the gig: a new form, or the answer to one that was refused.
pub(super) struct NewEntry<'a> {
    /// The fields as they were sent.
    pub(super) form: &'a Form,
    /// Whether the form was sent, so that errors of its fields are shown.
    pub(super) refused: bool,
    /// Whether the form keeps its key: no command was tried with it.
    pub(super) keeps_key: bool,
    pub(super) closed: Option<Closed>,
    /// What the form asks before it is sent.
    pub(super) questions: Option<&'a Questions>,
    /// An error that belongs to the offer.
    pub(super) offer_error: Option<Text>,
    /// The amount of a tip that was refused.
    pub(super) tip: FieldState,
    /// What the guest has to know first.
    pub(super) notice: Option<Text>,
}

impl Default for NewEntry<'_> {
    fn default() -> Self {
        Self {
            form: Form::EMPTY,
            refused: false,
            keeps_key: false,
            closed: None,
            questions: None,
            offer_error: None,
            tip: FieldState::default(),
            notice: None,
        }
    }
}

/// The page of this status.
pub(super) async fn render(
    call: &PageCall,
    status: StatusCode,
    view: &GuestView,
    reader: Option<&Profile>,
    entry: NewEntry<'_>,
) -> Result<PageResponse, PageFailure> {
    let notice = entry.notice.clone().map(|text| PageNotice { kind: NoticeKind::Attention, text });
    let frame = call.frame(reader).saying(notice);
    let random = call.new_key();
    let (keys, paths) = (Keys::new(&random), Paths::of(&view.board));
    // Only a form that this browser sent keeps its key: a key in a link would be known to others, and it is the cookie of
    // a new guest account.
    let request_key = match entry.form.text("key") {
        kept if entry.keeps_key && !kept.is_empty() => kept.to_owned(),
        _ => keys.of("request"),
    };
    let fields = RequestFields::read(entry.form, call.currency(), reader.is_none());
    let (proposed, renewed) = (proposed(call, view, fields.amount()), proposed(call, view, None));
    let tip = entry.tip.clone();
    let closed = entry.closed.or_else(|| Closed::of_view(view));
    let shown = match closed {
        Some(closed) => RequestEntry::Closed(closed, typed(&entry)),
        None => {
            let guest_wallet = call.kept_wallets().await?.into_iter().next();
            let form = new_form(&frame, &request_key, (&proposed, fields), reader, entry);
            RequestEntry::Form(Box::new(RequestForm { most_played: &view.most_played, guest_wallet, ..form }))
        }
    };
    let presets = presets_of(call, view, reader);
    // The answer to a draft that was sent says itself what became of it.
    let draft = match Draft::is_sent_by(call) {
        true => None,
        false => DraftOfGig::of(call, view.board.code).await?,
    };
    let available = reader.map_or(Money::ZERO, |reader| reader.balance.available);
    let page = GuestPage {
        frame: &frame,
        board: &view.board,
        entry: shown,
        part: part(&frame, view, &renewed, keys, tip_form(presets.as_deref(), tip), &paths),
        offers_claim: offers_claim(reader),
        draft: draft.as_ref().and_then(|draft| draft.card(view, &frame, available)),
    };
    Ok(PageResponse::html(status, page.render()))
}

fn new_form<'a>(
    frame: &Frame<'_>,
    key: &'a str,
    (offers, fields): (&'a Offers, RequestFields),
    reader: Option<&Profile>,
    entry: NewEntry<'a>,
) -> RequestForm<'a> {
    let NewEntry { form, refused, questions, offer_error, .. } = entry;
    let state = |name, error: Option<TextError>| {
        let error = error.filter(|_| refused).map(|error| frame.refused_text(error));
        FieldState { value: form.text(name).to_owned(), error }
    };
    let offer_error = offer_error.or_else(|| fields.offer_error(frame).filter(|_| refused));
    let offers = OfferFields { offers, kind: fields.kind, chosen: fields.amount() };
    RequestForm {
        key,
        song_title: state("song_title", fields.song_title.err()),
        artist_name: state("artist_name", fields.artist_name.err()),
        message: state("message", fields.message.err()),
        name: reader.is_none().then(|| state("name", fields.name.err())),
        joins: fields.joins,
        offers,
        offer_error,
        most_played: &[],
        available: reader.map(|profile| profile.balance.available),
        guest_wallet: None,
        spends_guest_wallet: !refused || form.has(GUEST_WALLET),
        questions,
    }
}

/// What the guest typed into a form that the gig refused.
fn typed<'a>(entry: &NewEntry<'a>) -> Option<Typed<'a>> {
    let form = entry.form;
    let [song_title, artist_name, message] =
        ["song_title", "artist_name", "message"].map(|name| form.text(name));
    let typed = Typed { song_title, artist_name, message };
    Some(typed).filter(|typed| !typed.is_empty())
}

/// The proposed fees, each with the place of a request at it. A chosen one stays even if it gives no better place.
fn proposed(call: &PageCall, view: &GuestView, chosen: Option<Money>) -> Offers {
    let placed = |fee: Money| view.own.offers.iter().find(|offer| offer.fee == fee).copied();
    let unplaced = |fee: Money| Offer { fee, place: None, is_at_risk: false };
    let position = |offer: &Offer| offer.place.map(|place| place.position);
    let at = |price: Money| {
        let fees = offers(price, call.currency()).into_iter();
        let offers = fees.map(|fee| placed(fee).map_or_else(|| unplaced(fee), Offer::from)).collect();
        with_better_places(offers, position, |offer| chosen == Some(offer.fee))
    };
    let (popular, upcoming) = view.board.prices();
    Offers { popular: at(popular), upcoming: upcoming.map(at).unwrap_or_default() }
}

/// The amounts of tips that this reader can choose from; `None` unless the reader can tip the DJ now.
fn presets_of(call: &PageCall, view: &GuestView, reader: Option<&Profile>) -> Option<Vec<Amount>> {
    let is_guest = reader.is_some_and(|reader| reader.user.id != view.board.dj.id);
    let has_gig = view.board.gig.is_some() || view.ended_at.is_some();
    let price = view.board.dj.list_price(ArtistType::Popular);
    let terms = call.use_cases().settings.tips();
    (is_guest && has_gig).then(|| presets(price, terms, call.currency()))
}

/// Whether the page offers to claim the guest account: it holds money that a lost phone would take along.
fn offers_claim(reader: Option<&Profile>) -> bool {
    reader.is_some_and(|profile| profile.user.is_guest_account() && !profile.balance.total().is_zero())
}

/// The paths of a gig's live part.
struct Paths {
    part: String,
    stream: String,
}

impl Paths {
    fn of(board: &Board) -> Self {
        let code = board.code;
        Self { part: format!("/g/{code}/live"), stream: format!("/api/v1/boards/{code}/stream") }
    }
}

/// The form of a tip with these proposed amounts, and another one.
fn tip_form(presets: Option<&[Amount]>, amount: FieldState) -> Option<TipForm<'_>> {
    presets.map(|presets| TipForm { presets, amount })
}

fn part<'a>(
    frame: &'a Frame<'a>,
    view: &'a GuestView,
    offers: &'a Offers,
    keys: Keys<'a>,
    tip: Option<TipForm<'a>>,
    paths: &'a Paths,
) -> GuestPart<'a> {
    let stream = LiveStream { path: &paths.stream, shown: view.board.version() };
    GuestPart {
        frame,
        board: &view.board,
        requests: &view.own.requests,
        ended_at: view.ended_at,
        offers: Closed::of_view(view).is_none().then_some(OfferFields {
            offers,
            kind: ArtistType::Popular,
            chosen: None,
        }),
        is_blocked: view.is_blocked,
        keys,
        tip,
        live: Live { path: &paths.part, stream: Some(stream) },
    }
}
