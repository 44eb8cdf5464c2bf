//! The page `/account`.

use askama::Template;
use cuepoint_domain::application::EraseRefusal;
use cuepoint_domain::ids::SessionId;
use cuepoint_domain::page::Rows;
use cuepoint_domain::privacy::ErasureRefusal;
use cuepoint_domain::text::Line;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::User;
use cuepoint_domain::user::session::Session;

use crate::forms::FieldState;
use crate::frame::{Frame, renders};
use crate::texts::Text;

/// The page `/account`. Its forms are `POST /account/name` (`name`), `/account/phone` (`phone`), `/account/email`
/// (`email`), `/account/email/confirm` (`code`), `/account/dj`, `/account/password` (`current`, `password`),
/// `/account/sessions/{id}/end`, `/account/sessions/end`, `/account/export`, `/account/erase` (`password`), `/logout`.
#[derive(Template, Clone, Debug)]
#[template(path = "account/page.html")]
pub struct AccountPage<'a> {
    pub frame: &'a Frame<'a>,
    pub user: &'a User,
    pub name: FieldState,
    pub phone: FieldState,
    pub email: EmailChange,
    pub passwords: PasswordFields,
    /// The live sessions, the newest first.
    pub sessions: &'a Rows<Session>,
    /// The session of this browser.
    pub current: SessionId,
    /// Why the last erasure was refused.
    pub erasure: Option<ErasureProblem>,
}

/// The state of a change of the e-mail address.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum EmailChange {
    /// A new address can be given.
    Open(FieldState),
    /// The new address has received a code.
    CodeSent(FieldState),
    /// The previous address can be restored until this time.
    Locked(Timestamp),
    /// The deployment sends no e-mail.
    NotOffered,
}

/// The errors of a refused change of the password.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PasswordFields {
    /// Only its error is shown.
    pub current: FieldState,
    /// Only its error is shown.
    pub new: FieldState,
}

/// Why an erasure was refused.
pub type ErasureProblem = EraseRefusal;

impl AccountPage<'_> {
    fn is_guest(&self) -> bool {
        self.user.is_guest_account()
    }

    fn erasure_problem(&self) -> Option<Text> {
        let t = self.frame.t;
        Some(match self.erasure? {
            EraseRefusal::PasswordMissing => t.fill_in(),
            EraseRefusal::WrongPassword => t.wrong_password(),
            EraseRefusal::GuestMoneyLeft => t.erase_guest_money_left(),
            EraseRefusal::Rule(ErasureRefusal::ConfirmationOutdated) => t.erase_outdated(),
            EraseRefusal::Rule(ErasureRefusal::MoneyLeft) => t.erase_money_left(),
            EraseRefusal::Rule(ErasureRefusal::LastOperator) => t.erase_last_operator(),
            EraseRefusal::Rule(ErasureRefusal::TopupPending) => t.erase_topup_pending(),
            EraseRefusal::Rule(ErasureRefusal::EmailRestorable(_)) => t.erase_restorable(),
        })
    }

    fn is_current(&self, session: &Session) -> bool {
        session.id == self.current
    }

    fn device(&self, agent: &Line) -> String {
        device(agent.as_str())
    }

    /// The field of the password of an erasure, without its value.
    fn erasure_password(&self) -> FieldState {
        FieldState { value: String::new(), error: self.erasure_problem() }
    }
}

/// The system and the browser that a user agent names, or its text if it names none that is known.
fn device(agent: &str) -> String {
    const BROWSERS: &[(&str, &str)] = &[
        ("Edg", "Edge"),
        ("OPR/", "Opera"),
        ("Firefox/", "Firefox"),
        ("FxiOS/", "Firefox"),
        ("CriOS/", "Chrome"),
        ("Chrome/", "Chrome"),
        ("Safari/", "Safari"),
    ];
    const SYSTEMS: &[(&str, &str)] = &[
        ("iPhone", "iPhone"),
        ("iPad", "iPad"),
        ("Android", "Android"),
        ("Windows", "Windows"),
        ("Macintosh", "Mac"),
        ("Linux", "Linux"),
    ];
    let named = |names: &[(&str, &'static str)]| {
        names.iter().find(|(mark, _)| agent.contains(mark)).map(|(_, name)| *name)
    };
    match (named(SYSTEMS), named(BROWSERS)) {
        (Some(system), Some(browser)) => format!("{system} · {browser}"),
        _ => agent.to_owned(),
    }
}

renders!(AccountPage);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_names_its_system_and_browser() {
        for (agent, shown) in [
            ("Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Safari/604.1", "iPhone · Safari"),
            ("Mozilla/5.0 (Linux; Android 16) Chrome/140.0 Mobile Safari/537.36", "Android · Chrome"),
            ("Mozilla/5.0 (Windows NT 10.0) Chrome/140.0 Safari/537.36 Edg/140.0", "Windows · Edge"),
            ("curl/8.5.0", "curl/8.5.0"),
        ] {
            assert_eq!(device(agent), shown);
        }
    }
}
