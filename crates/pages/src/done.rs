//! What a form did: the notice of the page that follows.

use strum::{EnumIter, EnumString, IntoEnumIterator as _, IntoStaticStr};

use crate::frame::{NoticeKind, PageNotice};
use crate::texts::{Text, Texts};

/// What a form did. The address of the next page names it, so that no text comes from an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug, EnumIter, EnumString, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum DoneNotice {
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
    /// A wallet link was used.
    WalletOpened,
    #[strum(serialize = "dj")]
    BecameDj,
    /// A request was cancelled by its guest.
    Cancelled,
    Rated,
    Tipped,
    /// What waited for its payment was discarded.
    DraftDiscarded,
    /// What was to be sent after its payment does not wait any more.
    NothingWaits,
    #[strum(serialize = "opened")]
    GigOpened,
    #[strum(serialize = "paused")]
    GigPaused,
    #[strum(serialize = "resumed")]
    GigResumed,
    #[strum(serialize = "ended")]
    GigEnded,
    Accepted,
    Played,
    Rejected,
    Blocked,
    Unblocked,
    /// The rejection of requests of guest accounts has begun.
    RejectsGuests,
}

impl DoneNotice {
    /// All of them.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::iter()
    }

    /// The parameter of an address that names it.
    pub const PARAMETER: &str = "done";

    /// Its name in an address.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The one with this name in an address.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        name.parse().ok()
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
            Self::WalletOpened => t.done_wallet_opened(),
            Self::BecameDj => t.done_became_dj(),
            Self::Cancelled => t.done_cancelled(),
            Self::Rated => t.done_rated(),
            Self::Tipped => t.done_tipped(),
            Self::DraftDiscarded => t.done_draft_discarded(),
            Self::NothingWaits => t.done_nothing_waits(),
            Self::GigOpened => t.did_open(),
            Self::GigPaused => t.did_pause(),
            Self::GigResumed => t.did_resume(),
            Self::GigEnded => t.did_end(),
            Self::Accepted => t.did_accept(),
            Self::Played => t.done_played(),
            Self::Rejected => t.done_rejected(),
            Self::Blocked => t.done_blocked(),
            Self::Unblocked => t.done_unblocked(),
            Self::RejectsGuests => t.done_rejects_guests(),
        }
    }

    /// Its notice.
    #[must_use]
    pub fn notice(self, t: &dyn Texts) -> PageNotice {
        PageNotice { kind: NoticeKind::Done, text: self.text(t) }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::language::Language;

    #[test]
    fn names_are_unique_and_every_notice_has_two_languages() {
        let names: BTreeSet<&str> = DoneNotice::all().map(DoneNotice::name).collect();
        assert_eq!(names.len(), DoneNotice::all().count());
        for done in DoneNotice::all() {
            assert_eq!(DoneNotice::named(done.name()), Some(done));
            let [english, german] = Language::ALL.map(|language| done.notice(language.texts()).text);
            assert!(english != german && !german.is_empty(), "{done:?}");
        }
        for foreign in ["", "Saved", "saved ", "<b>saved</b>", "saved,erased"] {
            assert_eq!(DoneNotice::named(foreign), None);
        }
    }
}
