//! What clients see of the domain's things: exactly these keys, always all of them.

mod adjustment;
mod audit;
mod people;
mod request;
mod session;
mod topup;
mod wallet;
mod withdrawal;
mod withdrawal_options;

pub use adjustment::{Adjusted, Adjustment};
pub use audit::{Audit, AuditData, STATUSES as AUDIT_STATUSES};
pub use people::{Dj, DjData, User, UserData};
pub use request::MusicRequest;
pub use session::{Nothing, Session};
pub use topup::{Topup, TopupData};
pub use wallet::{Entry, Reference, Wallet, WalletData};
pub use withdrawal::{Withdrawal, WithdrawalRequest, WithdrawalRequested};
pub use withdrawal_options::{WithdrawalOption, WithdrawalOptions};
