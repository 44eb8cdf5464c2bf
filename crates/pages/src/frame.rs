//! What all pages share: the configuration of the deployment, the language, the user, and the layout.

use std::borrow::Borrow;
use std::hash::{BuildHasher as _, Hasher as _};

use cuepoint_domain::gig::BoardVersion;
use cuepoint_domain::ids::UserId;
use cuepoint_domain::money::{Currency, Money};
use cuepoint_domain::text::Line;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::{Role, User};
use foldhash::quality::FixedState;
use memchr::memmem::Finder;
use memchr::memrchr;

use crate::accent::AccentSheet;
use crate::assets::{BOOTH_STYLE, DISPLAY_STYLE, ICON, SCRIPT, STYLE, TOUCH_ICON};
use crate::format::{self, ClockTime, Escaped, Time, UserText};
use crate::forms::Keys;
use crate::language::Language;
use crate::texts::{Text, Texts};

/// What the configuration of a deployment determines for all pages.
#[derive(Clone, Debug)]
pub struct Site {
    /// The currency of the wallets.
    pub currency: Currency,
    /// Links at the foot of each page, such as the imprint.
    pub links: Vec<SiteLink>,
    /// The style sheet of the accent colour.
    pub accent: AccentSheet,
}

/// A link at the foot of each page.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SiteLink {
    pub text: String,
    pub url: String,
}

/// The user who reads a page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Viewer<'a> {
    /// The user's id, which forms that move money name.
    pub id: UserId,
    pub name: &'a Line,
    /// Whether the user is a DJ, who has a booth.
    pub is_dj: bool,
    pub role: Role,
}

impl<'a> Viewer<'a> {
    /// The viewer who is this user.
    #[must_use]
    pub const fn of(user: &'a User) -> Self {
        Self { id: user.id, name: &user.name, is_dj: user.is_dj(), role: user.role }
    }

    /// Whether the user has a guest account, which has no login yet.
    #[must_use]
    pub fn has_guest_account(&self) -> bool {
        self.role == Role::Guest
    }
}

/// A message above the content, such as the result of the last post.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PageNotice {
    pub kind: NoticeKind,
    pub text: Text,
}

/// The kind of a notice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NoticeKind {
    /// Something was done.
    Done,
    /// Something needs the user's attention.
    Attention,
    /// Something was lost, such as a payment that failed.
    Loss,
}

impl NoticeKind {
    /// The class of its element.
    #[must_use]
    pub const fn class(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Attention => "attention",
            Self::Loss => "loss",
        }
    }
}

/// What all pages share.
#[derive(Clone)]
pub struct Frame<'a> {
    pub site: &'a Site,
    pub language: Language,
    /// The texts of the language.
    pub t: &'static dyn Texts,
    /// The time of the response.
    pub now: Timestamp,
    /// The user who is logged in or has a guest account.
    pub viewer: Option<Viewer<'a>>,
    pub notice: Option<PageNotice>,
}

impl<'a> Frame<'a> {
    /// The frame of a page for a reader without a session, and without a notice.
    #[must_use]
    pub fn new(site: &'a Site, language: Language, now: Timestamp) -> Self {
        Self { site, language, t: language.texts(), now, viewer: None, notice: None }
    }

    /// The frame with this notice, or with its own if there is none.
    #[must_use]
    pub fn saying(self, notice: Option<PageNotice>) -> Self {
        Self { notice: notice.or(self.notice), ..self }
    }

    /// The amount with the code of the currency.
    #[must_use]
    pub fn amount(&self, money: impl Borrow<Money>) -> String {
        format::amount(*money.borrow(), &self.site.currency, self.language)
    }

    /// The amount with the code of the currency, or "free".
    #[must_use]
    pub fn price(&self, money: impl Borrow<Money>) -> Text {
        let money = money.borrow();
        if money.is_zero() { self.t.free() } else { self.amount(money).into() }
    }

    /// The amount as a field shows it, without the currency.
    #[must_use]
    pub fn number(&self, money: impl Borrow<Money>) -> String {
        format::number(*money.borrow(), &self.site.currency, self.language)
    }

