//! The entry of an operation in the document, from its declaration.

use std::collections::{BTreeMap, BTreeSet};

use cuepoint_domain::authorization::Capacity;
use cuepoint_domain::gig::DjCode;
use cuepoint_domain::page::PageRequest;
use cuepoint_domain::user::guest_account::GuestKey;
use serde_json::{Map, Value, json};
use utoipa::openapi::content::{Content, ContentBuilder};
use utoipa::openapi::example::ExampleBuilder;
use utoipa::openapi::extensions::Extensions;
use utoipa::openapi::path::{
    HttpMethod, Operation, OperationBuilder, Parameter, ParameterBuilder, ParameterIn, Paths,
};
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::response::{Response, ResponseBuilder};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::security::SecurityRequirement;
use utoipa::openapi::{Header, Object, Ref, RefOr, Required};

use super::answers::ExampleValues;
use super::{BEARER, SIGNATURE, examples};
use crate::declaration::{Declaration, JSON};
use crate::endpoint::{Body, Endpoint, Exposure};
use crate::wire::error::Code;
use crate::wire::kinds;
use cuepoint_transport::rate_limits::Class;
use cuepoint_views::wire::schema::text_of;

const REMAINING: &str = "Requests that would be admitted now.";
const RESET: &str = "Seconds until the quota is full.";
const RESOURCE: &str =
    "Name of the quota, which is its key in the section `rate_limits` of the configuration.";

/// The paths of all operations.
pub(super) fn paths(declarations: &[Declaration], examples: &ExampleValues) -> Paths {
    let mut paths = Paths::new();
    for declaration in declarations {
        let method = match declaration.method.as_str() {
            "GET" => HttpMethod::Get,
            "PUT" => HttpMethod::Put,
            "PATCH" => HttpMethod::Patch,
            "DELETE" => HttpMethod::Delete,
            _ => HttpMethod::Post,
        };
        paths.add_path_operation(declaration.path, vec![method], operation(declaration, examples));
    }
    paths
}

fn operation(declaration: &Declaration, examples: &ExampleValues) -> Operation {
    let builder = OperationBuilder::new()
        .tag(declaration.tag.name())
        .summary(Some(declaration.summary()))
        .description(declaration.description())
        .operation_id(Some(declaration.id))
        .parameters(Some(parameters(declaration)))
        .extensions(Some(extensions(declaration)));
    let mut operation = builder.build();
    if let Some(schema) = declaration.body.schema {
        let body = RequestBodyBuilder::new().content(JSON, Content::new(Some(schema.used())));
        let required =
            if declaration.body.takes == Body::Optional { Required::False } else { Required::True };
        operation.request_body = Some(RefOr::T(body.required(Some(required)).build()));
    }
    let responses = &mut operation.responses.responses;
    let success = &declaration.answers;
    responses.insert(success.status.as_u16().to_string(), RefOr::T(self::success(declaration, examples)));
    if let Some(description) = success.or_no_content {
        let mut empty = ResponseBuilder::new().description(description).build();
        empty.headers.insert("X-Request-Id".to_owned(), RefOr::T(request_id()));
        responses.insert("204".to_owned(), RefOr::T(empty));
    }
    responses.extend(failure_responses(declaration));
    operation.security = Some(match &declaration.run {
        Endpoint::Plain(_) | Endpoint::Open(_) | Endpoint::OpenKeyed(_) => Vec::new(),
        Endpoint::Optional(..) => vec![SecurityRequirement::default(), requirement(BEARER)],
        Endpoint::Member(..) | Endpoint::Command(..) => vec![requirement(BEARER)],
        Endpoint::Provider(..) => vec![requirement(SIGNATURE)],
    });
    operation
}

pub(super) fn requirement(scheme: &str) -> SecurityRequirement {
    SecurityRequirement::new::<_, [&str; 0], _>(scheme, [])
}

