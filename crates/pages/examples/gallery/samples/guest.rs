//! The page of a gig for its guests.

use cuepoint_domain::application::queries::OwnRequest;
use cuepoint_domain::gig::consent::{Asked, ChosenOffer, Questions};
use cuepoint_domain::gig::offers::offers;
use cuepoint_domain::gig::queue::{Place, PlaceReason};
use cuepoint_domain::gig::{
    Board, BoardGig, DjCode, Gig, GigDetails, GigStatus, GuestLimit, NextSong, QueueOrder, Song,
};
use cuepoint_domain::ids::{GigId, RequestId, UserId};
use cuepoint_domain::money::{Amount, Money};
use cuepoint_domain::music_request::{MusicRequest, RequestState, Stars};
use cuepoint_domain::text::{GigTitle, Line, MusicUrl, ShortMessage};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::tip::{TipTerms, presets};
use cuepoint_domain::user::ArtistType;
use cuepoint_pages::forms::{FieldState, KeptWallet, Keys};
use cuepoint_pages::frame::{Frame, Live, LiveStream, NoticeKind, PageNotice, Viewer};
use cuepoint_pages::guest::{
    Closed, DraftCard, GuestPage, GuestPart, Offer, OfferFields, Offers, RequestEntry, RequestForm, TipForm,
    Typed, UnknownCodePage,
};
use cuepoint_pages::language::Language;
use cuepoint_pages::payment::{DraftPurpose, DraftView, PaymentState};
use time::Duration;

use super::boards::open_requests;
use super::{Sample, now, payment, people, site};

const KEY: &str = "6rY2mQ0xS1uVb8Zp3kLw9A";

fn line(text: &str) -> Line {
    Line::new(text).expect("a line")
}

pub fn code() -> DjCode {
    DjCode::new("B2C3D4").expect("a code")
}

fn song(title: &str, artist: &str) -> Song {
    Song { title: line(title), artist: line(artist) }
}

fn ago(minutes: i64) -> Timestamp {
    now().minus(Duration::minutes(minutes))
}

/// The board of an open gig with songs up next.
pub fn board() -> Board {
    let details = GigDetails {
        title: GigTitle::new("Friday Night Vinyl").expect("a title"),
        venue: Some(line("Kranich Bar")),
        city: Some(line("Berlin")),
        coordinates: None,
        message: Some(ShortMessage::new("Soul and disco until two. No charts, please.").expect("a message")),
        queue_order: QueueOrder::Rounds,
        max_open_per_guest: GuestLimit::default(),
        members_only: false,
        asks_kind: true,
    };
    let id = GigId::new(3).expect("an id");
    let dj = UserId::new(7).expect("an id");
    let gig = Gig { id, dj, code: code(), details, opened_at: ago(150), ended_at: None, settled: false };
    let next = [
        ("Le Freak", "Chic"),
        ("I Feel Love", "Donna Summer"),
        ("Ain't No Mountain High Enough", "Marvin Gaye & Tammi Terrell"),
    ];
    let up_next = (1..).zip(next);
    let gig = BoardGig {
        gig,
        status: GigStatus::Open,
        open: open_requests(6),
        wait_minutes: 24,
        up_next: up_next
            .map(|(position, (title, artist))| NextSong {
                request: RequestId::LAST,
                position,
                song: song(title, artist),
            })
            .collect(),
        last_played: Some((song("September", "Earth, Wind & Fire"), ago(3))),
    };
    Board { code: code(), dj: people::dj(), gig: Some(gig) }
}

fn place(position: u32) -> Place {
    let wait_minutes = position.saturating_mul(4);
    let request = RequestId::LAST;
    let (earlier_rounds, higher_fees) = (position / 2, position / 3);
    let earlier_requests = (position - 1).saturating_sub(earlier_rounds + higher_fees);
    let reason = PlaceReason { rounds: 2, earlier_rounds, higher_fees, earlier_requests };
    Place { request, position, round: Some(2), wait_minutes, reason }
}

