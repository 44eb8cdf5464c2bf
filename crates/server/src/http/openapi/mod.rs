//! The OpenAPI document: each handler describes its success, and what all routes have in common is added from the
//! table of routes.

pub mod bodies;
mod common;
mod examples;
mod schemas;

use utoipa::OpenApi;
use utoipa::openapi::security::{ApiKey, ApiKeyValue, Http, HttpAuthScheme, SecurityScheme};

use crate::http::operations::{
    audit, auth, blocks, djs, docs, health, jwks, operator_topups, operator_withdrawals, operators,
    passwords, personal_data, profile, proofs, provider_messages, requests, sessions, staff, topups, wallet,
    webhooks, withdrawals,
};
use crate::http::wire::envelope::Failure;

/// What the document calls the access token.
const BEARER: &str = "bearer";
/// What the document calls a provider's signature.
const SIGNATURE: &str = "signature";

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Cuepoint",
        description = include_str!("description.md"),
        // By name alone: the document's own field for SPDX expressions is shown as a link that leads nowhere.
        license(name = "MIT OR Apache-2.0"),
    ),
    tags(
        (name = "Profile", description = "One's own profile and personal data."),
        (name = "Accounts", description = "Registration, login, sessions, passwords, proof of an address."),
        (name = "DJs", description = "Who can be asked for songs."),
        (name = "Requests", description = "Requests for songs, and what becomes of them."),
        (name = "Wallet", description = "What is in one's wallet, how that came, and paying in."),
        (name = "Withdrawals", description = "Paying out."),
        (name = "Operators", description = "What the people who run the service do about other people and their money."),
        (name = "Providers", description = "What providers say, signed as Standard Webhooks says."),
        (name = "Service", description = "The service itself."),
    ),
    paths(
        auth::register, auth::login, auth::refresh, auth::logout,
        sessions::list, sessions::end, sessions::end_all,
        passwords::change, passwords::forgot, passwords::reset,
        proofs::send_email_code, proofs::verify_email, proofs::send_phone_code, proofs::verify_phone,
        profile::show, profile::change, personal_data::export, personal_data::erase,
        djs::list, djs::show,
        requests::open, requests::show, requests::cancel, requests::answer, requests::made, requests::addressed,
        blocks::list, blocks::block, blocks::unblock,
        wallet::show, wallet::entries,
        topups::open, topups::list, topups::show,
        withdrawals::open, withdrawals::options, withdrawals::list, withdrawals::show, withdrawals::cancel,
        operator_withdrawals::list, operator_withdrawals::approve, operator_withdrawals::reject,
        operator_withdrawals::process, operator_withdrawals::broadcast, operator_withdrawals::complete,
        operator_withdrawals::fail, operator_withdrawals::review,
        operator_topups::list, operator_topups::show, operator_topups::reverse, operator_topups::suspense,
        operator_topups::settle, operators::refund, operators::adjust,
        audit::show, staff::list, staff::show, staff::suspend, staff::restore, staff::give_role, staff::events,
        provider_messages::list, provider_messages::resolve,
        webhooks::topups, webhooks::payouts,
        health::live, health::ready, health::metrics, docs::openapi, docs::index,
        jwks::show,
    ),
    components(schemas(Failure)),
)]
struct Described;

