//! Liveness, readiness and metrics.

use std::sync::Arc;

use actix_web::http::{StatusCode, header};
use actix_web::{HttpRequest, HttpResponse};
use cuepoint_domain::application::NotReady;
use cuepoint_transport::client_address::client_address;

use crate::declaration::{of_type, ok, operations};
use crate::endpoint::{Exposure, plain};
use crate::state::ApiState;
use crate::wire::envelope::ApiResponse;
use crate::wire::error::{ApiError, Code};
use crate::wire::kinds;
use cuepoint_views::Empty;

operations! {
    /// Check liveness
    ///
    /// Returns 200 while the process answers.
    GET "/health/live" "getLiveness" {
        tag: Service,
        run: plain(live),
        answers: ok::<Empty>("The process answers requests."),
    }

    /// Check readiness
    ///
    /// Returns 200 while changes can be committed, the revocation list can be read, and the clocks of the server
    /// and the database agree. Otherwise it returns 503, and the log has the reason. To clients in
    /// `access.metrics_networks`, the message names the failed check: `storage`, `revocations` or `clock`.
    GET "/health/ready" "getReadiness" {
        tag: Service,
        run: plain(ready),
        answers: ok::<Empty>("The service is ready."),
        fails: &[Code::Unavailable],
    }

    /// Get the metrics
    ///
    /// The metrics in the Prometheus text format. Clients outside `access.metrics_networks` get 404.
    GET "/metrics" "getMetrics" {
        tag: Service,
        run: plain(metrics),
        answers: of_type("text/plain", kinds::ANY_TEXT.schema, "The metrics in the text format of Prometheus."),
        exposure: Exposure::Metrics,
    }
}

async fn live(_api: Arc<ApiState>, _request: HttpRequest) -> Result<HttpResponse, ApiError> {
    ApiResponse::new("Alive.", Empty {}).map(|answer| answer.respond(StatusCode::OK, None))
}

async fn ready(api: Arc<ApiState>, request: HttpRequest) -> Result<HttpResponse, ApiError> {
    if let Err(NotReady { condition, cause }) = api.service.use_cases.readiness.check().await {
        let mut failure = ApiError::from(cause);
        if api.settings.reachable.metrics.admit(client_address(&request)) {
            failure.message = format!("Not ready: {condition}.").into();
        }
        return Err(failure);
    }
    ApiResponse::new("Ready.", Empty {}).map(|answer| answer.respond(StatusCode::OK, None))
}

async fn metrics(api: Arc<ApiState>, _request: HttpRequest) -> Result<HttpResponse, ApiError> {
    let mut response = HttpResponse::Ok();
    response.insert_header((header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8"));
    Ok(response.body(api.service.metrics.render()))
}