/// A single extension, since the document does not keep the order of several.
fn extensions(declaration: &Declaration) -> Extensions {
    let mut access = access(&declaration.run);
    if is_counted(declaration) {
        access.insert("rate_limit".to_owned(), json!(declaration.class.resource()));
    }
    if declaration.run.takes_token() {
        access.insert("rate_limit_without_token".to_owned(), json!(Class::Public.resource()));
    }
    let mut extensions = Extensions::default();
    extensions.insert("x-access".to_owned(), Value::Object(access));
    extensions
}

/// The description of the quota of a class.
const fn limit(class: Class) -> &'static str {
    match class {
        Class::Webhooks | Class::WebhookChanges => "Requests per hour.",
        _ => "Requests per minute.",
    }
}

fn is_counted(declaration: &Declaration) -> bool {
    !declaration.run.is_plain() && !declaration.run.is_signed()
}

/// The authorization of an operation, with its row of the authorization matrix if it takes a token.
fn access(run: &Endpoint) -> Map<String, Value> {
    let mut keys = Map::new();
    let mut add = |key: &str, value: Value| keys.insert(key.to_owned(), value);
    match run {
        Endpoint::Plain(_) | Endpoint::Open(_) | Endpoint::OpenKeyed(_) => drop(add("who", json!("anybody"))),
        Endpoint::Provider(..) => drop(add("who", json!("provider"))),
        Endpoint::Optional(action, _) | Endpoint::Member(action, _) | Endpoint::Command(action, _) => {
            let rule = action.rule();
            let reaches: Map<String, Value> = Capacity::ALL
                .iter()
                .map(|held| (held.name().to_owned(), json!(rule.scope(*held).name())))
                .collect();
            add("who", json!(if run.takes_token() { "anybody" } else { "caller" }));
            add("action", json!(rule.name));
            add("reach", Value::Object(reaches));
            if let Some(scope) = rule.token_scope {
                add("token_scope", json!(scope.name()));
            }
        }
    }
    keys
}

fn parameters(declaration: &Declaration) -> Vec<Parameter> {
    let mut parameters = Vec::new();
    if declaration.answers.is_page {
        let number = kinds::whole_number().minimum(Some(1));
        parameters.push(query("page", "Number of the page, from 1; 1 by default.", number, json!(1)));
        let size = kinds::whole_number_of(32).minimum(Some(1)).maximum(Some(PageRequest::MAX_SIZE));
        let (most, default) = (PageRequest::MAX_SIZE, PageRequest::DEFAULT_SIZE);
        let description = format!("Rows of a page, from 1 to {most}; {default} by default.");
        parameters.push(query("per_page", &description, size, json!(default)));
    }
    for filter in declaration.filters {
        let parameter = parameter(filter.name, ParameterIn::Query, &text_of(filter.documentation))
            .required(if filter.is_required { Required::True } else { Required::False });
        let example = filter.example.map(|example| json!(example));
        parameters.push(parameter.schema(Some(filter.schema.used())).example(example).build());
    }
    if declaration.path.contains("{id}") {
        let id = parameter("id", ParameterIn::Path, "Id of the object.").required(Required::True);
        parameters.push(id.schema(Some(kinds::id())).build());
    }
    if declaration.path.contains("{code}") {
        let description = "Code of a DJ, in upper or lower case.";
        let code = parameter("code", ParameterIn::Path, description).required(Required::True);
        let schema = kinds::text().min_length(Some(DjCode::LENGTH)).max_length(Some(DjCode::LENGTH));
        parameters.push(code.schema(Some(schema)).example(Some(json!("K7TW3M"))).build());
    }
    if declaration.run.is_signed() {
        let id = "Id of the message, the same for every attempt to deliver it.";
        parameters.push(header("webhook-id", id, line_of(255)));
        let timestamp = "Time of sending, in seconds since the start of 1970.";
        parameters.push(header("webhook-timestamp", timestamp, line_of(20)));
    }
    if declaration.run.is_command() {
        let key =
            "A key of the client's choice. For 7 days, the same key and body get the first success again.";
        parameters.push(header("Idempotency-Key", key, line_of(255).pattern(Some("^[!-~]+$"))));
    }
    if matches!(declaration.run, Endpoint::OpenKeyed(_)) {
        let key = "A key of the client's choice, with at least 128 random bits.";
        let text = line_of(255).pattern(Some("^[!-~]+$")).min_length(Some(GuestKey::MIN_CHARACTERS));
        parameters.push(header("Idempotency-Key", key, text));
    }
    if !declaration.run.is_plain() {
        let id = "Id of the request in the log and the answer: 1 to 128 letters, digits, dots, underscores or hyphens. \
            Any other value is replaced.";
        parameters.push(header("X-Request-Id", id, ObjectBuilder::new().schema_type(Type::String)));
    }
    parameters
}

