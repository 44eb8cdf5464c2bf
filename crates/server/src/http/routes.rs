//! Every route there is: the table of contents of the HTTP contract.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use actix_web::http::Method;
use actix_web::{HttpRequest, HttpResponse, Resource, guard, web};

use crate::app::App;
use crate::http::envelope::Answer;
use crate::http::error::{ApiError, Code};
use crate::http::observe::request_id;
use crate::http::route::{
    Body, Endpoint, Provider, Route, command, member, open, operation, operator, plain, signed,
};
use crate::http::{
    audit, auth, djs, docs, health, operator_withdrawals, operators, pipeline, profile, requests, topups,
    wallet, webhooks, withdrawals,
};

/// Every route.
#[must_use]
#[rustfmt::skip]
pub fn table() -> Vec<Route> {
    use Body::{Json, Optional};
    let (post, patch) = (Method::POST, Method::PATCH);
    vec![
        plain("/health/live", health::live),
        plain("/health/ready", health::ready),
        plain("/metrics", health::metrics),
        plain("/openapi.json", docs::openapi),
        plain("/docs", docs::index),
        plain("/docs/{file:.*}", docs::file),

        open("/api/v1/auth/register", auth::register),
        open("/api/v1/auth/login", auth::login),
        open("/api/v1/auth/refresh", auth::refresh),
        open("/api/v1/auth/logout", auth::logout),

        member("/api/v1/user/personal-info", profile::show),
        command(&patch, "/api/v1/user/personal-info", Json, profile::change, profile::changed),

        member("/api/v1/djs", djs::list),
        member("/api/v1/djs/{id}", djs::show),

        command(&post, "/api/v1/music/requests", Json, requests::open, requests::opened),
        member("/api/v1/music/requests/{id}", requests::show),
        command(&post, "/api/v1/music/requests/{id}/cancel", Optional, requests::cancel, requests::moved),
        command(&patch, "/api/v1/music/requests-update/{id}", Json, requests::answer, requests::moved),
        member("/api/v1/music/user/requests", requests::made),
        member("/api/v1/music/dj/requests", requests::addressed),

        member("/api/v1/wallet", wallet::show),
        member("/api/v1/wallet/entries", wallet::entries),
        command(&post, "/api/v1/wallet/topups", Json, topups::open, topups::opened),
        member("/api/v1/wallet/topups", topups::list),
        member("/api/v1/wallet/topups/{id}", topups::show),

        command(&post, "/api/v1/withdrawal/crypto", Json, withdrawals::open, withdrawals::opened),
        member("/api/v1/withdrawal/options", withdrawals::options),
        member("/api/v1/withdrawals", withdrawals::list),
        member("/api/v1/withdrawals/{id}", withdrawals::show),
        command(&post, "/api/v1/withdrawals/{id}/cancel", Optional, withdrawals::cancel, withdrawals::cancelled),

        signed("/api/v1/webhooks/topups", Provider::Topups, webhooks::topups),
        signed("/api/v1/webhooks/payouts", Provider::Payouts, webhooks::payouts),

        operator("/api/v1/operator/withdrawals", operator_withdrawals::list),
        operation("/api/v1/operator/withdrawals/{id}/approve", operator_withdrawals::approve, operator_withdrawals::moved),
        operation("/api/v1/operator/withdrawals/{id}/reject", operator_withdrawals::reject, operator_withdrawals::moved),
        operation("/api/v1/operator/withdrawals/{id}/process", operator_withdrawals::process, operator_withdrawals::moved),
        operation("/api/v1/operator/withdrawals/{id}/broadcast", operator_withdrawals::broadcast, operator_withdrawals::moved),
        operation("/api/v1/operator/withdrawals/{id}/complete", operator_withdrawals::complete, operator_withdrawals::moved),
        operation("/api/v1/operator/withdrawals/{id}/fail", operator_withdrawals::fail, operator_withdrawals::moved),
        operation("/api/v1/operator/withdrawals/{id}/review", operator_withdrawals::review, operator_withdrawals::moved),
        operation("/api/v1/operator/music/requests/{id}/refund", operators::refund, requests::moved),
        operation("/api/v1/operator/adjustments", operators::adjust, operators::adjusted),
        operator("/api/v1/operator/audit", audit::show),
    ]
}

/// The table as resources of the web server, each of which says which methods it has.
#[must_use]
pub fn resources(app: &Arc<App>) -> Vec<Resource> {
    let mut paths: BTreeMap<&'static str, Vec<Rc<Route>>> = BTreeMap::new();
    for route in table() {
        paths.entry(route.path).or_default().push(Rc::new(route));
    }
    paths.into_iter().map(|(path, routes)| resource(app, path, &routes)).collect()
}

fn resource(app: &Arc<App>, path: &'static str, routes: &[Rc<Route>]) -> Resource {
    let allow = allowed(routes);
    let refuse = move |request: HttpRequest| {
        let error = ApiError::method_not_allowed(allow.clone());
        async move { error.respond(&request_id(&request)) }
    };
    routes.iter().fold(web::resource(path).default_service(web::to(refuse)), |resource, route| {
        let (app, served) = (Arc::clone(app), Rc::clone(route));
        let serve = move |request: HttpRequest, payload: web::Payload| {
            let (app, route) = (Arc::clone(&app), Rc::clone(&served));
            async move { serve(&route, &app, request, payload).await }
        };
        let guard = if route.method == Method::GET {
            web::route().guard(guard::Any(guard::Get()).or(guard::Head()))
        } else {
            web::method(route.method.clone())
        };
        resource.route(guard.to(serve))
    })
}

async fn serve(route: &Route, app: &Arc<App>, request: HttpRequest, payload: web::Payload) -> HttpResponse {
    let id = request_id(&request);
    let answered = match &route.endpoint {
        Endpoint::Plain(run) => run(Arc::clone(app), request).await,
        Endpoint::Open(_) | Endpoint::Member(_) | Endpoint::Command(_) => {
            pipeline::answer(route, app, &request, payload).await.map(Answer::respond)
        }
    };
    answered.unwrap_or_else(|error| error.respond(&id))
}

/// The methods of a resource, as `Allow` lists them.
fn allowed(routes: &[Rc<Route>]) -> String {
    let mut methods: Vec<&str> = routes.iter().map(|route| route.method.as_str()).collect();
    if methods.contains(&"GET") {
        methods.push("HEAD");
    }
    methods.sort_unstable();
    methods.join(", ")
}

/// The answer where there is no route.
pub async fn not_found(request: HttpRequest) -> HttpResponse {
    ApiError::from(Code::NotFound).respond(&request_id(&request))
}
