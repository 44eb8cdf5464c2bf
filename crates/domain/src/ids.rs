//! Typed identifiers: a request id cannot be passed as a user id.

use std::fmt;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(i64);

        impl $name {
            /// The id with this number; `None` unless it is positive.
            #[must_use]
            pub const fn new(number: i64) -> Option<Self> {
                if number > 0 { Some(Self(number)) } else { None }
            }

            /// The number, always positive.
            #[must_use]
            pub const fn get(self) -> i64 {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0)
            }
        }
    )+};
}

ids! {
    /// A user, and the user's wallet.
    UserId,
    /// A music request.
    RequestId,
    /// The rating of a request, numbered like the request.
    RatingId,
    /// A withdrawal.
    WithdrawalId,
    /// A top-up.
    TopupId,
    /// An operator's adjustment.
    AdjustmentId,
    /// A session: one login, and all refresh tokens that descend from it.
    SessionId,
    /// A stored provider message.
    ProviderMessageId,
    /// A webhook endpoint.
    WebhookEndpointId,
}

impl RatingId {
    /// The id of a request's rating.
    #[must_use]
    pub const fn of(request: RequestId) -> Self {
        Self(request.0)
    }

    /// The id of the rated request.
    #[must_use]
    pub const fn request(self) -> RequestId {
        RequestId(self.0)
    }
}

/// The permanent identity of one atomic change, applied once however often it is submitted.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct OperationId(pub u128);

impl fmt::Display for OperationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}
