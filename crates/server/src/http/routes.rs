//! Every route there is: the table of contents of the HTTP contract.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use actix_web::guard::{self, Guard};
use actix_web::http::Method;
use actix_web::web::ServiceConfig;
use actix_web::{HttpMessage as _, HttpRequest, HttpResponse, Resource, Scope, web};

use cuepoint_domain::access::Action;

use crate::app::App;
use crate::http::observe::{self, request_id};
use crate::http::operations::{
    audit, auth, blocks, djs, docs, health, jwks, operator_topups, operator_withdrawals, operators,
    passwords, personal_data, profile, proofs, provider_messages, requests, sessions, staff, topups, wallet,
    webhooks, withdrawals,
};
use crate::http::pipeline;
use crate::http::route::{
    Body, Endpoint, Provider, Reach, Route, change, command, open, operation, plain, read, signed,
};
use crate::http::transport::client_address::ClientAddress;
use crate::http::transport::networks::Networks;
use crate::http::transport::rate_limits::Class;
use crate::http::wire::envelope::{self, Answer};
use crate::http::wire::error::{ApiError, Code, RateLimitStatus};

/// Every route.
#[must_use]
#[rustfmt::skip]
pub fn table() -> Vec<Route> {
    use Action::{
        AdjustBalance, AnswerRequest, BlockGuest, CancelRequest, JudgeWithdrawal, ManagePeople, OpenRequest, ReadAudit,
        ReadDjs, ReadMessages, ReadPeople, ReadRequest, ReadSecurityLog, ReadTopups, ReadWithdrawals, RefundRequest,
        ResolveMessage, ReverseTopup, SendWithdrawal, SettleSuspense,
        UseAccount, UsePersonalData, UseProfile, UseWallet, UseWithdrawal,
    };
    use Body::{Json, Optional};
    use Class::{Login, Requests, Withdrawals};
    let (post, patch, put, delete) = (Method::POST, Method::PATCH, Method::PUT, Method::DELETE);
    vec![
        plain("/health/live", health::live),
        plain("/health/ready", health::ready),
        plain("/metrics", health::metrics).reached(Reach::Metrics),
        plain("/openapi.json", docs::openapi),
        plain("/docs", docs::index),
        plain("/docs/{file:.*}", docs::file),
        plain("/.well-known/jwks.json", jwks::show),

        open("/api/v1/auth/register", auth::register).limited(Login),
        open("/api/v1/auth/login", auth::login).limited(Login),
        open("/api/v1/auth/refresh", auth::refresh),
        open("/api/v1/auth/logout", auth::logout),

        read("/api/v1/auth/sessions", UseAccount, sessions::list),
        change(&delete, "/api/v1/auth/sessions/{id}", Body::None, UseAccount, sessions::end),
        change(&post, "/api/v1/auth/logout-everywhere", Optional, UseAccount, sessions::end_all),
        change(&post, "/api/v1/auth/password", Json, UseAccount, passwords::change).limited(Login),
        open("/api/v1/auth/password/forgot", passwords::forgot).limited(Login),
        open("/api/v1/auth/password/reset", passwords::reset).limited(Login),
        change(&post, "/api/v1/auth/email/code", Optional, UseAccount, proofs::send_email_code),
        change(&post, "/api/v1/auth/email/verify", Json, UseAccount, proofs::verify_email).limited(Login),
        change(&post, "/api/v1/auth/phone/code", Optional, UseAccount, proofs::send_phone_code),
        change(&post, "/api/v1/auth/phone/verify", Json, UseAccount, proofs::verify_phone).limited(Login),

        read("/api/v1/user/personal-info", UseProfile, profile::show),
        command(&patch, "/api/v1/user/personal-info", Json, UseProfile, profile::change, profile::changed),
        read("/api/v1/user/export", UsePersonalData, personal_data::export).limited(Login),
        change(&delete, "/api/v1/user", Json, UsePersonalData, personal_data::erase).limited(Login),

        read("/api/v1/djs", ReadDjs, djs::list),
        read("/api/v1/djs/{id}", ReadDjs, djs::show),

        command(&post, "/api/v1/music/requests", Json, OpenRequest, requests::open, requests::opened).limited(Requests),
        read("/api/v1/music/requests/{id}", ReadRequest, requests::show),
        command(&post, "/api/v1/music/requests/{id}/cancel", Optional, CancelRequest, requests::cancel, requests::moved),
        command(&patch, "/api/v1/music/requests-update/{id}", Json, AnswerRequest, requests::answer, requests::moved),
        read("/api/v1/music/user/requests", ReadRequest, requests::made),
        read("/api/v1/music/dj/requests", AnswerRequest, requests::addressed),
        read("/api/v1/music/dj/blocks", BlockGuest, blocks::list),
        change(&put, "/api/v1/music/dj/blocks/{id}", Body::None, BlockGuest, blocks::block),
        change(&delete, "/api/v1/music/dj/blocks/{id}", Body::None, BlockGuest, blocks::unblock),

        read("/api/v1/wallet", UseWallet, wallet::show),
        read("/api/v1/wallet/entries", UseWallet, wallet::entries),
        command(&post, "/api/v1/wallet/topups", Json, UseWallet, topups::open, topups::opened).shown_again(topups::reopened),
        read("/api/v1/wallet/topups", UseWallet, topups::list),
        read("/api/v1/wallet/topups/{id}", UseWallet, topups::show),

        command(&post, "/api/v1/withdrawal/crypto", Json, UseWithdrawal, withdrawals::open, withdrawals::opened).limited(Withdrawals),
        read("/api/v1/withdrawal/options", UseWithdrawal, withdrawals::options),
        read("/api/v1/withdrawals", UseWithdrawal, withdrawals::list),
        read("/api/v1/withdrawals/{id}", UseWithdrawal, withdrawals::show),
        command(&post, "/api/v1/withdrawals/{id}/cancel", Optional, UseWithdrawal, withdrawals::cancel, withdrawals::cancelled),

        signed("/api/v1/webhooks/topups", Provider::Topups, webhooks::topups),
        signed("/api/v1/webhooks/payouts", Provider::Payouts, webhooks::payouts),

        read("/api/v1/operator/withdrawals", ReadWithdrawals, operator_withdrawals::list),
        operation("/api/v1/operator/withdrawals/{id}/approve", JudgeWithdrawal, operator_withdrawals::approve, operator_withdrawals::moved),
        operation("/api/v1/operator/withdrawals/{id}/reject", JudgeWithdrawal, operator_withdrawals::reject, operator_withdrawals::moved),
        operation("/api/v1/operator/withdrawals/{id}/process", SendWithdrawal, operator_withdrawals::process, operator_withdrawals::moved),
        operation("/api/v1/operator/withdrawals/{id}/broadcast", SendWithdrawal, operator_withdrawals::broadcast, operator_withdrawals::moved),
        operation("/api/v1/operator/withdrawals/{id}/complete", SendWithdrawal, operator_withdrawals::complete, operator_withdrawals::moved),
        operation("/api/v1/operator/withdrawals/{id}/fail", JudgeWithdrawal, operator_withdrawals::fail, operator_withdrawals::moved),
        operation("/api/v1/operator/withdrawals/{id}/review", SendWithdrawal, operator_withdrawals::review, operator_withdrawals::moved),
        operation("/api/v1/operator/music/requests/{id}/refund", RefundRequest, operators::refund, requests::moved),
        operation("/api/v1/operator/adjustments", AdjustBalance, operators::adjust, operators::adjusted),
        read("/api/v1/operator/topups", ReadTopups, operator_topups::list),
        read("/api/v1/operator/topups/{id}", ReadTopups, operator_topups::show),
        operation("/api/v1/operator/topups/{id}/reverse", ReverseTopup, operator_topups::reverse, operator_topups::reversed),
        read("/api/v1/operator/suspense", ReadTopups, operator_topups::suspense),
        operation("/api/v1/operator/suspense/{id}/settle", SettleSuspense, operator_topups::settle, operator_topups::settled),
        read("/api/v1/operator/audit", ReadAudit, audit::show),
        read("/api/v1/operator/users", ReadPeople, staff::list),
        read("/api/v1/operator/users/{id}", ReadPeople, staff::show),
        operation("/api/v1/operator/users/{id}/suspend", ManagePeople, staff::suspend, staff::changed),
        operation("/api/v1/operator/users/{id}/restore", ManagePeople, staff::restore, staff::changed),
        operation("/api/v1/operator/users/{id}/role", ManagePeople, staff::give_role, staff::changed),
        read("/api/v1/operator/security-log", ReadSecurityLog, staff::events),
        read("/api/v1/operator/provider-messages", ReadMessages, provider_messages::list),
        operation("/api/v1/operator/provider-messages/{id}/resolve", ResolveMessage, provider_messages::resolve, provider_messages::resolved),
    ]
}

