//! The account, and the page that asks for the password again.

use cuepoint_domain::application::EraseRefusal;
use cuepoint_domain::ids::SessionId;
use cuepoint_domain::page::Rows;
use cuepoint_domain::privacy::ErasureRefusal;
use cuepoint_domain::text::Line;
use cuepoint_domain::user::User;
use cuepoint_domain::user::session::{ClientInfo, Session};
use cuepoint_pages::account::{AccountPage, EmailChange, PasswordFields, PasswordPage};
use cuepoint_pages::forms::FieldState;
use cuepoint_pages::frame::{Frame, Viewer};
use cuepoint_pages::language::Language;
use time::Duration;

use super::{Sample, now, people, site};

fn sessions() -> Rows<Session> {
    let session = |id: i64, agent: Option<&str>, hours: i64| {
        let agent = agent.map(|agent| Line::new(agent).expect("an agent"));
        let began = now().minus(Duration::hours(hours));
        let client = ClientInfo { address: None, agent };
        let user = people::guest().id;
        Session::begin(SessionId::new(id).expect("an id"), user, client, began, Duration::days(90))
    };
    let safari = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Safari/604.1";
    Rows { rows: vec![session(3, None, 0), session(2, Some(safari), 26), session(1, None, 400)], total: 3 }
}

pub fn pages(language: Language) -> Vec<Sample> {
    let site = site();
    let t = language.texts();
    let sessions = sessions();
    let page = |name: &str, user: &User, email, passwords, erasure| {
        let frame = Frame { viewer: Some(Viewer::of(user)), ..Frame::new(&site, language, now()) };
        let page = AccountPage {
            frame: &frame,
            user,
            name: FieldState::with(user.name.as_str()),
            phone: FieldState::default(),
            email,
            passwords,
            sessions: &sessions,
            current: SessionId::new(3).expect("an id"),
            erasure,
        };
        Sample::new(format!("account{name}"), page.render())
    };
    let none = PasswordFields::default;
    let open = || EmailChange::Open(FieldState::default());
    let (member, dj, guest) = (people::guest(), people::dj(), people::guest_account());
    let verified = User { email_verified: true, ..people::dj() };
    let refused = PasswordFields {
        current: FieldState::refused("", t.wrong_password()),
        new: FieldState::refused("", t.breached_password()),
    };
    let taken = EmailChange::Open(FieldState::refused("tom@example.com", t.same_address()));
    let code = EmailChange::CodeSent(FieldState::default());
    let locked = EmailChange::Locked(now().plus(Duration::days(3)));
    let money_left = EraseRefusal::Rule(ErasureRefusal::MoneyLeft);
    let frame = Frame { viewer: Some(Viewer::of(&member)), ..Frame::new(&site, language, now()) };
    let again = |name, password| {
        let fields = &[("next", "/account")];
        let (email, action) = ("tom@example.com", "/account/confirm");
        let page = PasswordPage { frame: &frame, email, password, action, fields };
        Sample::new(name, page.render())
    };
    vec![
        page("", &member, open(), none(), None),
        page("-dj", &verified, locked, none(), None),
        page("-guest", &guest, EmailChange::NotOffered, none(), Some(EraseRefusal::GuestMoneyLeft)),
        page("-refused", &dj, taken, refused, Some(EraseRefusal::WrongPassword)),
        page("-code-sent", &member, code, none(), Some(money_left)),
        again("account-password", FieldState::default()),
        again("account-password-refused", FieldState::refused("", t.wrong_password())),
    ]
}
