//! What all operations have in common, added to the document from the table of routes.

use std::collections::BTreeMap;

use cuepoint_domain::access::Hat;
use serde_json::{Map, Value, json};
use utoipa::openapi::content::ContentBuilder;
use utoipa::openapi::example::ExampleBuilder;
use utoipa::openapi::path::{Operation, Parameter, ParameterBuilder, ParameterIn, PathItem};
use utoipa::openapi::response::{Response, ResponseBuilder};
use utoipa::openapi::schema::{KnownFormat, Object, ObjectBuilder, SchemaFormat, Type};
use utoipa::openapi::security::SecurityRequirement;
use utoipa::openapi::{Components, Header, OpenApi, Ref, RefOr, Required};

use super::{BEARER, SIGNATURE, examples};
use crate::http::route::{Access, Body, Endpoint, Reach, Route};
use crate::http::routes;
use crate::http::wire::error::Code;

const LIMIT: &str = "Requests of one minute.";
const REMAINING: &str = "What is left of them.";

/// Adds to each described route what follows from its kind.
pub(super) fn complete(document: &mut OpenApi) {
    let components = document.components.clone().unwrap_or_default();
    for route in routes::table() {
        if let Some(operation) = document.paths.paths.get_mut(route.path).and_then(|item| find(item, &route))
        {
            add_parameters(operation, &route);
            add_failures(operation, &route, &components);
            add_headers(operation, &route);
            let access = ("x-access", access(route.access));
            operation.extensions.get_or_insert_default().extend([(access.0.to_owned(), access.1)]);
            if let (Body::Optional, Some(RefOr::T(body))) = (route.body, &mut operation.request_body) {
                body.required = Some(Required::False);
            }
            let scheme = match route.access {
                Access::Open => None,
                Access::Caller(_) => Some(BEARER),
                Access::Provider(_) => Some(SIGNATURE),
            };
            operation.security = scheme
                .map(|scheme| vec![SecurityRequirement::new::<_, [&str; 0], _>(scheme, [])])
                .or(operation.security.take());
        }
    }
}

/// Who may call a route; a caller's line of the matrix with its cells.
fn access(access: Access) -> Value {
    match access {
        Access::Open => json!({"who": "anybody"}),
        Access::Provider(_) => json!({"who": "provider"}),
        Access::Caller(action) => {
            let rule = action.rule();
            let reaches: Map<String, Value> =
                Hat::ALL.iter().map(|hat| (hat.name().to_owned(), json!(rule.reach(*hat).name()))).collect();
            json!({"who": "caller", "action": rule.name, "reach": reaches})
        }
    }
}

fn find<'a>(item: &'a mut PathItem, route: &Route) -> Option<&'a mut Operation> {
    match route.method.as_str() {
        "GET" => item.get.as_mut(),
        "POST" => item.post.as_mut(),
        "PUT" => item.put.as_mut(),
        "PATCH" => item.patch.as_mut(),
        "DELETE" => item.delete.as_mut(),
        _ => None,
    }
}

fn add_parameters(operation: &mut Operation, route: &Route) {
    let mut parameters = Vec::new();
    if route.path.contains("{id}") {
        let id = ObjectBuilder::new()
            .schema_type(Type::Integer)
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64)))
            .minimum(Some(1));
        let id = ParameterBuilder::new().name("id").parameter_in(ParameterIn::Path).schema(Some(id));
        parameters.push(id.required(Required::True).description(Some("Which one.")).build());
    }
    if matches!(route.access, Access::Provider(_)) {
        let id = "The message's id, the same however often it is sent.";
        parameters.push(header("webhook-id", id, text_of(255)));
        let timestamp = "When it was sent, in seconds since the start of 1970.";
        parameters.push(header("webhook-timestamp", timestamp, text_of(20)));
    }
    if matches!(route.endpoint, Endpoint::Command(_)) {
        let key =
            "A key of the client's choice. For 7 days the same key and body get the first success again.";
        let visible_ascii = text_of(255).pattern(Some("^[!-~]+$"));
        parameters.push(header("Idempotency-Key", key, visible_ascii));
    }
    if !matches!(route.endpoint, Endpoint::Plain(_)) {
        let id = "The request's name in the log and in the answer: 1 to 128 letters, digits, dots, underscores or hyphens. \
            Instead of anything else it gets a name of ours.";
        parameters.push(header("X-Request-Id", id, ObjectBuilder::new().schema_type(Type::String)));
    }
    let parameters = parameters.into_iter().map(RefOr::T);
    operation.parameters.get_or_insert_default().extend(parameters);
}

