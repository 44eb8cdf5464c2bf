//! The OpenAPI document, and the page that shows it without any network.

use std::sync::{Arc, LazyLock};

use actix_web::http::header;
use actix_web::{HttpRequest, HttpResponse};
use utoipa_swagger_ui::Config;

use crate::app::App;
use crate::http::openapi;
use crate::http::wire::error::{ApiError, Code};

/// The document as it is sent.
static DOCUMENT: LazyLock<Result<String, String>> =
    LazyLock::new(|| openapi::document().to_json().map_err(|error| error.to_string()));

/// Shows the OpenAPI document.
#[utoipa::path(
    get,
    path = "/openapi.json",
    operation_id = "openapi",
    tag = "Service",
    responses((status = 200, description = "This document.", body = Object)),
)]
pub async fn openapi(_app: Arc<App>, _request: HttpRequest) -> Result<HttpResponse, ApiError> {
    let document = DOCUMENT.as_ref().map_err(|error| ApiError::internal(error.as_str()))?;
    let mut response = HttpResponse::Ok();
    response.insert_header((header::CONTENT_TYPE, "application/json"));
    Ok(response.body(document.as_str()))
}

/// Shows the OpenAPI document as a page.
#[utoipa::path(
    get,
    path = "/docs",
    operation_id = "docs",
    tag = "Service",
    responses((
        status = 200,
        description = "This document as a page that works without a network.",
        body = String,
        content_type = "text/html",
    )),
)]
pub async fn index(_app: Arc<App>, _request: HttpRequest) -> Result<HttpResponse, ApiError> {
    let (content_type, page) = asset("index.html")?;
    let page = String::from_utf8(page).map_err(ApiError::internal)?;
    // The page names its parts relative to /docs/, and is itself one level above.
    let page = page.replacen("<head>", "<head><base href=\"docs/\">", 1);
    Ok(HttpResponse::Ok().insert_header((header::CONTENT_TYPE, content_type)).body(page))
}

/// A part of the page.
pub async fn file(_app: Arc<App>, request: HttpRequest) -> Result<HttpResponse, ApiError> {
    let (content_type, bytes) = asset(request.match_info().query("file"))?;
    Ok(HttpResponse::Ok().insert_header((header::CONTENT_TYPE, content_type)).body(bytes))
}

fn asset(file: &str) -> Result<(String, Vec<u8>), ApiError> {
    let config = Config::from("/openapi.json").validator_url("none");
    let asset = utoipa_swagger_ui::serve(file, Arc::new(config))
        .map_err(|error| ApiError::internal(error.to_string()))?
        .ok_or(Code::NotFound)?;
    let bytes = asset.bytes.into_owned();
    if !asset.content_type.starts_with("text/html") {
        return Ok((asset.content_type, bytes));
    }
    let page = String::from_utf8(bytes).map_err(ApiError::internal)?;
    Ok((asset.content_type, page.replacen("Swagger UI", "Cuepoint", 1).into_bytes()))
}