/// The document.
#[must_use]
pub fn document() -> utoipa::openapi::OpenApi {
    let mut document = Described::openapi();
    let mut bearer = Http::new(HttpAuthScheme::Bearer);
    bearer.bearer_format = Some("JWT".to_owned());
    if let Some(components) = document.components.as_mut() {
        components.add_security_scheme(BEARER, SecurityScheme::Http(bearer));
        let signature = "HMAC-SHA256 over `id.timestamp.body`, as Standard Webhooks says, with `webhook-id` and \
            `webhook-timestamp` beside it.";
        let signature = ApiKeyValue::with_description("webhook-signature", signature);
        components.add_security_scheme(SIGNATURE, SecurityScheme::ApiKey(ApiKey::Header(signature)));
    }
    schemas::complete(&mut document);
    common::complete(&mut document);
    document
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::*;
    use crate::http::route::{Access, Body};
    use crate::http::routes;

    /// The parts of the page that shows the document; nobody calls them as an operation.
    const PARTS_OF_THE_PAGE: &str = "/docs/{file:.*}";

    /// Methods and paths.
    type Operations = BTreeSet<(String, String)>;

    fn json() -> Value {
        serde_json::to_value(document()).unwrap()
    }

    fn operations(document: &Value) -> Vec<(String, String, Value)> {
        let paths = document["paths"].as_object().unwrap().iter();
        paths
            .flat_map(|(path, item)| {
                let methods = item.as_object().unwrap().iter();
                methods.map(|(method, operation)| (method.to_uppercase(), path.clone(), operation.clone()))
            })
            .collect()
    }

    #[test]
    fn the_document_and_the_routes_name_the_same_operations() {
        let routed: Operations = routes::table()
            .into_iter()
            .filter(|route| route.path != PARTS_OF_THE_PAGE)
            .map(|route| (route.method.to_string(), route.path.to_owned()))
            .collect();
        let described: Operations =
            operations(&json()).into_iter().map(|(method, path, _)| (method, path)).collect();
        assert_eq!(described, routed);
    }

    /// The operations that `docs/api.md` writes as `GET /path`.
    fn written() -> Operations {
        let contract = include_str!("../../../../../docs/api.md");
        // Every second part is code.
        let code = contract.split('`').skip(1).step_by(2);
        let named = code.filter_map(|code| code.split_once(' '));
        let operations =
            named.filter(|(method, _)| ["GET", "POST", "PUT", "PATCH", "DELETE"].contains(method));
        operations
            .map(|(method, path)| {
                let outside = ["/.well-known/", "/health/", "/metrics", "/openapi.json", "/docs"];
                let base = if outside.iter().any(|prefix| path.starts_with(prefix)) { "" } else { "/api/v1" };
                (method.to_owned(), format!("{base}{path}"))
            })
            .collect()
    }

    #[test]
    fn the_written_contract_and_the_routes_name_the_same_operations() {
        let routed: Operations =
            operations(&json()).into_iter().map(|(method, path, _)| (method, path)).collect();
        assert_eq!(written(), routed);
    }

    #[test]
    fn no_route_and_no_name_is_there_twice() {
        let table = routes::table();
        let routes: BTreeSet<_> = table.iter().map(|route| (route.method.as_str(), route.path)).collect();
        assert_eq!(routes.len(), table.len());
        let operations = operations(&json());
        let names: BTreeSet<_> = operations.iter().map(|(.., it)| it["operationId"].to_string()).collect();
        assert_eq!(names.len(), operations.len());
    }

    #[test]
    fn every_operation_says_what_it_takes_and_what_it_can_answer() {
        let document = json();
        for route in routes::table().iter().filter(|route| route.path != PARTS_OF_THE_PAGE) {
            let operation = &document["paths"][route.path][route.method.as_str().to_lowercase()];
            let name = format!("{} {}", route.method, route.path);
            let answers = operation["responses"].as_object().unwrap();
            assert_eq!(answers.keys().filter(|status| status.starts_with('2')).count(), 1, "{name}");
            for code in common::failures(route) {
                let answer = &answers[code.status().as_str()];
                let example =
                    &answer["content"]["application/json"]["examples"][code.name()]["value"]["code"];
                assert_eq!(example, code.name(), "{name}");
            }
            assert_eq!(operation["security"].is_array(), route.access != Access::Open, "{name}");
            assert_eq!(operation["requestBody"].is_object(), route.body != Body::None, "{name}");
        }
    }

    #[test]
    fn every_key_of_an_answer_is_required() {
        fn check(place: &str, schema: &Value) {
            if let Some(properties) = schema["properties"].as_object() {
                let required: BTreeSet<_> =
                    schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
                let keys: BTreeSet<_> = properties.keys().map(String::as_str).collect();
                let optional: Vec<_> = keys.difference(&required).copied().collect();
                let expected: &[&str] =
                    if place == "Failure" { &["allowed", "current", "errors"] } else { &[] };
                assert_eq!(optional, expected, "{place}");
                properties.iter().for_each(|(key, property)| check(&format!("{place}.{key}"), property));
            }
            if schema["items"].is_object() {
                check(&format!("{place}[]"), &schema["items"]);
            }
        }
        let (sent, document) = (schemas::sent(&document()), json());
        assert!(sent.contains("NewWithdrawal") && !sent.contains("User"), "{sent:?}");
        for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
            if !sent.contains(name) {
                check(name, schema);
            }
        }
    }

    #[test]
    fn money_is_no_float_and_statuses_are_listed() {
        fn check(document: &Value, place: &str, schema: &Value) {
            let Some(properties) = schema["properties"].as_object() else { return };
            for (key, property) in properties {
                let place = format!("{place}.{key}");
                let measured = matches!(key.as_str(), "latitude" | "longitude" | "radius");
                assert_eq!(property["format"] == "double", measured, "{place}");
                let listed = matches!(
                    key.as_str(),
                    "status" | "code" | "kind" | "artist_type" | "token_type" | "type"
                );
                // The code that somebody types is not the code of a failure.
                if listed && place != "VerificationCode.code" {
                    let reference =
                        property["$ref"].as_str().unwrap_or_else(|| panic!("{place}: {property}"));
                    let names = document.pointer(&format!("{}/enum", reference.trim_start_matches('#')));
                    assert!(names.is_some_and(Value::is_array), "{place}: {reference}");
                }
                check(document, &place, property);
            }
        }
        let document = json();
        for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
            check(&document, name, schema);
        }
    }

    #[test]
    fn every_reference_leads_somewhere() {
        fn references(value: &Value, found: &mut BTreeSet<String>) {
            match value {
                Value::Object(map) => {
                    for (key, value) in map {
                        match value {
                            Value::String(target) if key == "$ref" => drop(found.insert(target.clone())),
                            _ => references(value, found),
                        }
                    }
                }
                Value::Array(items) => items.iter().for_each(|item| references(item, found)),
                _ => {}
            }
        }
        let document = json();
        let mut found = BTreeSet::new();
        references(&document, &mut found);
        assert!(found.len() > 10);
        for reference in found {
            let pointer = reference.trim_start_matches('#');
            assert!(document.pointer(pointer).is_some(), "{reference}");
        }
    }
}