fn own(id: i64, title: &str, artist: &str, fee: i128, state: RequestState) -> OwnRequest {
    let request = MusicRequest {
        id: RequestId::new(id).expect("an id"),
        requester: UserId::new(9).expect("an id"),
        dj: UserId::new(7).expect("an id"),
        song_title: line(title),
        artist_name: line(artist),
        artist_type: ArtistType::Popular,
        music_url: MusicUrl::new("https://example.com/song").expect("an address"),
        fee: Money::from_minor(fee),
        gig: GigId::new(3),
        counts_as_guest: false,
        state,
        created_at: ago(12),
    };
    let is_open = request.state.status().holds_fee();
    OwnRequest {
        request,
        is_at_risk: false,
        message: None,
        place: is_open.then(|| place(4)),
        stars: None,
        awaits_release: false,
    }
}

/// A request in every state.
pub fn all_states() -> Vec<OwnRequest> {
    let answer_by = now().plus(Duration::minutes(18));
    let pending = RequestState::Pending { answer_by };
    let accepted = RequestState::Accepted { at: ago(2), play_by: now().plus(Duration::hours(2)) };
    let played = |minutes| RequestState::Played { at: ago(minutes), commission: Money::ZERO };
    let message = ShortMessage::new("For Anna, who turns 30 today").ok();
    vec![
        OwnRequest { message, ..own(21, "Good Times", "Chic", 1_900, pending) },
        OwnRequest {
            is_at_risk: true,
            place: Some(place(12)),
            ..own(20, "Blue Monday", "New Order", 1_250, pending)
        },
        own(19, "Le Freak", "Chic", 1_250, accepted),
        own(18, "September", "Earth, Wind & Fire", 1_250, played(3)),
        OwnRequest { stars: Stars::new(4), ..own(17, "Superstition", "Stevie Wonder", 2_500, played(41)) },
        own(16, "Wonderwall", "Oasis", 1_250, RequestState::Rejected { at: ago(50), displaced: false }),
        own(15, "Atemlos", "Helene Fischer", 1_250, RequestState::Cancelled { at: ago(55) }),
        OwnRequest {
            awaits_release: true,
            ..own(11, "Hurt", "Johnny Cash", 1_250, RequestState::Expired { at: now() })
        },
        own(14, "Jolene", "Dolly Parton", 1_250, RequestState::Expired { at: ago(70) }),
        own(
            13,
            "Heroes",
            "David Bowie",
            1_250,
            RequestState::Refunded { at: ago(80), commission: Money::ZERO },
        ),
        own(12, "Regret", "New Order", 0, RequestState::Rejected { at: ago(90), displaced: true }),
    ]
}

pub fn form<'a>(offers: &'a Offers, most_played: &'a [Song]) -> RequestForm<'a> {
    RequestForm {
        key: KEY,
        song_title: FieldState::default(),
        artist_name: FieldState::default(),
        message: FieldState::default(),
        name: None,
        joins: None,
        offers: offer_fields(offers),
        offer_error: None,
        most_played,
        available: None,
        guest_wallet: None,
        spends_guest_wallet: true,
        questions: None,
    }
}

/// The fields of these offers, of which none is chosen.
pub const fn offer_fields(offers: &Offers) -> OfferFields<'_> {
    OfferFields { offers, kind: ArtistType::Popular, chosen: None }
}

/// These questions at 15.00, as the names of their topics.
fn questions(topics: &str) -> Questions {
    let asked = Asked::read(&format!("15.00 0123456789abcdef {topics}"), &site().currency);
    Questions {
        asked: asked.expect("questions"),
        choice: ChosenOffer::Price,
        kind: ArtistType::Popular,
        played_at: topics.contains("played").then(|| ago(75)),
    }
}

/// The proposed offers at these prices, each with a better place.
pub fn places_of(popular: i128, upcoming: i128) -> Offers {
    let at = |price, positions: [u32; 3]| {
        let fees = offers(Money::from_minor(price), &site().currency).into_iter();
        fees.zip(positions)
            .map(|(fee, position)| Offer { fee, place: Some(place(position)), is_at_risk: position == 8 })
            .collect()
    };
    Offers { popular: at(popular, [6, 4, 2]), upcoming: at(upcoming, [8, 7, 5]) }
}

