//! The context of a request.

use crate::authorization::Principal;
use crate::operation::IdempotencyKey;
use crate::ports::Deadline;
use crate::user::session::ClientInfo;

/// The context of a request by an authenticated principal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Context {
    pub principal: Principal,
    /// The client that the request came from.
    pub client: ClientInfo,
    /// The client's idempotency key, if it sent one; only commands use it.
    pub key: Option<IdempotencyKey>,
    /// The deadline for every wait of the request, except for the change itself.
    pub deadline: Deadline,
}

/// The context of a request without a principal, such as a login.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClientContext {
    /// The client that the request came from.
    pub client: ClientInfo,
    /// The deadline for every wait of the request, except for the change itself.
    pub deadline: Deadline,
}
