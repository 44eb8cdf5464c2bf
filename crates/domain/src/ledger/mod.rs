//! The ledger: accounts, the transfers between them, and the permanent records of both.
//!
//! A wallet has three balances: *available* (can be spent), *held* (until a request or withdrawal ends) and
//! *owed* (a receivable: the advance of a DJ's refund or the platform's loss from a charge-back, repaid first
//! from later income). The invariant over all accounts: Σ available + held − owed + platform + outside = 0.
//!
//! - [`Account`], [`Wallet`], [`Transfer`]: the accounts, the balances of a user, a movement of money;
//! - [`Entry`], [`EntryKind`], [`Posting`]: the records of wallets and of the other accounts;
//! - [`ChainHash`]: the links between the entries of a wallet;
//! - [`PostingRules`]: which money first repays debt;
//! - [`adjustment`]: an operator's correction of a balance.
//!
//! Money moves only by operations: [`operation`](crate::operation) applies them, [`audit`](crate::audit) checks
//! the result.

mod account;
pub mod adjustment;
mod chain_hash;
mod entry;
mod entry_kind;
mod posting_rules;

pub use account::{Account, Balance, OutsideAccount, PlatformAccount, Transfer, TransferKind, Wallet};
pub use chain_hash::ChainHash;
pub use entry::{Entry, Posting, PostingAccount};
pub use entry_kind::EntryKind;
pub use posting_rules::PostingRules;