fn text_of(most: usize) -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String).min_length(Some(1)).max_length(Some(most))
}

fn header(name: &str, description: &str, text: ObjectBuilder) -> Parameter {
    ParameterBuilder::new()
        .name(name)
        .parameter_in(ParameterIn::Header)
        .required(Required::False)
        .description(Some(description))
        .schema(Some(text))
        .build()
}

/// The failures that a route can answer with.
pub(super) fn failures(route: &Route) -> Vec<Code> {
    let plain = matches!(route.endpoint, Endpoint::Plain(_));
    let mut codes = vec![Code::Internal];
    if !plain {
        codes.extend([Code::BadRequest, Code::NotAcceptable, Code::RateLimited, Code::Unavailable]);
    }
    if route.access != Access::Open {
        codes.extend([Code::Unauthenticated, Code::InvalidToken]);
    }
    if let Access::Caller(action) = route.access {
        codes.push(Code::AccountSuspended);
        if action.is_for_staff() {
            codes.push(Code::InsufficientScope);
        }
    }
    if route.body != Body::None {
        codes.extend([Code::PayloadTooLarge, Code::UnsupportedMediaType, Code::MalformedJson]);
        codes.push(Code::ValidationFailed);
    }
    if matches!(route.endpoint, Endpoint::Command(_)) {
        codes.extend([Code::IdempotencyKeyReused, Code::IdempotencyInFlight, Code::Conflict]);
    }
    if route.path.contains("{id}") || route.reach != Reach::Everywhere {
        codes.push(Code::NotFound);
    }
    codes.extend(own_failures(route.method.as_str(), route.path));
    codes
}

/// The failures that one route alone has.
fn own_failures(method: &str, path: &str) -> &'static [Code] {
    match (method, path.strip_prefix("/api/v1").unwrap_or(path)) {
        ("GET", "/health/ready") => &[Code::Unavailable],
        ("POST", "/auth/login") => &[Code::InvalidCredentials, Code::AccountSuspended],
        ("POST", "/auth/refresh") => &[Code::InvalidToken, Code::AccountSuspended],
        ("POST", "/auth/password") => &[Code::Conflict],
        ("PATCH", "/user/personal-info") => &[Code::Forbidden],
        ("GET", "/djs" | "/music/user/requests") => &[Code::ValidationFailed],
        ("GET", "/music/dj/requests") => &[Code::Forbidden, Code::ValidationFailed],
        ("POST", "/music/requests") => {
            &[Code::Forbidden, Code::DjOffline, Code::LimitExceeded, Code::InsufficientFunds]
        }
        ("POST", "/music/requests/{id}/cancel") | ("PATCH", "/music/requests-update/{id}") => {
            &[Code::Forbidden, Code::InvalidTransition]
        }
        ("POST", "/wallet/topups") => &[Code::LimitExceeded],
        ("POST", "/withdrawal/crypto") => &[Code::LimitExceeded, Code::InsufficientFunds],
        ("POST", "/webhooks/topups" | "/webhooks/payouts") => &[Code::NotFound, Code::Conflict],
        ("POST", "/withdrawals/{id}/cancel") => &[Code::InvalidTransition],
        (
            "GET",
            "/wallet"
            | "/operator/withdrawals"
            | "/operator/topups"
            | "/operator/security-log"
            | "/operator/provider-messages",
        ) => &[Code::ValidationFailed],
        ("GET" | "DELETE", path) if path.starts_with("/music/dj/blocks") => &[Code::Forbidden],
        ("PUT", path) if path.starts_with("/music/dj/blocks") => &[Code::Forbidden, Code::ValidationFailed],
        ("DELETE", "/user") => &[Code::Conflict],
        ("POST", path) if path.starts_with("/operator/users/") => &[Code::Forbidden],
        (
            "POST",
            "/operator/withdrawals/{id}/approve"
            | "/operator/withdrawals/{id}/reject"
            | "/operator/withdrawals/{id}/fail",
        ) => &[Code::Forbidden, Code::InvalidTransition],
        ("POST", path) if path.starts_with("/operator/withdrawals/") => &[Code::InvalidTransition],
        ("POST", "/operator/music/requests/{id}/refund") => {
            &[Code::Forbidden, Code::InvalidTransition, Code::LimitExceeded]
        }
        ("POST", "/operator/topups/{id}/reverse") => {
            &[Code::Forbidden, Code::InvalidTransition, Code::LimitExceeded]
        }
        ("POST", "/operator/adjustments") => &[Code::Forbidden, Code::LimitExceeded, Code::InsufficientFunds],
        _ => &[],
    }
}

