//! The start page, and the pages of logins and registrations.

use cuepoint_domain::application::queries::{GigOfGuest, NearbyBoard, ShownGig};
use cuepoint_domain::application::{Address, FirstOperatorWay, LoginRefusal};
use cuepoint_domain::gig::GigStatus;
use cuepoint_domain::ledger::Balance;
use cuepoint_domain::money::Money;
use cuepoint_domain::user::Kilometres;
use cuepoint_pages::forms::{AccountFields, FieldState};
use cuepoint_pages::frame::{Frame, NoticeKind, PageNotice, Viewer};
use cuepoint_pages::front::{
    ClaimPage, FirstOperatorPage, ForgotPage, ForgotState, LoginPage, RegisterPage, ResetPage, StartPage,
    VerifyPage,
};
use cuepoint_pages::language::Language;

use super::{Sample, guest, now, people, site};

fn nearby() -> Vec<NearbyBoard> {
    let board = guest::board();
    let gig = board.gig.expect("an open gig").gig;
    let near = |km| NearbyBoard {
        gig: ShownGig { gig: gig.clone(), status: GigStatus::Open },
        dj: people::dj(),
        distance: Kilometres::new(km).expect("a distance"),
    };
    vec![near(0.4), near(2.85), near(24.0)]
}

pub fn pages(language: Language) -> Vec<Sample> {
    let site = site();
    let t = language.texts();
    let frame = Frame::new(&site, language, now());
    let frame = &frame;
    let empty = FieldState::default;
    let email = || FieldState::with("tom@example.com");
    let boards = nearby();
    let start = |nearby, first_operator| {
        let code = FieldState::default();
        StartPage { frame, gigs: &[], own_gig: None, code, nearby, first_operator }
    };
    let notice = PageNotice { kind: NoticeKind::Attention, text: t.not_found_title() };
    let not_found = frame.clone().saying(Some(notice));
    let joined = GigOfGuest { gig: guest::board().gig.expect("an open gig").gig, dj: people::dj() };
    let back =
        StartPage { gigs: std::slice::from_ref(&joined), own_gig: Some(&joined.gig), ..start(None, None) };
    let login = |refusal: Option<LoginRefusal>, guest_money| {
        let has_unknown_key = refusal.is_some();
        LoginPage { frame, email: email(), refusal, next: Some("/wallet"), has_unknown_key, guest_money }
            .render()
    };
    let register = |is_dj, email, password| {
        let account = AccountFields { name: FieldState::with("Nadja Vinyl"), email, password };
        RegisterPage { frame, account, is_dj, next: None }.render()
    };
    let taken = FieldState::refused("tom@example.com", t.email_taken());
    let breached = FieldState::refused("", t.breached_password());
    let verify = |address, shown, is_sent, code| {
        VerifyPage { frame, address, shown, is_sent, code, problem: None }.render()
    };
    let user = people::guest();
    let own = Frame { viewer: Some(Viewer::of(&user)), ..frame.clone() };
    let balance = Balance { available: Money::from_minor(1_980), ..Balance::default() };
    let claim = |held| ClaimPage {
        frame: &own,
        balance: Balance { held: Money::from_minor(held), ..balance },
        email: empty(),
        password: empty(),
        next: Some("/g/B2C3D4"),
    };
    let forgot = |state| ForgotPage { frame, email: empty(), state }.render();
    let reset =
        ResetPage { frame, token: FieldState::refused("abc", t.wrong_token()), password: breached.clone() };
    let operator = FirstOperatorPage {
        frame,
        code: FieldState::refused("XYZ", t.wrong_code()),
        account: AccountFields::default(),
    };
    let money = Some(Money::from_minor(500));
    [
        ("start", start(None, None).render()),
        ("start-back", back.render()),
        ("start-nearby", start(Some(&boards), None).render()),
        ("start-nearby-none", start(Some(&[]), None).render()),
        ("start-no-operator", start(None, Some(FirstOperatorWay::Code)).render()),
        ("start-no-operator-command", start(None, Some(FirstOperatorWay::CommandLine)).render()),
        ("start-not-found", StartPage { frame: &not_found, ..start(None, None) }.render()),
        ("login", login(None, None)),
        ("login-refused", login(Some(LoginRefusal::InvalidCredentials), money)),
        ("login-suspended", login(Some(LoginRefusal::Suspended), None)),
        ("register", register(false, empty(), empty())),
        ("register-dj", register(true, empty(), empty())),
        ("register-refused", register(false, taken, breached)),
        ("claim", claim(0).render()),
        ("claim-held", claim(1_250).render()),
        ("forgot", forgot(ForgotState::Form)),
        ("forgot-sent", forgot(ForgotState::Sent)),
        ("forgot-not-offered", forgot(ForgotState::NotOffered)),
        ("reset", reset.render()),
        ("verify", verify(Address::Email, "tom@example.com", false, empty())),
        (
            "verify-refused",
            verify(Address::Phone, "+4930123456", true, FieldState::refused("12345", t.wrong_code())),
        ),
        ("first-operator", operator.render()),
    ]
    .map(|(name, html)| Sample::new(name, html))
    .into()
}
