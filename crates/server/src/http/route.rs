//! A route: its method and path, its authorization, its body and its handler.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use actix_web::http::Method;
use actix_web::{HttpRequest, HttpResponse};
use cuepoint_domain::application::Done;
use cuepoint_domain::authorization::{Action, Principal};

use crate::app::App;
use crate::http::call::ApiCall;
use crate::http::transport::rate_limits::Class;
use crate::http::wire::envelope::ApiResponse;
use crate::http::wire::error::ApiError;

/// The authorization of a route.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// None.
    Open,
    /// An access token whose principal is allowed this action.
    Principal(Action),
    /// The signature of a provider.
    Provider(Provider),
}

impl From<Action> for Access {
    fn from(action: Action) -> Self {
        Self::Principal(action)
    }
}

impl From<Provider> for Access {
    fn from(provider: Provider) -> Self {
        Self::Provider(provider)
    }
}

/// The networks from which a route is reachable; for others it does not exist.
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
    /// The payout provider.
    Payouts,
}

/// The request body of a route.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Body {
    /// None; a body is not read.
    None,
    /// A JSON object or none.
    Optional,
    /// A JSON object.
    Json,
}

/// The future of a handler, local to its worker thread.
pub type Handled<T> = Pin<Box<dyn Future<Output = Result<T, ApiError>>>>;

/// The handler of a route.
pub enum Endpoint {
    /// Outside the base address: no token, no body, any media type.
    Plain(Box<dyn Fn(Arc<App>, HttpRequest) -> Handled<HttpResponse>>),
    /// Without a token.
    Open(Box<dyn Fn(ApiCall) -> Handled<ApiResponse>>),
    /// With a token.
    Authenticated(Box<dyn Fn(ApiCall, Principal) -> Handled<ApiResponse>>),
    /// A command with a token; it takes an Idempotency-Key.
    Command(Box<dyn Fn(ApiCall, Principal) -> Handled<ApiResponse>>),
}

/// A route.
pub struct Route {
    /// Its method; a GET also answers HEAD.
    pub method: Method,
    /// Its path, with `{id}` in place of an id.
    pub path: &'static str,
    /// Its authorization.
    pub access: Access,
    /// The networks from which it is reachable.
    pub exposure: Exposure,
    /// The rate limit that its calls count against; routes outside the base address have none.
    pub class: Class,
    /// Its request body.
    pub body: Body,
    /// Its handler.
    pub endpoint: Endpoint,
}

/// A handler outside the base address.
pub fn plain<F, A>(run: F) -> Endpoint
where
    F: Fn(Arc<App>, HttpRequest) -> A + 'static,
    A: Future<Output = Result<HttpResponse, ApiError>> + 'static,
{
    Endpoint::Plain(Box::new(move |app, request| Box::pin(run(app, request))))
}

/// A handler of requests without a token.
pub fn anonymous<F, A>(run: F) -> Endpoint
where
    F: Fn(ApiCall) -> A + 'static,
    A: Future<Output = Result<ApiResponse, ApiError>> + 'static,
{
    Endpoint::Open(Box::new(move |call| Box::pin(run(call))))
}

/// A handler of requests with a token that takes no Idempotency-Key.
pub fn authenticated<F, A>(run: F) -> Endpoint
where
    F: Fn(ApiCall, Principal) -> A + 'static,
    A: Future<Output = Result<ApiResponse, ApiError>> + 'static,
{
    Endpoint::Authenticated(Box::new(move |call, principal| Box::pin(run(call, principal))))
}

/// A handler that runs a command; the answer to a replayed command is marked.
pub fn command<F, A>(run: F) -> Endpoint
where
    F: Fn(ApiCall, Principal) -> A + 'static,
    A: Future<Output = Result<Done<ApiResponse>, ApiError>> + 'static,
{
    Endpoint::Command(Box::new(move |call, principal| {
        let running = run(call, principal);
        Box::pin(async {
            let Done { value: answer, replayed } = running.await?;
            Ok(if replayed { answer.replayed() } else { answer })
        })
    }))
}
