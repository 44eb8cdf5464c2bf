//! The page `/wallet`.

use askama::Template;
use cuepoint_domain::ledger::{Balance, Entry, EntryKind};
use cuepoint_domain::money::{Amount, Money};
use cuepoint_domain::music_request::MusicRequest;
use cuepoint_domain::page::Rows;
use cuepoint_domain::topup::Topup;
use cuepoint_domain::withdrawal::{Clearing, Withdrawal};

use super::entries::{StatementRow, Subject, Subjects};
use super::payments::{TopupRow, WithdrawalRow};
use super::payout::Payout;
use super::tips::TipRow;
use crate::forms::{FieldState, KeptWallet, Keys};
use crate::frame::{Frame, renders};
use crate::texts::Text;

/// The page `/wallet`.
#[derive(Template, Clone, Debug)]
#[template(path = "wallet/page.html")]
pub struct WalletPage<'a> {
    pub frame: &'a Frame<'a>,
    pub balance: Balance,
    /// The part of the available balance that cannot be withdrawn yet.
    pub clearing: Clearing,
    /// What holds the held balance.
    pub holds: &'a [Hold<'a>],
    /// The part of the held balance behind further requests and withdrawals.
    pub held_otherwise: Option<Money>,
    /// The newest entry that [increases the debt](Entry::increases_debt), if the wallet owes.
    pub debt: Option<&'a Entry>,
    /// The wallets with money that the browser had before, newest first.
    pub guest_wallets: &'a [KeptWallet],
    /// Whether the browser can keep no other wallet.
    pub guest_wallets_are_full: bool,
    /// The newest entries.
    pub entries: &'a Rows<Entry>,
    /// What names the subjects of the entries.
    pub subjects: &'a Subjects,
    /// The form of a top-up; `None` if the deployment takes none.
    pub topup: Option<TopupForm>,
    /// The newest top-ups.
    pub topups: &'a Rows<Topup>,
    pub payout: Payout<'a>,
    /// The newest withdrawals.
    pub withdrawals: &'a Rows<Withdrawal>,
    /// The newest tips, given and received.
    pub tips: &'a [TipRow<'a>],
    pub keys: Keys<'a>,
}

/// What holds money of a wallet.
#[derive(Clone, Copy, Debug)]
pub enum Hold<'a> {
    /// An open request.
    Request(&'a MusicRequest),
    /// A withdrawal that holds its amount.
    Withdrawal(&'a Withdrawal),
}

impl Hold<'_> {
    /// What it holds.
    #[must_use]
    pub const fn amount(&self) -> Money {
        match self {
            Self::Request(request) => request.fee,
            Self::Withdrawal(withdrawal) => withdrawal.amount.money(),
        }
    }
}

/// The form of a top-up: `POST /topups` with `key` and `amount`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TopupForm {
    pub amount: FieldState,
    /// The smallest top-up.
    pub least: Option<Amount>,
}

impl WalletPage<'_> {
    fn rows(&self) -> impl Iterator<Item = StatementRow<'_>> {
        self.entries.rows.iter().map(|entry| StatementRow::new(entry, self.subjects, self.frame))
    }

    fn topup_rows(&self) -> impl Iterator<Item = TopupRow<'_>> {
        self.topups.rows.iter().map(|topup| TopupRow::new(topup, self.frame))
    }

    fn withdrawal_rows(&self) -> impl Iterator<Item = WithdrawalRow<'_>> {
        self.withdrawals.rows.iter().map(|withdrawal| WithdrawalRow::new(withdrawal, self.frame))
    }

    /// Why the wallet owes.
    fn debt_reason(&self) -> Option<Text> {
        let t = self.frame.t;
        Some(match self.debt?.kind {
            EntryKind::Chargeback => t.debt_chargeback(),
            EntryKind::Reversal => t.debt_reversal(),
            _ => t.debt_adjustment(),
        })
    }

    fn has_guest_account(&self) -> bool {
        self.frame.viewer.is_some_and(|viewer| viewer.has_guest_account())
    }

    /// Whether the owner is a DJ. The wallet then begins with payouts.
    fn is_of_dj(&self) -> bool {
        self.frame.viewer.is_some_and(|viewer| viewer.is_dj)
    }

    /// The hint of the amount of a top-up.
    fn topup_hint(&self, form: &TopupForm) -> Text {
        form.least.map_or_else(Text::default, |least| self.frame.t.minimum(&self.frame.amount(least.money())))
    }
}

renders!(WalletPage);
