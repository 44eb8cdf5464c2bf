//! The OpenAPI document, and a self-contained page that shows it.

mod file;

use std::sync::Arc;

use actix_web::http::Method;
use actix_web::web::Bytes;
use actix_web::{HttpRequest, HttpResponse};
use serde_json::json;
use utoipa::openapi::schema::Type;
use utoipa::openapi::{Object, RefOr, Schema};

use crate::declaration::{Declaration, JSON, of_type, operations};
use crate::endpoint::plain;
use crate::state::ApiState;
use crate::wire::error::ApiError;
use crate::wire::kinds;
use cuepoint_views::wire::schema::Described;

operations! {
    /// Get the OpenAPI document
    ///
    /// The structure of every request and response, with examples. The rules that apply to all operations are at
    /// its beginning.
    GET "/openapi.json" "getOpenapi" {
        tag: Service,
        run: plain(openapi),
        answers: of_type(JSON, Described::inline(document_schema), "This document."),
    }

    /// Show the OpenAPI document as a page
    ///
    /// The page loads nothing from other hosts.
    GET "/docs" "getDocs" {
        tag: Service,
        run: plain(index),
        answers: of_type("text/html", kinds::ANY_TEXT.schema, "This document as a page."),
    }
}

fn document_schema() -> RefOr<Schema> {
    let mut document = Object::with_type(Type::Object);
    document.example = Some(json!({
        "openapi": "3.1.0",
        "info": { "title": "Cuepoint", "version": env!("CARGO_PKG_VERSION") },
        "paths": {},
        "webhooks": {},
        "components": {},
    }));
    RefOr::T(document.into())
}

/// The files of the page, which the document omits.
pub(crate) fn files() -> Declaration {
    let answers = of_type("*/*", kinds::ANY_TEXT.schema, "The file.");
    Declaration::new(
        Method::GET,
        "/docs/{file:.*}",
        "getDocsFile",
        &[" Get a file of the page"],
        plain(part),
        answers,
    )
}

async fn openapi(api: Arc<ApiState>, request: HttpRequest) -> Result<HttpResponse, ApiError> {
    let contents = || {
        let document = (api.openapi_document)().map_err(ApiError::internal)?;
        Ok((JSON.to_owned(), Bytes::from_static(document.as_bytes())))
    };
    Ok(file::cached("/openapi.json", contents).await?.answer(&request))
}

async fn index(_api: Arc<ApiState>, request: HttpRequest) -> Result<HttpResponse, ApiError> {
    Ok(file::cached("/docs", file::index).await?.answer(&request))
}

async fn part(_api: Arc<ApiState>, request: HttpRequest) -> Result<HttpResponse, ApiError> {
    let path = request.match_info().as_str();
    let name = path.strip_prefix("/docs/").unwrap_or_default();
    Ok(file::cached(path, || file::part(name)).await?.answer(&request))
}
