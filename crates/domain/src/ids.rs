//! Typed identifiers: a request id cannot be passed as a user id.

use std::fmt;

use crate::entities;

/// The number of an id that a client wrote: a positive decimal integer without leading zeros.
#[must_use]
pub fn written(text: &str) -> Option<i64> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0');
    text.parse().ok().filter(|_| is_plain)
}

macro_rules! ids {
    (stored { $($stored:tt)+ } recorded { $($recorded:tt)+ }) => {
        ids! { $($stored)+ $($recorded)+ }
    };
    ($(
        $Kind:ident($Type:ty, $name:ident) $(in $table:ident)? { title: $title:literal, posted: $posted:literal }
    )+) => {
        ids! { $(#[doc = concat!("The id of an entity of the kind \"", $title, "\".")] $name,)+ }
    };
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(i64);

        impl $name {
            /// The highest id, which is never given.
            pub const LAST: Self = Self(i64::MAX);

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

entities!(ids);

ids! {
    /// A session: one login, and all refresh tokens that descend from it.
    SessionId,
    /// A webhook endpoint.
    WebhookEndpointId,
}

// A rating is numbered like its request.
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

// The record of a gig is numbered like the gig.
impl GigRecordId {
    /// The id of a gig's record.
    #[must_use]
    pub const fn of(gig: GigId) -> Self {
        Self(gig.0)
    }

    /// The id of the gig.
    #[must_use]
    pub const fn gig(self) -> GigId {
        GigId(self.0)
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
