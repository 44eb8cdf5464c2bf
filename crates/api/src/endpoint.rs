//! The endpoint of an operation: its handler, with the authorization that it requires.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use actix_web::{HttpRequest, HttpResponse};
use cuepoint_domain::application::{Command, Done, action_of};
use cuepoint_domain::authorization::{Action, Principal};
use futures_util::TryFutureExt as _;

use crate::call::ApiCall;
use crate::command_call::CommandCall;
use crate::mapping::IntoApiError;
use crate::state::ApiState;
use crate::wire::envelope::ApiResponse;
use crate::wire::error::ApiError;

/// The future of a handler, local to its worker thread.
pub type Handled<T> = Pin<Box<dyn Future<Output = Result<T, ApiError>>>>;

/// A handler of calls in this form.
pub trait Handler<Call, Answer> {
    /// Begins to handle a call.
    fn handle(&self, call: Call) -> Handled<Answer>;

    /// The size of the future that handles a call, in bytes.
    #[cfg(test)]
    fn size_of_future(&self) -> usize;
}

impl<Call, Answer, F, A> Handler<Call, Answer> for F
where
    F: Fn(Call) -> A,
    A: Future<Output = Result<Answer, ApiError>> + 'static,
{
    fn handle(&self, call: Call) -> Handled<Answer> {
        Box::pin(self(call))
    }

    #[cfg(test)]
    fn size_of_future(&self) -> usize {
        size_of::<A>()
    }
}

/// A handler outside the base address.
type PlainHandler = Box<dyn Handler<(Arc<ApiState>, HttpRequest), HttpResponse>>;
/// A handler without a principal.
type OpenHandler = Box<dyn Handler<ApiCall, ApiResponse>>;
/// A handler with or without a principal.
type OptionalHandler = Box<dyn Handler<(ApiCall, Option<Principal>), ApiResponse>>;
/// A handler with a principal.
type MemberHandler = Box<dyn Handler<(ApiCall, Principal), ApiResponse>>;

/// A handler, with the authorization that it requires.
pub enum Endpoint {
    /// Outside the base address: no token, no body, any media type.
    Plain(PlainHandler),
    /// Without a token.
    Open(OpenHandler),
    /// Without a token; it takes an Idempotency-Key.
    OpenKeyed(OpenHandler),
    /// Without a token, or with an access token whose principal is allowed this action.
    Optional(Action, OptionalHandler),
    /// With an access token whose principal is allowed this action.
    Member(Action, MemberHandler),
    /// A command with such a token, or the creation of a webhook endpoint; it takes an Idempotency-Key.
    Command(Action, MemberHandler),
    /// With the signature of a provider.
    Provider(Provider, OpenHandler),
}

impl Endpoint {
    /// The action that its principal has to be allowed, if it requires a token.
    #[must_use]
    pub const fn action(&self) -> Option<Action> {
        match self {
            Self::Member(action, _) | Self::Command(action, _) => Some(*action),
            Self::Plain(_) | Self::Open(_) | Self::OpenKeyed(_) | Self::Optional(..) | Self::Provider(..) => {
                None
            }
        }
    }

    /// Whether it is outside the base address.
    #[must_use]
    pub const fn is_plain(&self) -> bool {
        matches!(self, Self::Plain(_))
    }

    /// Whether it is a command, whose Idempotency-Key is kept.
    #[must_use]
    pub const fn is_command(&self) -> bool {
        matches!(self, Self::Command(..))
    }

    /// Whether it requires the signature of a provider.
    #[must_use]
    pub const fn is_signed(&self) -> bool {
        matches!(self, Self::Provider(..))
    }

    /// Whether it requires neither a token nor a signature.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        matches!(self, Self::Plain(_) | Self::Open(_) | Self::OpenKeyed(_) | Self::Optional(..))
    }

    /// Whether a token is checked that it does not require.
    #[must_use]
    pub const fn takes_token(&self) -> bool {
        matches!(self, Self::Optional(..))
    }
}

/// The networks from which an operation is reachable; for others it does not exist.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exposure {
    /// All networks.
    Everywhere,
    /// The networks of metrics.
    Metrics,
    /// The networks of operators.
    Operators,
}

/// A provider that signs its messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Provider {
    /// The payment provider.
    Topups,
    Payouts,
}

