//! The commands: every change of the ledger that a principal can make.

mod adjustments;
mod music_requests;
mod profiles;
mod provider_messages;
mod topups;
mod user_status;
mod withdrawals;

pub use adjustments::{Adjust, AdjustRefusal, NewAdjustment};
pub use music_requests::{
    AnswerRequest, CancelRequest, DjAnswer, OpenRequest, OpenRequestRefusal, RateRequest, RefundRequest,
};
pub use profiles::ChangeProfile;
pub use provider_messages::ResolveMessage;
pub use topups::{OpenTopup, OpenTopupRefusal, ReverseTopup, SettleSuspense};
pub use user_status::{ChangeUserStatus, ChangeUserStatusRefusal};
pub use withdrawals::{
    CancelWithdrawal, JudgeWithdrawal, Judgement, MoveWithdrawalRefusal, OpenWithdrawal,
    OpenWithdrawalRefusal, SendWithdrawal, SendingStep,
};

pub use crate::application::executor::{Adjusted, Withdrawn};
