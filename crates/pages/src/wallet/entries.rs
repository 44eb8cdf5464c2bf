//! The statement of a wallet.

use std::collections::BTreeMap;

use askama::Template;
use cuepoint_domain::entity_ref::EntityKind;
use cuepoint_domain::ids::RequestId;
use cuepoint_domain::ledger::{Entry, EntryKind};
use cuepoint_domain::money::Money;
use cuepoint_domain::page::{PageRequest, Rows};
use cuepoint_domain::text::Line;

use crate::frame::{Frame, renders};
use crate::paging::PageLinks;
use crate::texts::{Text, Texts};

/// The titles of requested songs, as far as they are known.
pub type Songs = BTreeMap<RequestId, Line>;

/// The request of an entry, if it is about one.
#[must_use]
pub fn request_of(entry: &Entry) -> Option<RequestId> {
    match entry.reference.kind() {
        Ok(EntityKind::MusicRequest) => RequestId::new(entry.reference.id()),
        _ => None,
    }
}

/// A line of a statement.
#[derive(Clone, Copy, Debug)]
pub struct StatementRow<'a> {
    pub entry: &'a Entry,
    /// The titles of requested songs.
    songs: &'a Songs,
    pub(crate) frame: &'a Frame<'a>,
}

/// The page `/wallet/statement?page=N`.
#[derive(Template, Clone, Debug)]
#[template(path = "wallet/statement.html")]
pub struct StatementPage<'a> {
    pub frame: &'a Frame<'a>,
    pub entries: &'a Rows<Entry>,
    pub songs: &'a Songs,
    pub page: PageRequest,
}

impl<'a> StatementRow<'a> {
    /// The line of an entry.
    #[must_use]
    pub const fn new(entry: &'a Entry, songs: &'a Songs, frame: &'a Frame<'a>) -> Self {
        Self { entry, songs, frame }
    }

    /// The song of the request that the entry is about.
    pub(crate) fn song(&self) -> Option<&'a str> {
        request_of(self.entry).and_then(|request| self.songs.get(&request)).map(Line::as_str)
    }

    pub(crate) fn label(&self) -> Text {
        let t = self.frame.t;
        match self.entry.kind {
            EntryKind::Topup => t.entry_topup(),
            EntryKind::Hold => t.entry_hold(),
            EntryKind::Release => t.entry_release(),
            EntryKind::Capture => t.entry_capture(),
            EntryKind::Earning => t.entry_earning(),
            EntryKind::Refund => t.entry_refund(),
            EntryKind::Reversal => t.entry_reversal(),
            EntryKind::Adjustment => t.entry_adjustment(),
            EntryKind::Chargeback => t.entry_chargeback(),
            EntryKind::Tip => t.entry_tip(),
            EntryKind::Unknown(_) => t.entry_other(),
        }
    }

    /// What the entry is about, such as `request 17`.
    pub(crate) fn about(&self) -> Option<String> {
        let t: &dyn Texts = self.frame.t;
        let word = match self.entry.reference.kind().ok()? {
            EntityKind::MusicRequest => t.about_request(),
            EntityKind::Withdrawal => t.about_withdrawal(),
            EntityKind::Topup => t.about_topup(),
            EntityKind::Tip => t.about_tip(),
            _ => return None,
        };
        Some(format!("{word} {}", self.entry.reference.id()))
    }

    /// The change of the balance that moved: the available one, or else the held one, or else the debt.
    fn change(&self) -> Money {
        let change = self.entry.change;
        let moved = [change.available, change.held, change.owed].into_iter().find(|money| !money.is_zero());
        moved.unwrap_or(Money::ZERO)
    }

    pub(crate) fn amount(&self) -> String {
        signed(self.change(), self.frame)
    }

    pub(crate) fn is_income(&self) -> bool {
        self.entry.change.available > Money::ZERO
    }
}

impl StatementPage<'_> {
    fn rows(&self) -> impl Iterator<Item = StatementRow<'_>> {
        self.entries.rows.iter().map(|entry| StatementRow::new(entry, self.songs, self.frame))
    }

    fn paging(&self) -> PageLinks {
        PageLinks::new("/wallet/statement", self.page, self.entries.total)
    }
}

/// The amount with its sign.
pub(crate) fn signed(money: Money, frame: &Frame<'_>) -> String {
    let amount = frame.amount(money);
    match amount.strip_prefix('-') {
        Some(positive) => format!("\u{2212}{positive}"),
        None if money.is_zero() => amount,
        None => format!("+{amount}"),
    }
}

renders!(StatementPage);