fn parameter(name: &str, place: ParameterIn, description: &str) -> ParameterBuilder {
    let parameter = ParameterBuilder::new().name(name).parameter_in(place);
    parameter.required(Required::False).description(Some(description))
}

fn query(name: &str, description: &str, schema: ObjectBuilder, example: Value) -> Parameter {
    parameter(name, ParameterIn::Query, description).schema(Some(schema)).example(Some(example)).build()
}

fn line_of(most: usize) -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String).min_length(Some(1)).max_length(Some(most))
}

/// A header that every request of the service has.
pub(super) fn required_header(name: &str, description: &str) -> Parameter {
    let header = parameter(name, ParameterIn::Header, description).required(Required::True);
    header.schema(Some(ObjectBuilder::new().schema_type(Type::String))).build()
}

fn header(name: &str, description: &str, text: ObjectBuilder) -> Parameter {
    parameter(name, ParameterIn::Header, description).schema(Some(text)).build()
}

/// The failures of an operation, the most specific ones last: those implied by its kind, and those that it declares.
pub(super) fn failures(declaration: &Declaration) -> Vec<Code> {
    let mut codes = vec![Code::Internal, Code::HeadTooLarge];
    if !declaration.run.is_plain() {
        codes.extend([Code::BadRequest, Code::NotAcceptable, Code::RateLimited, Code::Unavailable]);
    }
    if !declaration.run.is_open() || declaration.run.takes_token() {
        codes.push(Code::Unauthenticated);
    }
    if declaration.run.is_signed() {
        codes.push(Code::InvalidSignature);
    }
    let action = declaration.run.action();
    if declaration.run.takes_token() || action.is_some() {
        codes.extend([Code::TokenExpired, Code::SessionEnded, Code::InvalidToken, Code::AccountSuspended]);
        codes.push(Code::InsufficientScope);
    }
    if action.is_some_and(|action| action.is_for_members() && !action.is_for_staff()) {
        codes.push(Code::ClaimRequired);
    }
    if declaration.body.takes != Body::None {
        codes.extend([Code::PayloadTooLarge, Code::UnsupportedMediaType, Code::MalformedJson]);
    }
    if declaration.body.takes != Body::None || declaration.is_strict() {
        codes.push(Code::ValidationFailed);
    }
    if declaration.run.is_command() {
        codes.extend([Code::IdempotencyKeyReused, Code::IdempotencyInFlight, Code::Conflict]);
    }
    if declaration.path.contains('{') || declaration.exposure != Exposure::Everywhere {
        codes.push(Code::NotFound);
    }
    let declared = declaration.fails.iter().filter(|code| !codes.contains(code)).copied().collect::<Vec<_>>();
    codes.extend(declared);
    codes
}

