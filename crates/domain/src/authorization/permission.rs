//! Permissions as types: each action of the matrix that a use case authorizes for an entity.

use super::Action;

/// The permission to apply one action.
pub trait Permission: Send + Sync + 'static {
    /// The action.
    const ACTION: Action;
}

macro_rules! permissions {
    ($($name:ident),+ $(,)?) => {$(
        #[doc = concat!("The permission of [`Action::", stringify!($name), "`].")]
        #[derive(Clone, Copy, Debug)]
        pub enum $name {}

        impl Permission for $name {
            const ACTION: Action = Action::$name;
        }
    )+};
}

permissions!(
    UseProfile,
    TakeRequests,
    UseAccount,
    UsePersonalData,
    ReadDjs,
    OpenRequest,
    ReadRequest,
    CancelRequest,
    AnswerRequest,
    BlockGuest,
    UseWallet,
    UseWithdrawal,
    ReadWithdrawals,
    JudgeWithdrawal,
    SendWithdrawal,
    RefundRequest,
    AdjustBalance,
    ReadTopups,
    ReverseTopup,
    SettleSuspense,
    ReadAudit,
    ReadPeople,
    ManagePeople,
    ReadSecurityLog,
    ReadMessages,
    ResolveMessage,
);