/// What a sample changes.
struct Scene<'a> {
    name: &'a str,
    board: Board,
    entry: RequestEntry<'a>,
    requests: Vec<OwnRequest>,
    ended_at: Option<Timestamp>,
    signed_in: bool,
    notice: bool,
    /// What waits for its payment.
    draft: Option<DraftCard<'a>>,
}

impl<'a> Scene<'a> {
    fn new(name: &'a str, entry: RequestEntry<'a>) -> Self {
        let requests = Vec::new();
        Scene {
            name,
            board: board(),
            entry,
            requests,
            ended_at: None,
            signed_in: true,
            notice: false,
            draft: None,
        }
    }

    fn closed(name: &'a str, closed: Closed) -> Self {
        let mut scene = Self::new(name, RequestEntry::Closed(closed, None));
        match (closed, &mut scene.board.gig) {
            (Closed::Paused, Some(gig)) => gig.status = GigStatus::Paused,
            (Closed::Ended | Closed::Offline, gig) => *gig = None,
            _ => {}
        }
        scene
    }

    fn render(&self, language: Language, presets: &[Amount]) -> Sample {
        let site = site();
        let guest = people::guest();
        let mut frame = Frame::new(&site, language, now());
        frame.viewer = self.signed_in.then(|| Viewer::of(&guest));
        let done = || PageNotice { kind: NoticeKind::Done, text: frame.t.state_pending() };
        frame.notice = self.notice.then(done);
        let stream = LiveStream { path: "/api/v1/boards/B2C3D4/stream", shown: self.board.version() };
        let live = Live { path: "/g/B2C3D4/live", stream: Some(stream) };
        let tip = TipForm { presets, amount: FieldState::default() };
        let part = GuestPart {
            frame: &frame,
            board: &self.board,
            requests: &self.requests,
            ended_at: self.ended_at,
            keys: Keys::new(KEY),
            offers: match &self.entry {
                RequestEntry::Form(form) => Some(form.offers),
                RequestEntry::Closed(..) => None,
            },
            is_blocked: false,
            tip: self.signed_in.then_some(tip),
            live,
        };
        let entry = self.entry.clone();
        let offers_claim = self.name == "mine";
        let draft = self.draft.clone();
        let page = GuestPage { frame: &frame, board: &self.board, entry, part, offers_claim, draft };
        Sample::new(format!("guest-{}", self.name), page.render())
    }
}

