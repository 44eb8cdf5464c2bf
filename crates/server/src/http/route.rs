//! What a route is: its address, who may call it, which body it takes, and what answers it.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use actix_web::http::Method;
use actix_web::{HttpRequest, HttpResponse};
use cuepoint_domain::ledger::Receipt;
use cuepoint_domain::ports::Applied;

use crate::app::App;
use crate::http::call::Call;
use crate::http::envelope::Answer;
use crate::http::error::ApiError;
use crate::security::tokens::Identity;

/// Who may call a route.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// Anybody.
    Open,
    /// Who has an access token.
    Member,
    /// Who has an operator's access token.
    Operator,
    /// A provider, by its signature.
    Provider(Provider),
}

/// Who signs messages to this service.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Provider {
    /// Who takes the guests' money.
    Topups,
    /// Who sends money out.
    Payouts,
}

/// Which body a route takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Body {
    /// None; one that comes is not read.
    None,
    /// None, or an object.
    Optional,
    /// An object.
    Json,
}

/// What a handler comes to, on its worker's own thread.
pub type Handled<T> = Pin<Box<dyn Future<Output = Result<T, ApiError>>>>;

/// A command: what it does, and how what it came to is shown, now or at a retry.
pub struct Commanded {
    /// Does it.
    pub run: Box<dyn Fn(Call, Identity) -> Handled<Applied>>,
    /// Shows it.
    pub view: fn(&App, &Receipt) -> Result<Answer, ApiError>,
}

/// What answers a route.
pub enum Endpoint {
    /// Outside the base address: no token, no body, any media type.
    Plain(Box<dyn Fn(Arc<App>, HttpRequest) -> Handled<HttpResponse>>),
    /// Without a token.
    Open(Box<dyn Fn(Call) -> Handled<Answer>>),
    /// A read for who has a token.
    Member(Box<dyn Fn(Call, Identity) -> Handled<Answer>>),
    /// A command of who has a token; it takes an Idempotency-Key.
    Command(Commanded),
}

/// A route.
pub struct Route {
    /// Its method; a GET also answers HEAD.
    pub method: Method,
    /// Its address, with the names of its parts that vary.
    pub path: &'static str,
    /// Who may call it.
    pub access: Access,
    /// Which body it takes.
    pub body: Body,
    /// What answers it.
    pub endpoint: Endpoint,
}

/// A route outside the base address.
pub(super) fn plain<F, A>(path: &'static str, run: F) -> Route
where
    F: Fn(Arc<App>, HttpRequest) -> A + 'static,
    A: Future<Output = Result<HttpResponse, ApiError>> + 'static,
{
    let endpoint = Endpoint::Plain(Box::new(move |app, request| Box::pin(run(app, request))));
    Route { method: Method::GET, path, access: Access::Open, body: Body::None, endpoint }
}

/// A POST that anybody may send.
pub(super) fn open<F, A>(path: &'static str, run: F) -> Route
where
    F: Fn(Call) -> A + 'static,
    A: Future<Output = Result<Answer, ApiError>> + 'static,
{
    let endpoint = Endpoint::Open(Box::new(move |call| Box::pin(run(call))));
    Route { method: Method::POST, path, access: Access::Open, body: Body::Json, endpoint }
}

/// A POST that a provider signs.
pub(super) fn signed<F, A>(path: &'static str, by: Provider, run: F) -> Route
where
    F: Fn(Call) -> A + 'static,
    A: Future<Output = Result<Answer, ApiError>> + 'static,
{
    Route { access: Access::Provider(by), ..open(path, run) }
}

/// A GET of who has a token.
pub(super) fn member<F, A>(path: &'static str, run: F) -> Route
where
    F: Fn(Call, Identity) -> A + 'static,
    A: Future<Output = Result<Answer, ApiError>> + 'static,
{
    let endpoint = Endpoint::Member(Box::new(move |call, caller| Box::pin(run(call, caller))));
    Route { method: Method::GET, path, access: Access::Member, body: Body::None, endpoint }
}

/// A GET of an operator.
pub(super) fn operator<F, A>(path: &'static str, run: F) -> Route
where
    F: Fn(Call, Identity) -> A + 'static,
    A: Future<Output = Result<Answer, ApiError>> + 'static,
{
    Route { access: Access::Operator, ..member(path, run) }
}

/// A POST of an operator.
pub(super) fn operation<F, A>(
    path: &'static str,
    run: F,
    view: fn(&App, &Receipt) -> Result<Answer, ApiError>,
) -> Route
where
    F: Fn(Call, Identity) -> A + 'static,
    A: Future<Output = Result<Applied, ApiError>> + 'static,
{
    Route { access: Access::Operator, ..command(&Method::POST, path, Body::Json, run, view) }
}

/// A command of who has a token.
pub(super) fn command<F, A>(
    method: &Method,
    path: &'static str,
    body: Body,
    run: F,
    view: fn(&App, &Receipt) -> Result<Answer, ApiError>,
) -> Route
where
    F: Fn(Call, Identity) -> A + 'static,
    A: Future<Output = Result<Applied, ApiError>> + 'static,
{
    let run: Box<dyn Fn(Call, Identity) -> Handled<Applied>> =
        Box::new(move |call, caller| Box::pin(run(call, caller)));
    let endpoint = Endpoint::Command(Commanded { run, view });
    Route { method: method.clone(), path, access: Access::Member, body, endpoint }
}
