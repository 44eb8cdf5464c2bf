//! Whether the service lives, whether it can work, and what it measured.

use std::sync::Arc;

use actix_web::http::header;
use actix_web::{HttpRequest, HttpResponse};

use crate::app::App;
use crate::http::operations::views::Nothing;
use crate::http::wire::envelope::{Answer, Success};
use crate::http::wire::error::ApiError;

/// Says that the process answers.
#[utoipa::path(
    get,
    path = "/health/live",
    operation_id = "live",
    tag = "Service",
    responses((status = 200, description = "The process answers.", body = Success<Nothing>)),
)]
pub async fn live(_app: Arc<App>, _request: HttpRequest) -> Result<HttpResponse, ApiError> {
    Answer::ok("Alive.", Nothing {}).map(Answer::respond)
}

/// Says whether the service can do its work: commit changes, read the revocation list, and rely on its clock.
#[utoipa::path(
    get,
    path = "/health/ready",
    operation_id = "ready",
    tag = "Service",
    responses((
        status = 200,
        description = "Changes can be committed, revocations read, and the clocks agree.",
        body = Success<Nothing>,
    )),
)]
pub async fn ready(app: Arc<App>, _request: HttpRequest) -> Result<HttpResponse, ApiError> {
    app.ready().await?;
    Answer::ok("Ready.", Nothing {}).map(Answer::respond)
}

/// Shows the measurements, in the text format of Prometheus.
#[utoipa::path(
    get,
    path = "/metrics",
    operation_id = "metrics",
    tag = "Service",
    responses((
        status = 200,
        description = "The measurements, in the text format of Prometheus.",
        body = String,
        content_type = "text/plain",
    )),
)]
pub async fn metrics(app: Arc<App>, _request: HttpRequest) -> Result<HttpResponse, ApiError> {
    let mut response = HttpResponse::Ok();
    response.insert_header((header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8"));
    Ok(response.body(app.metrics.render()))
}