/// The request body of an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Body {
    /// None; a body is not read.
    None,
    /// A JSON object or none.
    Optional,
    /// A JSON object.
    Json,
}

/// A handler outside the base address.
pub fn plain<F, A>(run: F) -> Endpoint
where
    F: Fn(Arc<ApiState>, HttpRequest) -> A + 'static,
    A: Future<Output = Result<HttpResponse, ApiError>> + 'static,
{
    Endpoint::Plain(Box::new(move |(api, request)| run(api, request)))
}

/// A handler of requests without a token.
pub fn anonymous<F, A>(run: F) -> Endpoint
where
    F: Fn(ApiCall) -> A + 'static,
    A: Future<Output = Result<ApiResponse, ApiError>> + 'static,
{
    Endpoint::Open(Box::new(run))
}

/// A handler of requests without a token that takes an Idempotency-Key.
pub fn anonymous_keyed<F, A>(run: F) -> Endpoint
where
    F: Fn(ApiCall) -> A + 'static,
    A: Future<Output = Result<ApiResponse, ApiError>> + 'static,
{
    Endpoint::OpenKeyed(Box::new(run))
}

/// A handler of requests with or without a token. A token that is presented must be valid and allow this action.
pub fn optionally_authenticated<F, A>(action: Action, run: F) -> Endpoint
where
    F: Fn(ApiCall, Option<Principal>) -> A + 'static,
    A: Future<Output = Result<ApiResponse, ApiError>> + 'static,
{
    Endpoint::Optional(action, Box::new(move |(call, principal)| run(call, principal)))
}

/// A handler of requests with a token that takes no Idempotency-Key.
pub fn authenticated<F, A>(action: Action, run: F) -> Endpoint
where
    F: Fn(ApiCall, Principal) -> A + 'static,
    A: Future<Output = Result<ApiResponse, ApiError>> + 'static,
{
    Endpoint::Member(action, Box::new(move |(call, principal)| run(call, principal)))
}

/// A handler of requests with a token that takes an Idempotency-Key; the answer to a repeated request is marked.
pub fn keyed<F, A>(action: Action, run: F) -> Endpoint
where
    F: Fn(ApiCall, Principal) -> A + 'static,
    A: Future<Output = Result<Done<ApiResponse>, ApiError>> + 'static,
{
    Endpoint::Command(action, Box::new(move |(call, principal)| run(call, principal).map_ok(marked)))
}

/// The answer, marked if it repeats an earlier one.
fn marked(Done { value: answer, replayed }: Done<ApiResponse>) -> ApiResponse {
    if replayed { answer.replayed() } else { answer }
}

/// A handler of commands of one type, which determines the action; the answer to a replayed command is
/// marked.
pub fn command<C, F, A>(run: F) -> Endpoint
where
    C: Command<Refusal: IntoApiError> + 'static,
    F: Fn(CommandCall<C>) -> A + 'static,
    A: Future<Output = Result<Done<ApiResponse>, ApiError>> + 'static,
{
    let handler = move |(call, principal)| run(CommandCall::new(call, principal)).map_ok(marked);
    Endpoint::Command(action_of::<C>(), Box::new(handler))
}

/// A handler of messages signed by this provider.
pub fn signed<F, A>(by: Provider, run: F) -> Endpoint
where
    F: Fn(ApiCall) -> A + 'static,
    A: Future<Output = Result<ApiResponse, ApiError>> + 'static,
{
    Endpoint::Provider(by, Box::new(run))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operations;

    /// The size above which a future is too large, in bytes.
    const LARGE: usize = 4_096;

    impl Endpoint {
        fn size_of_future(&self) -> usize {
            match self {
                Self::Plain(run) => run.size_of_future(),
                Self::Open(run) | Self::OpenKeyed(run) | Self::Provider(_, run) => run.size_of_future(),
                Self::Optional(_, run) => run.size_of_future(),
                Self::Member(_, run) | Self::Command(_, run) => run.size_of_future(),
            }
        }
    }

    /// Every call copies the future of its handler to the heap.
    #[test]
    fn no_handler_has_a_large_future() {
        let operations = operations::all().into_iter().chain([operations::docs::files()]);
        let futures = operations.map(|operation| (operation.run.size_of_future(), operation.id));
        let large: Vec<_> = futures.filter(|(size, _)| *size > LARGE).collect();
        assert!(large.is_empty(), "{large:?}");
    }
}