    /// The text of a user as an element.
    #[must_use]
    pub const fn user<'t>(&self, text: &'t str) -> UserText<'t> {
        UserText(text)
    }

    /// The element of a time.
    #[must_use]
    pub fn time(&self, at: impl Borrow<Timestamp>) -> Time<'static> {
        Time { at: *at.borrow(), now: self.now, texts: self.t }
    }

    /// The element of a time of the day.
    #[must_use]
    pub fn clock(&self, at: impl Borrow<Timestamp>) -> ClockTime {
        ClockTime(*at.borrow())
    }

    /// The common style sheet, the style sheets of booth and display, the script, and the icons.
    #[must_use]
    pub fn assets(&self) -> Assets {
        Assets {
            style: STYLE.path,
            booth_style: BOOTH_STYLE.path,
            display_style: DISPLAY_STYLE.path,
            script: SCRIPT.path,
            icon: ICON.path,
            touch_icon: TOUCH_ICON.path,
            accent: self.site.accent.path(),
        }
    }
}

impl std::fmt::Debug for Frame<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Frame")
            .field("language", &self.language)
            .field("now", &self.now)
            .finish_non_exhaustive()
    }
}

/// The paths of assets.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Assets {
    /// The style sheet of all pages.
    pub style: &'static str,
    pub booth_style: &'static str,
    pub display_style: &'static str,
    pub script: &'static str,
    pub icon: &'static str,
    /// The icon on the home screen of a phone.
    pub touch_icon: &'static str,
    /// The style sheet of the accent colour.
    pub accent: String,
}

/// Where the live part of a page is read, and what announces its changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Live<'a> {
    /// The path that returns the part alone.
    pub path: &'a str,
    /// What announces changes; `None` if the part is read at intervals.
    pub stream: Option<LiveStream<'a>>,
}

/// The stream that announces changes of the board that a part shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LiveStream<'a> {
    pub path: &'a str,
    /// The version that the part shows.
    pub shown: BoardVersion,
}

/// A part of a page that is replaced when it changes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RenderedPart {
    pub html: String,
    /// The digest of what the part shows, equal on every server.
    pub digest: String,
}

/// What separates the digest of a part from the version of the board.
const BEFORE_VERSION: char = '-';

/// The digest of what a part shows, of 16 hexadecimal digits. It leaves out what changes without a change of the part:
/// the keys of forms, and the texts of times beside their attribute `datetime`. The only effect of a collision is
/// a part that is not read again.
pub(crate) fn digest(html: &str, keys: Option<Keys<'_>>) -> String {
    let mut hash = FixedState::default().build_hasher();
    let (key, end_of_time) = (keys.and_then(Keys::finder), Finder::new("</time>"));
    let mut add = |mut shown: &[u8]| {
        while let Some((before, after)) = key.as_ref().and_then(|key| split_once(shown, key)) {
            hash.write(before);
            shown = after;
        }
        hash.write(shown);
    };
    let mut rest = html.as_bytes();
    while let Some((before, after)) = split_once(rest, &end_of_time) {
        let text_of_time = memrchr(b'>', before).unwrap_or_default();
        add(before.get(..text_of_time).unwrap_or_default());
        rest = after;
    }
    add(rest);
    format!("{:016x}", hash.finish())
}

/// The digest without the version of a board at its end.
#[must_use]
pub fn digest_of_content(digest: &str) -> &str {
    digest.split_once(BEFORE_VERSION).map_or(digest, |(content, _)| content)
}

/// What is before and after the first mark.
fn split_once<'h>(html: &'h [u8], mark: &Finder<'_>) -> Option<(&'h [u8], &'h [u8])> {
    let (before, rest) = html.split_at_checked(mark.find(html)?)?;
    Some((before, rest.strip_prefix(mark.needle())?))
}

/// Gives a page the method `render`.
macro_rules! renders {
    ($($page:ident),+ $(,)?) => {$(
        impl $page<'_> {
            /// The page as HTML.
            #[must_use]
            pub fn render(&self) -> String {
                // Rendering fails only if formatting does, and no text of a page does.
                ::askama::Template::render(self).unwrap_or_default()
            }
        }
    )+};
}

pub(crate) use renders;

/// The live element with this id around the content, and the keys of its forms. Its digest ends with the version of the
/// board, which the script compares with those of the stream.
pub(crate) fn render_live(id: &str, live: Live<'_>, keys: Option<Keys<'_>>, content: &str) -> RenderedPart {
    let mut digest = digest(content, keys);
    let path = Escaped(live.path);
    let mut stream = String::new();
    if let Some(LiveStream { path, shown }) = live.stream {
        digest = format!("{digest}{BEFORE_VERSION}{shown}");
        stream = format!(" data-stream=\"{}\"", Escaped(path));
    }
    let html = format!(
        "<div id=\"{id}\" class=\"live stack\" data-live=\"{path}\" data-digest=\"{digest}\"{stream}>{content}</div>"
    );
    RenderedPart { html, digest }
}