fn success(declaration: &Declaration, examples: &ExampleValues) -> Response {
    let success = &declaration.answers;
    let mut response = ResponseBuilder::new().description(success.description).build();
    if let Some((media_type, schema)) = success.content {
        let mut content = Content::new(Some(schema.used()));
        content.example = match success.streamed {
            Some(streamed) => Some(json!((streamed.example)(&examples.of(&streamed.data.used())))),
            None if media_type == JSON => {
                Some(examples.showing(&schema.used(), declaration.path, success.shown))
            }
            None => None,
        };
        response.content.insert(media_type.to_owned(), RefOr::T(content));
    }
    let mut add = |name: &str, header: Header| response.headers.insert(name.to_owned(), RefOr::T(header));
    add("X-Request-Id", request_id());
    if is_counted(declaration) {
        add("X-RateLimit-Limit", number(limit(declaration.class)));
        add("X-RateLimit-Remaining", number(REMAINING));
        add("X-RateLimit-Reset", number(RESET));
        add("X-RateLimit-Resource", text(RESOURCE));
    }
    if success.location.is_some() {
        add("Location", text("Address of the created object."));
    }
    if declaration.run.is_command() {
        add("Idempotency-Replayed", text("`true` where the answer repeats the first one for the same key."));
    }
    if let Some((name, description)) = success.header {
        add(name, text(description));
    }
    response
}

fn request_id() -> Header {
    text("Id of the request in the log.")
}

/// The failures of an operation by their HTTP status.
fn by_status(declaration: &Declaration) -> BTreeMap<u16, Vec<Code>> {
    let mut statuses: BTreeMap<u16, Vec<Code>> = BTreeMap::new();
    for code in failures(declaration) {
        statuses.entry(code.status().as_u16()).or_default().push(code);
    }
    statuses
}

/// The component names of responses with several failures, by their codes: each is named after its most specific
/// code.
pub(super) fn failure_names(declarations: &[Declaration]) -> BTreeMap<BTreeSet<String>, &'static str> {
    let responses = declarations.iter().flat_map(|declaration| by_status(declaration).into_values());
    let named = responses.filter_map(|codes| {
        let name = codes.last()?.name();
        Some((codes.iter().map(|code| code.name().to_owned()).collect(), name))
    });
    named.collect()
}

fn failure_responses(declaration: &Declaration) -> BTreeMap<String, RefOr<Response>> {
    let responses = by_status(declaration).into_iter().map(|(status, codes)| {
        let examples: Vec<_> =
            codes.into_iter().map(|code| (code, examples::failure(code, declaration))).collect();
        (status.to_string(), RefOr::T(failure(&examples, declaration.class)))
    });
    responses.collect()
}

fn failure(examples: &[(Code, Value)], class: Class) -> Response {
    let names: Vec<String> =
        examples.iter().map(|(code, _)| format!("`{}`: {}", code.name(), code.message())).collect();
    let content = examples.iter().fold(
        ContentBuilder::new().schema(Some(Ref::from_schema_name("Failure"))),
        |content, (code, example)| {
            let example = ExampleBuilder::new().summary(code.message()).value(Some(example.clone()));
            content.examples_from_iter([(code.name(), example.build())])
        },
    );
    let response = ResponseBuilder::new().description(names.join(" ")).content(JSON, content.build());
    let response = response.header("X-Request-Id", request_id());
    let response = match examples.first().map(|(code, _)| code.status().as_u16()) {
        Some(401) => response.header("WWW-Authenticate", text("The challenge of RFC 6750.")),
        Some(429) => response
            .header("Retry-After", number("Seconds until the next request is admitted."))
            .header("X-RateLimit-Limit", number(limit(class)))
            .header("X-RateLimit-Remaining", number(REMAINING))
            .header("X-RateLimit-Reset", number(RESET))
            .header("X-RateLimit-Resource", text(RESOURCE)),
        Some(409) if examples.iter().any(|(code, _)| *code == Code::IdempotencyInFlight) => response
            .header("Retry-After", number("With `idempotency_in_flight`: seconds until the next attempt.")),
        Some(503) => response.header("Retry-After", number("Seconds until the next attempt.")),
        _ => response,
    };
    response.build()
}

fn text(description: &str) -> Header {
    Header::builder().description(Some(description)).schema(Some(Object::with_type(Type::String))).build()
}

fn number(description: &str) -> Header {
    Header::builder().description(Some(description)).schema(Some(Object::with_type(Type::Integer))).build()
}
