//! What a form did: the notice of the page that follows.

use crate::frame::{Notice, NoticeKind};
use crate::texts::{Text, Texts};

/// What a form did. The address of the next page names it, so that no text comes from an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Done {
    /// A value was saved.
    Saved,
    /// The password of a session was changed.
    PasswordChanged,
    /// The password was set with a token.
    PasswordSet,
    /// The password was repeated for the next step.
    PasswordConfirmed,
    /// The e-mail address was changed.
    EmailChanged,
    /// An e-mail address or a phone number was confirmed.
    Verified,
    /// Another session ended.
    SessionEnded,
    /// All sessions ended.
    SessionsEnded,
    LoggedOut,
    Erased,
    /// A guest account was claimed.
    Claimed,
    BecameDj,
    /// A request was cancelled by its guest.
    Cancelled,
    Rated,
    Tipped,
    GigOpened,
    GigPaused,
    GigResumed,
    GigEnded,
    Accepted,
    Played,
    Rejected,
    Blocked,
    /// The rejection of requests of guest accounts has begun.
    RejectsGuests,
}

impl Done {
    /// All of them.
    pub const ALL: [Self; 24] = [
        Self::Saved,
        Self::PasswordChanged,
        Self::PasswordSet,
        Self::PasswordConfirmed,
        Self::EmailChanged,
        Self::Verified,
        Self::SessionEnded,
        Self::SessionsEnded,
        Self::LoggedOut,
        Self::Erased,
        Self::Claimed,
        Self::BecameDj,
        Self::Cancelled,
        Self::Rated,
        Self::Tipped,
        Self::GigOpened,
        Self::GigPaused,
        Self::GigResumed,
        Self::GigEnded,
        Self::Accepted,
        Self::Played,
        Self::Rejected,
        Self::Blocked,
        Self::RejectsGuests,
    ];

    /// The parameter of an address that names it.
    pub const PARAMETER: &str = "done";

    /// Its name in an address.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Saved => "saved",
            Self::PasswordChanged => "password-changed",
            Self::PasswordSet => "password-set",
            Self::PasswordConfirmed => "password-confirmed",
            Self::EmailChanged => "email-changed",
            Self::Verified => "verified",
            Self::SessionEnded => "session-ended",
            Self::SessionsEnded => "sessions-ended",
            Self::LoggedOut => "logged-out",
            Self::Erased => "erased",
            Self::Claimed => "claimed",
            Self::BecameDj => "dj",
            Self::Cancelled => "cancelled",
            Self::Rated => "rated",
            Self::Tipped => "tipped",
            Self::GigOpened => "opened",
            Self::GigPaused => "paused",
            Self::GigResumed => "resumed",
            Self::GigEnded => "ended",
            Self::Accepted => "accepted",
            Self::Played => "played",
            Self::Rejected => "rejected",
            Self::Blocked => "blocked",
            Self::RejectsGuests => "rejects-guests",
        }
    }

    /// The one with this name in an address.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|done| done.name() == name)
    }

    fn text(self, t: &dyn Texts) -> Text {
        match self {
            Self::Saved => t.done_saved(),
            Self::PasswordChanged => t.done_password_changed(),
            Self::PasswordSet => t.done_password_set(),
            Self::PasswordConfirmed => t.done_password_confirmed(),
            Self::EmailChanged => t.done_email_changed(),
            Self::Verified => t.done_verified(),
            Self::SessionEnded => t.done_session_ended(),
            Self::SessionsEnded => t.done_sessions_ended(),
            Self::LoggedOut => t.done_logged_out(),
            Self::Erased => t.done_erased(),
            Self::Claimed => t.done_claimed(),
            Self::BecameDj => t.done_became_dj(),
            Self::Cancelled => t.done_cancelled(),
            Self::Rated => t.done_rated(),
            Self::Tipped => t.done_tipped(),
            Self::GigOpened => t.did_open(),
            Self::GigPaused => t.did_pause(),
            Self::GigResumed => t.did_resume(),
            Self::GigEnded => t.did_end(),
            Self::Accepted => t.did_accept(),
            Self::Played => t.done_played(),
            Self::Rejected => t.done_rejected(),
            Self::Blocked => t.done_blocked(),
            Self::RejectsGuests => t.done_rejects_guests(),
        }
    }

    /// Its notice.
    #[must_use]
    pub fn notice(self, t: &dyn Texts) -> Notice {
        Notice { kind: NoticeKind::Done, text: self.text(t) }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::language::Language;

    #[test]
    fn names_are_unique_and_every_notice_has_two_languages() {
        let names: BTreeSet<&str> = Done::ALL.iter().map(|done| done.name()).collect();
        assert_eq!(names.len(), Done::ALL.len());
        for done in Done::ALL {
            assert_eq!(Done::named(done.name()), Some(done));
            let [english, german] = Language::ALL.map(|language| done.notice(language.texts()).text);
            assert!(english != german && !german.is_empty(), "{done:?}");
        }
        for foreign in ["", "Saved", "saved ", "<b>saved</b>", "saved,erased"] {
            assert_eq!(Done::named(foreign), None);
        }
    }
}
