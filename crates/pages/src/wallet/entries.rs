//! The statement of a wallet.

use std::collections::BTreeMap;

use askama::Template;
use cuepoint_domain::entity_ref::EntityKind;
use cuepoint_domain::ids::{RequestId, TipId, TopupId};
use cuepoint_domain::ledger::{Entry, EntryKind};
use cuepoint_domain::money::Money;
use cuepoint_domain::page::{PageRequest, Rows};
use cuepoint_domain::provider_reference::ProviderReference;
use cuepoint_domain::text::Line;

use crate::frame::{Frame, renders};
use crate::paging::PageLinks;
use crate::texts::Text;

/// The names of requests, tips and top-ups in a statement, where they are known.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Subjects {
    /// The titles of requested songs.
    pub songs: BTreeMap<RequestId, Line>,
    /// The DJs to whom the owner gave tips.
    pub djs: BTreeMap<TipId, Line>,
    /// The references of payments.
    pub payments: BTreeMap<TopupId, ProviderReference>,
}

/// What an entry is about.
pub(crate) enum Subject<'a> {
    /// A song or a DJ.
    Named(&'a str),
    /// A payment, which has a page.
    Payment(ProviderReference),
    /// Anything else in words, such as `payout 4`.
    Other(String),
}

/// A line of a statement.
#[derive(Clone, Copy, Debug)]
pub struct StatementRow<'a> {
    pub entry: &'a Entry,
    subjects: &'a Subjects,
    pub(crate) frame: &'a Frame<'a>,
}

/// The page `/wallet/statement?page=N`.
#[derive(Template, Clone, Debug)]
#[template(path = "wallet/statement.html")]
pub struct StatementPage<'a> {
    pub frame: &'a Frame<'a>,
    pub entries: &'a Rows<Entry>,
    pub subjects: &'a Subjects,
    pub page: PageRequest,
}

impl<'a> StatementRow<'a> {
    /// The line of an entry.
    #[must_use]
    pub const fn new(entry: &'a Entry, subjects: &'a Subjects, frame: &'a Frame<'a>) -> Self {
        Self { entry, subjects, frame }
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

    /// What the entry is about, unless its label says it.
    pub(crate) fn about(&self) -> Option<Subject<'a>> {
        let (t, reference, subjects) = (self.frame.t, self.entry.reference, self.subjects);
        let numbered = |word: Text| Subject::Other(format!("{word} {}", reference.id()));
        let id = reference.id();
        Some(match reference.kind().ok()? {
            EntityKind::MusicRequest => {
                let song = RequestId::new(id).and_then(|request| subjects.songs.get(&request));
                song.map_or_else(|| numbered(t.about_request()), |song| Subject::Named(song.as_str()))
            }
            EntityKind::Withdrawal => numbered(t.about_withdrawal()),
            EntityKind::Topup => {
                let payment = TopupId::new(id).and_then(|topup| subjects.payments.get(&topup));
                payment.map_or_else(|| numbered(t.about_topup()), |payment| Subject::Payment(*payment))
            }
            EntityKind::Tip => match TipId::new(id).and_then(|tip| subjects.djs.get(&tip)) {
                Some(dj) => Subject::Named(dj.as_str()),
                None if self.entry.kind == EntryKind::Tip => return None,
                None => Subject::Other(t.about_tip().into_owned()),
            },
            _ => return None,
        })
    }

    /// The link to a payment, with the beginning of its reference.
    pub(crate) fn payment(&self, reference: &ProviderReference) -> Text {
        let beginning: String = reference.to_string().chars().take(8).collect();
        self.frame.t.about_payment(&beginning)
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
        self.entries.rows.iter().map(|entry| StatementRow::new(entry, self.subjects, self.frame))
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