/// Gives the table to the web server, each address of which says which methods it has.
///
/// Addresses are tried one after the other: first those that are compared as they are, then those with parts that
/// vary, whose patterns cost more and are therefore only tried below the address that they begin with.
pub fn configure(app: &Arc<App>, config: &mut ServiceConfig) {
    let mut paths: BTreeMap<&'static str, Vec<Rc<Route>>> = BTreeMap::new();
    for route in table() {
        paths.entry(route.path).or_default().push(Rc::new(route));
    }
    let mut varying: BTreeMap<&'static str, Scope> = BTreeMap::new();
    for (path, routes) in paths {
        match path.find("/{").map(|end| path.split_at(end)) {
            None => drop(config.service(resource(app, path, &routes))),
            Some((beginning, rest)) => {
                let scope = varying.remove(beginning).unwrap_or_else(|| web::scope(beginning));
                varying.insert(beginning, scope.service(resource(app, rest, &routes)));
            }
        }
    }
    for scope in varying.into_values() {
        config.service(scope);
    }
}

fn resource(app: &Arc<App>, path: &'static str, routes: &[Rc<Route>]) -> Resource {
    let allow = allowed(routes);
    let address = routes.first().map_or(path, |route| route.path);
    let refuse = move |request: HttpRequest| {
        observe::matched(&request, address);
        let error = ApiError::method_not_allowed(allow.clone());
        async move { error.respond(&request_id(&request)) }
    };
    let empty = web::resource(path).default_service(web::to(refuse));
    // A guard, so that elsewhere the router itself finds nothing, whatever the method.
    let empty = match routes.first().map_or(Reach::Everywhere, |route| route.reach) {
        Reach::Everywhere => empty,
        Reach::Metrics => empty.guard(within(app.settings.reachable.metrics.clone())),
        Reach::Operators => empty.guard(within(app.settings.reachable.operators.clone())),
    };
    routes.iter().fold(empty, |resource, route| {
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

/// Lets in who comes from these networks.
fn within(networks: Networks) -> impl Guard {
    guard::fn_guard(move |context| {
        let client = context.req_data().get::<ClientAddress>().copied();
        client.is_some_and(|client| networks.admit(client))
    })
}

async fn serve(
    route: &Rc<Route>,
    app: &Arc<App>,
    request: HttpRequest,
    payload: web::Payload,
) -> HttpResponse {
    observe::matched(&request, route.path);
    let answered = match &route.endpoint {
        Endpoint::Plain(run) => run(Arc::clone(app), request.clone()).await,
        Endpoint::Open(_) | Endpoint::Call(_) | Endpoint::Command(_) => {
            pipeline::answer(route, app, &request, payload).await.map(Answer::respond)
        }
    };
    let standing = request.extensions().get::<RateLimitStatus>().copied();
    let mut response = answered.unwrap_or_else(|error| error.respond(&request_id(&request)));
    if let Some(standing) = standing {
        envelope::show(standing, response.headers_mut());
    }
    response
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
