//! The OpenAPI document, and a self-contained page that shows it.

use std::sync::Arc;

use actix_web::http::{Method, header};
use actix_web::{HttpRequest, HttpResponse};
use utoipa_swagger_ui::Config;

use crate::declaration::{Declaration, of_type, operations};
use crate::endpoint::plain;
use crate::state::ApiState;
use crate::wire::error::{ApiError, Code};
use crate::wire::kinds;

operations! {
    /// Get the OpenAPI document
    ///
    /// The structure of every request and response, with examples. The rules that apply to all operations are at
    /// its beginning.
    GET "/openapi.json" "getOpenapi" {
        tag: Service,
        run: plain(openapi),
        answers: of_type("application/json", kinds::OBJECT.schema, "This document."),
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

/// The files of the page, which the document omits.
pub(crate) fn files() -> Declaration {
    let answers = of_type("*/*", kinds::ANY_TEXT.schema, "The file.");
    Declaration::new(
        Method::GET,
        "/docs/{file:.*}",
        "getDocsFile",
        &[" Get a file of the page"],
        plain(file),
        answers,
    )
}

async fn openapi(api: Arc<ApiState>, _request: HttpRequest) -> Result<HttpResponse, ApiError> {
    let document = (api.openapi_document)().map_err(ApiError::internal)?;
    let mut response = HttpResponse::Ok();
    response.insert_header((header::CONTENT_TYPE, "application/json"));
    Ok(response.body(document))
}

async fn index(_api: Arc<ApiState>, _request: HttpRequest) -> Result<HttpResponse, ApiError> {
    let (content_type, page) = asset("index.html")?;
    let page = String::from_utf8(page).map_err(ApiError::internal)?;
    // The page refers to its parts relative to /docs/, but is served one level above.
    let page = page.replacen("<head>", "<head><base href=\"docs/\">", 1);
    Ok(HttpResponse::Ok().insert_header((header::CONTENT_TYPE, content_type)).body(page))
}

async fn file(_api: Arc<ApiState>, request: HttpRequest) -> Result<HttpResponse, ApiError> {
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
