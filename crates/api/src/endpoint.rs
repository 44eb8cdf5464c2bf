//! The endpoint of an operation: its handler, with the authorization that it requires.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use actix_web::{HttpRequest, HttpResponse};
use cuepoint_domain::application::{Command, Done, action_of};
use cuepoint_domain::authorization::{Action, Principal};

use crate::call::ApiCall;
use crate::command_call::CommandCall;
use crate::mapping::IntoApiError;
use crate::state::ApiState;
use crate::wire::envelope::ApiResponse;
use crate::wire::error::ApiError;

/// The future of a handler, local to its worker thread.
pub type Handled<T> = Pin<Box<dyn Future<Output = Result<T, ApiError>>>>;

/// A handler outside the base address.
type PlainHandler = Box<dyn Fn(Arc<ApiState>, HttpRequest) -> Handled<HttpResponse>>;
/// A handler without a principal.
type OpenHandler = Box<dyn Fn(ApiCall) -> Handled<ApiResponse>>;
/// A handler with or without a principal.
type OptionalHandler = Box<dyn Fn(ApiCall, Option<Principal>) -> Handled<ApiResponse>>;
/// A handler with a principal.
type MemberHandler = Box<dyn Fn(ApiCall, Principal) -> Handled<ApiResponse>>;

/// A handler, with the authorization that it requires.
pub enum Endpoint {
    /// Outside the base address: no token, no body, any media type.
    Plain(PlainHandler),
    /// Without a token.
    Open(OpenHandler),
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
            Self::Plain(_) | Self::Open(_) | Self::Optional(..) | Self::Provider(..) => None,
        }
    }

    /// Whether it is outside the base address.
    #[must_use]
    pub const fn is_plain(&self) -> bool {
        matches!(self, Self::Plain(_))
    }

    /// Whether it takes an Idempotency-Key.
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
        matches!(self, Self::Plain(_) | Self::Open(_) | Self::Optional(..))
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
    Endpoint::Plain(Box::new(move |api, request| Box::pin(run(api, request))))
}

/// A handler of requests without a token.
pub fn anonymous<F, A>(run: F) -> Endpoint
where
    F: Fn(ApiCall) -> A + 'static,
    A: Future<Output = Result<ApiResponse, ApiError>> + 'static,
{
    Endpoint::Open(Box::new(move |call| Box::pin(run(call))))
}

/// A handler of requests with or without a token. A token that is presented must be valid and allow this action.
pub fn optionally_authenticated<F, A>(action: Action, run: F) -> Endpoint
where
    F: Fn(ApiCall, Option<Principal>) -> A + 'static,
    A: Future<Output = Result<ApiResponse, ApiError>> + 'static,
{
    Endpoint::Optional(action, Box::new(move |call, principal| Box::pin(run(call, principal))))
}

/// A handler of requests with a token that takes no Idempotency-Key.
pub fn authenticated<F, A>(action: Action, run: F) -> Endpoint
where
    F: Fn(ApiCall, Principal) -> A + 'static,
    A: Future<Output = Result<ApiResponse, ApiError>> + 'static,
{
    Endpoint::Member(action, Box::new(move |call, principal| Box::pin(run(call, principal))))
}

/// A handler of requests with a token that takes an Idempotency-Key; the answer to a repeated request is marked.
pub fn keyed<F, A>(action: Action, run: F) -> Endpoint
where
    F: Fn(ApiCall, Principal) -> A + 'static,
    A: Future<Output = Result<Done<ApiResponse>, ApiError>> + 'static,
{
    let handler = move |call, principal| -> Handled<ApiResponse> { Box::pin(marked(run(call, principal))) };
    Endpoint::Command(action, Box::new(handler))
}

/// The answer, marked if it repeats an earlier one.
async fn marked(
    running: impl Future<Output = Result<Done<ApiResponse>, ApiError>>,
) -> Result<ApiResponse, ApiError> {
    let Done { value: answer, replayed } = running.await?;
    Ok(if replayed { answer.replayed() } else { answer })
}

/// A handler of commands of one type, which determines the action; the answer to a replayed command is
/// marked.
pub fn command<C, F, A>(run: F) -> Endpoint
where
    C: Command<Refusal: IntoApiError> + 'static,
    F: Fn(CommandCall<C>) -> A + 'static,
    A: Future<Output = Result<Done<ApiResponse>, ApiError>> + 'static,
{
    let handler = move |call, principal| -> Handled<ApiResponse> {
        Box::pin(marked(run(CommandCall::new(call, principal))))
    };
    Endpoint::Command(action_of::<C>(), Box::new(handler))
}

/// A handler of messages signed by this provider.
pub fn signed<F, A>(by: Provider, run: F) -> Endpoint
where
    F: Fn(ApiCall) -> A + 'static,
    A: Future<Output = Result<ApiResponse, ApiError>> + 'static,
{
    Endpoint::Provider(by, Box::new(move |call| Box::pin(run(call))))
}
