//! What clients see of the domain's things: exactly these keys, always all of them.

mod adjustment;
mod audit;
mod block;
mod exported;
mod json_web_key;
mod operator_topup;
mod operator_withdrawal;
mod people;
mod personal_data;
mod provider_message;
mod request;
mod security_event;
mod session;
mod staff;
mod topup;
mod wallet;
mod withdrawal;
mod withdrawal_options;

pub use adjustment::{Adjusted, Adjustment};
pub use audit::{Audit, AuditData};
pub use block::{Block, BlockData};
pub use exported::{
    Account, BlockedBy, Challenge, ExportedEntry, ExportedSession, ExportedWithdrawal, Operation,
};
pub use json_web_key::{JsonWebKey, JsonWebKeySet};
pub use operator_topup::{OperatorTopup, OperatorTopupData, Suspense, SuspenseData};
pub use operator_withdrawal::OperatorWithdrawal;
pub use people::{Dj, DjData, User, UserData};
pub use personal_data::{PersonalData, row};
pub use provider_message::{ContradictingMessage, ProviderMessage, ProviderMessageData};
pub use request::MusicRequest;
pub use security_event::SecurityEvent;
pub use session::{ActiveSession, LoginNetwork, Nothing, Session};
pub use staff::{Person, PersonData};
pub use topup::{Topup, TopupData};
pub use wallet::{Entry, Reference, Wallet, WalletData};
pub use withdrawal::{Withdrawal, WithdrawalRequest, WithdrawalRequested};
pub use withdrawal_options::{WithdrawalOption, WithdrawalOptions};
