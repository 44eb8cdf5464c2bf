//! The wallet: balances, statement, top-ups, withdrawals and tips.
//!
//! [`page`] is the whole page; [`entries`], [`payments`] and [`tips`] are the lists in it; [`payout`] is the form of a
//! withdrawal and its confirmation; [`link`] moves a wallet to another browser.

pub mod entries;
pub mod link;
pub mod page;
pub mod payments;
pub mod payout;
pub mod tips;

pub use entries::{StatementPage, StatementRow, Subjects};
pub use link::{LinkOverPage, OwnSession, WalletLinkPage};
pub use page::{Hold, TopupForm, WalletPage};
pub use payments::{TopupRow, WithdrawalRow};
pub use payout::{ConfirmPayoutPage, Payout, PayoutForm};
pub use tips::TipRow;