pub fn pages(language: Language) -> Vec<Sample> {
    let site = site();
    let t = language.texts();
    let offers = places_of(1_250, 800);
    let at_no_price = vec![Offer { fee: Money::ZERO, place: Some(place(6)), is_at_risk: false }];
    let free = Offers { popular: at_no_price, upcoming: Vec::new() };
    let most_played = [song("September", "Earth, Wind & Fire"), song("Le Freak", "Chic")];
    let empty = form(&offers, &most_played);
    let written = RequestForm {
        song_title: FieldState::with("September"),
        artist_name: FieldState::with("Earth, Wind & Fire"),
        ..empty.clone()
    };
    let boxed = |form| RequestEntry::Form(Box::new(form));
    let first = RequestForm { name: Some(FieldState::default()), ..empty.clone() };
    let refused = RequestForm {
        song_title: FieldState::refused("", t.song_title()),
        message: FieldState::refused("x".repeat(150), t.dedication_hint()),
        offer_error: Some(t.price_now("15.00")),
        offers: OfferFields { chosen: Some(Money::from_minor(1_900)), ..empty.offers },
        ..written.clone()
    };
    let topics = ["price", "played", "accepted", "own", "price played accepted own"].map(questions);
    let [raised, played, accepted, own_open, all] =
        topics.each_ref().map(|questions| RequestForm { questions: Some(questions), ..written.clone() });
    let member = RequestForm {
        available: Some(Money::from_minor(730)),
        guest_wallet: Some(KeptWallet {
            user: UserId::new(9).expect("an id"),
            available: Money::from_minor(500),
        }),
        ..empty.clone()
    };
    let mut quiet = board();
    if let Some(gig) = &mut quiet.gig {
        (gig.up_next, gig.last_played, gig.open, gig.wait_minutes) = (Vec::new(), None, Vec::new(), 4);
    }
    let mut no_price = board();
    no_price.dj.dj.iter_mut().for_each(|dj| {
        (dj.fee_popular_song, dj.fee_upcoming_artist) = (Money::ZERO, Money::ZERO);
    });
    let rejected =
        own(16, "Wonderwall", "Oasis", 1_250, RequestState::Rejected { at: ago(5), displaced: false });
    let pending = RequestState::Pending { answer_by: now().plus(Duration::minutes(18)) };
    let free_request = own(22, "Good Times", "Chic", 0, pending);
    let typed = Typed {
        song_title: "September",
        artist_name: "Earth, Wind & Fire",
        message: "For Anna, who turns 30 today",
    };
    let refused_text = RequestEntry::Closed(Closed::Paused, Some(typed));
    let fee = Money::from_minor(1_250);
    let waiting = DraftView::Request { song_title: "September", artist_name: "Earth, Wind & Fire", fee };
    let card = |state| Some(DraftCard { draft: waiting, state, payment: payment::REFERENCE, key: KEY });
    let too_late = PaymentState::ConfirmedTooLate { what: DraftPurpose::Request, why: Closed::Paused };
    let scenes = [
        Scene { signed_in: false, ..Scene::new("first", boxed(first)) },
        Scene { board: quiet, signed_in: false, ..Scene::new("empty", boxed(empty.clone())) },
        Scene { requests: all_states(), notice: true, ..Scene::new("mine", boxed(member)) },
        Scene::new("refused", boxed(refused)),
        Scene::new("raised", boxed(raised)),
        Scene::new("played-tonight", boxed(played)),
        Scene::new("accepted-tonight", boxed(accepted)),
        Scene::new("own-open", boxed(own_open)),
        Scene::new("four-questions", boxed(all)),
        Scene { entry: refused_text, ..Scene::closed("paused-while-typing", Closed::Paused) },
        Scene {
            board: no_price,
            requests: vec![free_request],
            ..Scene::new("free", boxed(RequestForm { offers: offer_fields(&free), ..empty }))
        },
        Scene { requests: all_states(), ..Scene::closed("paused", Closed::Paused) },
        Scene { requests: vec![rejected], ended_at: Some(ago(5)), ..Scene::closed("ended", Closed::Ended) },
        Scene {
            draft: card(PaymentState::ConfirmedWithDraft(waiting)),
            ..Scene::new("draft", boxed(written.clone()))
        },
        Scene {
            draft: card(PaymentState::Waiting(None)),
            ..Scene::new("draft-unpaid", boxed(written.clone()))
        },
        Scene { draft: card(PaymentState::Failed), ..Scene::new("draft-failed", boxed(written.clone())) },
        Scene { draft: card(too_late), ..Scene::closed("draft-too-late", Closed::Paused) },
        Scene::closed("offline", Closed::Offline),
        Scene::closed("queue-full", Closed::QueueFull),
        Scene::closed("no-more-requests", Closed::NoMoreRequests),
        Scene::closed("no-more-requests-of-guests", Closed::NoMoreRequestsOfGuests),
        Scene::closed("too-many-open", Closed::TooManyOpen { most: 3 }),
        Scene::closed("blocked", Closed::Blocked),
        Scene::closed("members-only", Closed::MembersOnly),
        Scene::closed("own-gig", Closed::OwnGig),
    ];
    let tips = presets(Money::from_minor(1_250), &TipTerms::default(), &site.currency);
    let mut pages: Vec<Sample> = scenes.iter().map(|scene| scene.render(language, &tips)).collect();
    let frame = Frame::new(&site, language, now());
    let unknown = UnknownCodePage { frame: &frame, code: FieldState::with("ABCDEF") };
    pages.push(Sample::new("guest-unknown-code", unknown.render()));
    pages
}
