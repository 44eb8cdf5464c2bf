//! Pages with names and messages of markup, right-to-left text and long words.

use cuepoint_domain::gig::Song;
use cuepoint_domain::ids::SessionId;
use cuepoint_domain::music_request::MusicRequest;
use cuepoint_domain::page::Rows;
use cuepoint_domain::text::{GigTitle, Line, ShortMessage};
use cuepoint_domain::user::User;
use cuepoint_domain::user::session::{ClientInfo, Session};
use cuepoint_pages::account::{AccountPage, EmailChange, PasswordFields};
use cuepoint_pages::error::{ErrorPage, Problem};
use cuepoint_pages::forms::{FieldState, Keys};
use cuepoint_pages::frame::{Frame, Live, LiveStream, Viewer};
use cuepoint_pages::front::LoginPage;
use cuepoint_pages::guest::{GuestPage, GuestPart, RequestEntry, RequestForm};
use cuepoint_pages::language::Language;
use time::Duration;

use super::{Sample, guest, now, people, site};

/// Markup, quotes, an override of the direction, and a long word: 60 characters.
pub const MARKUP: &str = "\"'><script>alert(1)</script> onload=x \u{202e}אבג&amp;{{ 7 }}wwwwwww";

fn markup(length: usize) -> String {
    let long = format!("{MARKUP}{}", "W".repeat(255));
    long.chars().take(length).collect()
}

fn line() -> Line {
    Line::new(&markup(255)).expect("a line")
}

fn song() -> Song {
    Song { title: line(), artist: line() }
}

fn guest_page(language: Language) -> Sample {
    let site = site();
    let user = User { name: line(), ..people::guest() };
    let frame = Frame { viewer: Some(Viewer::of(&user)), ..Frame::new(&site, language, now()) };
    let mut board = guest::board();
    board.dj.name = line();
    if let Some(gig) = &mut board.gig {
        let details = &mut gig.gig.details;
        details.title = GigTitle::new(&markup(80)).expect("a title");
        (details.venue, details.city) = (Some(line()), Some(line()));
        details.message = Some(ShortMessage::new(&markup(140)).expect("a message"));
        gig.last_played = Some((song(), now()));
        gig.up_next.iter_mut().for_each(|next| next.song = song());
    }
    let mut requests = guest::all_states();
    for own in &mut requests {
        own.request = MusicRequest { song_title: line(), artist_name: line(), ..own.request.clone() };
        own.message = Some(ShortMessage::new(&markup(140)).expect("a message"));
    }
    let offers = guest::places_of(1_250, 800);
    let most_played = [song()];
    let text = || FieldState::refused(markup(255), language.texts().too_long(255));
    let form = RequestForm {
        song_title: text(),
        artist_name: text(),
        message: text(),
        name: Some(text()),
        ..guest::form(&offers, &most_played)
    };
    let stream = LiveStream { path: "/x?\"><script>", shown: board.version() };
    let part = GuestPart {
        frame: &frame,
        board: &board,
        requests: &requests,
        ended_at: None,
        keys: Keys::new("6rY2mQ0xS1uVb8Zp3kLw9A"),
        offers: Some(guest::offer_fields(&offers)),
        is_blocked: false,
        tip: None,
        live: Live { path: "/g/B2C3D4/live?\"><script>", stream: Some(stream) },
    };
    let entry = RequestEntry::Form(Box::new(form));
    let page = GuestPage { frame: &frame, board: &board, entry, part, offers_claim: false, draft: None };
    Sample::new("hostile-guest", page.render())
}

fn account_page(language: Language) -> Sample {
    let site = site();
    let user = User { name: line(), ..people::dj() };
    let frame = Frame { viewer: Some(Viewer::of(&user)), ..Frame::new(&site, language, now()) };
    let client = ClientInfo { address: None, agent: Some(line()) };
    let id = SessionId::new(1).expect("an id");
    let session = Session::begin(id, user.id, client, now(), Duration::days(1));
    let sessions = Rows { rows: vec![session], total: 1 };
    let page = AccountPage {
        frame: &frame,
        user: &user,
        name: FieldState::with(markup(255)),
        phone: FieldState::with(markup(60)),
        email: EmailChange::Open(FieldState::with(markup(255))),
        passwords: PasswordFields::default(),
        sessions: &sessions,
        current: SessionId::new(2).expect("an id"),
        erasure: None,
    };
    Sample::new("hostile-account", page.render())
}

pub fn pages(language: Language) -> Vec<Sample> {
    let site = site();
    let frame = Frame::new(&site, language, now());
    let email = FieldState::with(markup(255));
    let login = LoginPage {
        frame: &frame,
        email,
        refusal: None,
        next: Some(MARKUP),
        has_unknown_key: true,
        guest_money: None,
    };
    let problem = Problem::Broken { incident: MARKUP, may_have_moved_money: true };
    let error = ErrorPage { frame: &frame, problem, back: MARKUP, is_form: false };
    vec![
        guest_page(language),
        account_page(language),
        Sample::new("hostile-login", login.render()),
        Sample::new("hostile-error", error.render()),
    ]
}
