//! The OpenAPI document, derived from the declarations of the operations.

mod answers;
mod common;
mod components;
mod examples;
mod schemas;
mod webhooks;

use std::sync::LazyLock;

use utoipa::openapi::info::{InfoBuilder, LicenseBuilder};
use utoipa::openapi::security::{ApiKey, ApiKeyValue, Http, HttpAuthScheme, SecurityScheme};
use utoipa::openapi::server::ServerBuilder;
use utoipa::openapi::tag::TagBuilder;
use utoipa::openapi::{Components, OpenApi};

use crate::declaration::Tag;
use crate::openapi::answers::ExampleValues;
use crate::operations;

/// The name of the bearer security scheme.
const BEARER: &str = "bearer";
/// The name of the signature security scheme.
const SIGNATURE: &str = "signature";
/// The licence, as an SPDX expression.
const LICENCE: &str = "MIT OR Apache-2.0";

/// The document as JSON, serialized once.
///
/// # Errors
/// When serialization fails.
pub fn json() -> Result<&'static str, &'static str> {
    static JSON: LazyLock<Result<String, String>> =
        LazyLock::new(|| document().to_json().map_err(|error| error.to_string()));
    JSON.as_deref().map_err(String::as_str)
}

/// The document.
#[must_use]
pub fn document() -> OpenApi {
    let declarations = operations::all();
    let licence = LicenseBuilder::new().name(LICENCE).identifier(Some(LICENCE)).build();
    let info = InfoBuilder::new()
        .title("Cuepoint")
        .version(env!("CARGO_PKG_VERSION"))
        .description(Some(include_str!("description.md")))
        .license(Some(licence))
        .build();
    let mut components = Components::default();
    components.schemas = schemas::of(&declarations);
    add_security_schemes(&mut components);
    let examples = ExampleValues::new(&components.schemas);
    let mut document = OpenApi::new(info, common::paths(&declarations, &examples));
    document.webhooks = Some(webhooks::paths(&examples));
    let server = ServerBuilder::new().url("/").description(Some("The server of this document."));
    document.servers = Some(vec![server.build()]);
    let tags = Tag::ALL
        .iter()
        .map(|tag| TagBuilder::new().name(tag.name()).description(Some(tag.description())).build());
    document.tags = Some(tags.collect());
    document.components = Some(components);
    components::share(&mut document, &common::failure_names(&declarations));
    document
}

fn add_security_schemes(components: &mut Components) {
    let mut bearer = Http::new(HttpAuthScheme::Bearer);
    bearer.description = Some("The access token of a session, or a personal access token.".to_owned());
    components.add_security_scheme(BEARER, SecurityScheme::Http(bearer));
    let signature = "HMAC-SHA256 over `id.timestamp.body`, as Standard Webhooks specifies, sent with `webhook-id` and \
        `webhook-timestamp`.";
    let signature = ApiKeyValue::with_description("webhook-signature", signature);
    components.add_security_scheme(SIGNATURE, SecurityScheme::ApiKey(ApiKey::Header(signature)));
}

#[cfg(test)]
mod tests;