/// Whether what a command makes has an address of its own.
fn has_address(route: &Route) -> bool {
    route.path != "/api/v1/operator/adjustments"
}

fn add_failures(operation: &mut Operation, route: &Route, components: &Components) {
    let mut statuses: BTreeMap<u16, Vec<Code>> = BTreeMap::new();
    for code in failures(route) {
        statuses.entry(code.status().as_u16()).or_default().push(code);
    }
    for (status, codes) in statuses {
        let examples: Vec<_> = codes
            .into_iter()
            .map(|code| (code, examples::failure(code, route, operation, components)))
            .collect();
        operation.responses.responses.insert(status.to_string(), RefOr::T(failure(&examples)));
    }
}

fn failure(examples: &[(Code, Value)]) -> Response {
    let names: Vec<String> =
        examples.iter().map(|(code, _)| format!("`{}`: {}", code.name(), code.message())).collect();
    let content = examples.iter().fold(
        ContentBuilder::new().schema(Some(Ref::from_schema_name("Failure"))),
        |content, (code, example)| {
            let example = ExampleBuilder::new().summary(code.message()).value(Some(example.clone()));
            content.examples_from_iter([(code.name(), example.build())])
        },
    );
    let response =
        ResponseBuilder::new().description(names.join(" ")).content("application/json", content.build());
    let response = match examples.first().map(|(code, _)| code.status().as_u16()) {
        Some(401) => response.header("WWW-Authenticate", text("What is asked for, as RFC 6750 has it.")),
        Some(429) => response
            .header("Retry-After", number("Seconds until the next request is admitted."))
            .header("X-RateLimit-Limit", number(LIMIT))
            .header("X-RateLimit-Remaining", number(REMAINING)),
        Some(409) if examples.iter().any(|(code, _)| *code == Code::IdempotencyInFlight) => response.header(
            "Retry-After",
            number("With `idempotency_in_flight`: seconds until it is worth trying again."),
        ),
        Some(503) => response.header("Retry-After", number("Seconds until it is worth trying again.")),
        _ => response,
    };
    response.build()
}

fn add_headers(operation: &mut Operation, route: &Route) {
    for (status, response) in &mut operation.responses.responses {
        let RefOr::T(response) = response else { continue };
        let headers = &mut response.headers;
        headers.insert("X-Request-Id".to_owned(), RefOr::T(text("The request's name in the log.")));
        let counted =
            !matches!(route.endpoint, Endpoint::Plain(_)) && !matches!(route.access, Access::Provider(_));
        if status.starts_with('2') && counted {
            headers.insert("X-RateLimit-Limit".to_owned(), RefOr::T(number(LIMIT)));
            headers.insert("X-RateLimit-Remaining".to_owned(), RefOr::T(number(REMAINING)));
        }
        if status == "201" && matches!(route.endpoint, Endpoint::Command(_)) && has_address(route) {
            headers.insert("Location".to_owned(), RefOr::T(text("Where it is.")));
        }
        if status.starts_with('2') && matches!(route.endpoint, Endpoint::Command(_)) {
            let replayed = text("`true` where the answer was given before to the same key.");
            headers.insert("Idempotency-Replayed".to_owned(), RefOr::T(replayed));
        }
    }
}

fn text(description: &str) -> Header {
    Header::builder().description(Some(description)).schema(Some(Object::with_type(Type::String))).build()
}

fn number(description: &str) -> Header {
    Header::builder().description(Some(description)).schema(Some(Object::with_type(Type::Integer))).build()
}
