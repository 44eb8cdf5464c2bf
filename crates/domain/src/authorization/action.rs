//! The actions of the matrix, and each of them as a type.

/// The permission to apply one action.
pub trait Permission: Send + Sync + 'static {
    /// The action.
    const ACTION: Action;
}

macro_rules! actions {
    ($($(#[$doc:meta])+ $name:ident,)+) => {
        /// The actions, each a row of the matrix, with its [`Rule`](super::Rule).
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Action {
            $($(#[$doc])+ $name,)+
        }

        impl Action {
            /// Every action, in the order of the matrix.
            pub const ALL: [Self; [$(stringify!($name)),+].len()] = [$(Self::$name),+];
        }

        /// Permissions as types, for the authorization of an entity.
        pub mod permission {
            use super::{Action, Permission};

            $(
                #[doc = concat!("The permission of [`Action::", stringify!($name), "`].")]
                #[derive(Clone, Copy, Debug)]
                pub enum $name {}

                impl Permission for $name {
                    const ACTION: Action = Action::$name;
                }
            )+
        }
    };
}

actions! {
    /// Read and update a profile.
    UseProfile,
    /// Go online and set prices; own is the principal's own presence.
    TakeRequests,
    /// List and end sessions, change the password or the e-mail address, verify an address.
    UseCredentials,
    /// Export or erase personal data.
    UsePersonalData,
    /// Read DJs.
    ReadDjs,
    /// Make a request; own is one that the principal pays.
    OpenRequest,
    /// Read a request; own is one of which the principal is the requester or the DJ.
    ReadRequest,
    /// Cancel a request; own is one that the principal made.
    CancelRequest,
    /// Rate a played request; own is one that the principal made.
    RateRequest,
    /// Accept, reject or play a request, or list the incoming ones; own is one addressed to the principal.
    AnswerRequest,
    /// Block a guest; own is the principal's list.
    BlockGuest,
    /// Read a wallet and top it up.
    UseWallet,
    /// Request, read and cancel a withdrawal.
    UseWithdrawal,
    /// Read events; own are events that involve the principal.
    ReadEvents,
    /// Read all events.
    ReadAllEvents,
    /// Create, read, change and delete webhook endpoints; own are the principal's, for their own events.
    ManageWebhooks,
    /// Create, read, change and delete the webhook endpoints that receive all events.
    ManageAllWebhooks,
    /// Read the withdrawals of any user.
    ReadWithdrawals,
    /// Approve or reject a withdrawal, or release its money as failed.
    JudgeWithdrawal,
    /// Record the progress of sending a withdrawal.
    SendWithdrawal,
    /// Refund a played request; own is one of which the principal is the requester or the DJ.
    RefundRequest,
    /// Adjust a balance.
    AdjustBalance,
    /// Search the top-ups of any user, and read money that arrived for erased users.
    ReadTopups,
    /// Reverse a top-up that was charged back.
    ReverseTopup,
    /// Settle money in suspense.
    SettleSuspense,
    /// Read the findings of the ledger audit.
    ReadAudit,
    /// Search users.
    ReadPeople,
    /// Suspend and restore users, and change their roles.
    ManagePeople,
    /// Read the security log.
    ReadSecurityLog,
    /// Read the messages of providers that contradict the ledger.
    ReadMessages,
    /// Resolve a message of a provider.
    ResolveMessage,
}
