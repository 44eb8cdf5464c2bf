//! What a route is: its address, who may call it, which body it takes, and what answers it.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use actix_web::http::Method;
use actix_web::{HttpRequest, HttpResponse};
use cuepoint_domain::access::{Action, Caller};
use cuepoint_domain::ledger::Receipt;
use cuepoint_domain::ports::Applied;

use crate::app::App;
use crate::http::call::Call;
use crate::http::transport::rate_limits::Class;
use crate::http::wire::envelope::Answer;
use crate::http::wire::error::ApiError;

/// Who may call a route.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// Anybody.
    Open,
    /// Who has an access token, and may do this.
    Caller(Action),
    /// A provider, by its signature.
    Provider(Provider),
}

/// From where a route can be reached; elsewhere it is as if there were none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reach {
    /// From everywhere.
    Everywhere,
    /// From the networks that may see the measurements.
    Metrics,
    /// From the networks of operators.
    Operators,
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

/// What a retry is shown in place of the first answer.
pub type Again = Box<dyn Fn(Call, Receipt) -> Handled<Receipt>>;

/// A command: what it does, and how what it came to is shown, now or at a retry.
pub struct Commanded {
    /// Does it.
    pub run: Box<dyn Fn(Call, Caller) -> Handled<Applied>>,
    /// Shows it.
    pub view: fn(&App, &Receipt) -> Result<Answer, ApiError>,
    /// Where what was answered may change: how a retry finds what it is shown.
    pub again: Option<Again>,
}

/// What answers a route.
pub enum Endpoint {
    /// Outside the base address: no token, no body, any media type.
    Plain(Box<dyn Fn(Arc<App>, HttpRequest) -> Handled<HttpResponse>>),
    /// Without a token.
    Open(Box<dyn Fn(Call) -> Handled<Answer>>),
    /// For who has a token.
    Call(Box<dyn Fn(Call, Caller) -> Handled<Answer>>),
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
    /// From where it can be reached.
    pub reach: Reach,
    /// Whose quota its calls are counted against; what is outside the base address is not counted.
    pub class: Class,
    /// Which body it takes.
    pub body: Body,
    /// What answers it.
    pub endpoint: Endpoint,
}

impl Route {
    /// The route with the quota of these.
    pub(super) fn limited(self, class: Class) -> Self {
        Self { class, ..self }
    }

    /// The command, which shows a retry what this makes of its first answer.
    pub(super) fn shown_again<F, A>(mut self, again: F) -> Self
    where
        F: Fn(Call, Receipt) -> A + 'static,
        A: Future<Output = Result<Receipt, ApiError>> + 'static,
    {
        if let Endpoint::Command(command) = &mut self.endpoint {
            command.again = Some(Box::new(move |call, receipt| Box::pin(again(call, receipt))));
        }
        self
    }

    /// The route, reached only from there.
    pub(super) fn reached(self, reach: Reach) -> Self {
        Self { reach, ..self }
    }
}

/// A route outside the base address.
pub(super) fn plain<F, A>(path: &'static str, run: F) -> Route
where
    F: Fn(Arc<App>, HttpRequest) -> A + 'static,
    A: Future<Output = Result<HttpResponse, ApiError>> + 'static,
{
    let endpoint = Endpoint::Plain(Box::new(move |app, request| Box::pin(run(app, request))));
    Route {
        method: Method::GET,
        path,
        access: Access::Open,
        reach: Reach::Everywhere,
        class: Class::Other,
        body: Body::None,
        endpoint,
    }
}

/// A POST that anybody may send.
pub(super) fn open<F, A>(path: &'static str, run: F) -> Route
where
    F: Fn(Call) -> A + 'static,
    A: Future<Output = Result<Answer, ApiError>> + 'static,
{
    let endpoint = Endpoint::Open(Box::new(move |call| Box::pin(run(call))));
    Route {
        method: Method::POST,
        path,
        access: Access::Open,
        reach: Reach::Everywhere,
        class: Class::Other,
        body: Body::Json,
        endpoint,
    }
}

/// A POST that a provider signs.
pub(super) fn signed<F, A>(path: &'static str, by: Provider, run: F) -> Route
where
    F: Fn(Call) -> A + 'static,
    A: Future<Output = Result<Answer, ApiError>> + 'static,
{
    Route { access: Access::Provider(by), ..open(path, run) }
}

/// A GET of who may do this.
pub(super) fn read<F, A>(path: &'static str, action: Action, run: F) -> Route
where
    F: Fn(Call, Caller) -> A + 'static,
    A: Future<Output = Result<Answer, ApiError>> + 'static,
{
    let endpoint = Endpoint::Call(Box::new(move |call, caller| Box::pin(run(call, caller))));
    private(&Method::GET, path, Body::None, action, endpoint)
}

/// A change of who may do this that takes no Idempotency-Key.
pub(super) fn change<F, A>(method: &Method, path: &'static str, body: Body, action: Action, run: F) -> Route
where
    F: Fn(Call, Caller) -> A + 'static,
    A: Future<Output = Result<Answer, ApiError>> + 'static,
{
    let endpoint = Endpoint::Call(Box::new(move |call, caller| Box::pin(run(call, caller))));
    private(method, path, body, action, endpoint)
}

/// A command of who may do this.
pub(super) fn command<F, A>(
    method: &Method,
    path: &'static str,
    body: Body,
    action: Action,
    run: F,
    view: fn(&App, &Receipt) -> Result<Answer, ApiError>,
) -> Route
where
    F: Fn(Call, Caller) -> A + 'static,
    A: Future<Output = Result<Applied, ApiError>> + 'static,
{
    let run: Box<dyn Fn(Call, Caller) -> Handled<Applied>> =
        Box::new(move |call, caller| Box::pin(run(call, caller)));
    private(method, path, body, action, Endpoint::Command(Commanded { run, view, again: None }))
}

/// A POST of staff, with a reason.
pub(super) fn operation<F, A>(
    path: &'static str,
    action: Action,
    run: F,
    view: fn(&App, &Receipt) -> Result<Answer, ApiError>,
) -> Route
where
    F: Fn(Call, Caller) -> A + 'static,
    A: Future<Output = Result<Applied, ApiError>> + 'static,
{
    command(&Method::POST, path, Body::Json, action, run, view)
}

/// A route of who has a token; what is for staff is reached from their networks alone.
fn private(method: &Method, path: &'static str, body: Body, action: Action, endpoint: Endpoint) -> Route {
    let reach = if action.is_for_staff() { Reach::Operators } else { Reach::Everywhere };
    Route {
        method: method.clone(),
        path,
        access: Access::Caller(action),
        reach,
        class: Class::Other,
        body,
        endpoint,
    }
}
