//! Liveness, readiness, the echo for `cuepoint doctor`, and metrics.

use std::sync::Arc;

use actix_web::http::{StatusCode, header};
use actix_web::{HttpRequest, HttpResponse};
use cuepoint_adapters::diagnosis::echo::{self, Seen};
use cuepoint_adapters::diagnosis::machine;
use cuepoint_domain::application::NotReady;
use cuepoint_domain::ports::Clock as _;
use cuepoint_transport::client_address::{client_address, is_forwarded};
use futures_util::stream::{self, StreamExt as _};
use tokio::time::sleep;

use crate::declaration::{of_type, ok, operations};
use crate::endpoint::{Exposure, plain};
use crate::state::ApiState;
use crate::wire::envelope::ApiResponse;
use crate::wire::error::{ApiError, Code};
use crate::wire::kinds;
use crate::wire::server_sent_events;
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

    /// Show what the server sees of the request
    ///
    /// Tells `cuepoint doctor` whether a proxy forwards the addresses of clients, and streams without buffering. Returns
    /// 404 without a valid header `Cuepoint-Nonce`. Sends the event `seen`, then `end` after 2 seconds.
    GET "/health/echo" "getEcho" {
        tag: Service,
        run: plain(echo),
        answers: of_type(server_sent_events::MEDIA_TYPE, kinds::ANY_TEXT.schema, "The events."),
        fails: &[Code::NotFound],
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

async fn echo(api: Arc<ApiState>, request: HttpRequest) -> Result<HttpResponse, ApiError> {
    let nonce = request.headers().get(echo::NONCE).and_then(|nonce| nonce.to_str().ok());
    let now = api.service.authentication.clock.now();
    if !nonce.is_some_and(|nonce| api.echo_nonces.admit(nonce, now)) {
        return Err(Code::NotFound.into());
    }
    let client = client_address(&request);
    let (Some(peer), Some(address)) = (request.peer_addr(), client.address) else {
        return Err(Code::NotFound.into());
    };
    let seen = Seen {
        peer,
        client: address,
        is_forwarded: is_forwarded(&request),
        is_proven: client.proven,
        open_files: machine::open_files(),
    };
    let seen = server_sent_events::without_id("seen", &seen).map_err(ApiError::internal)?;
    let end = server_sent_events::without_id("end", &Empty {}).map_err(ApiError::internal)?;
    let end = async {
        sleep(echo::PAUSE).await;
        Ok(end)
    };
    let events = stream::once(async { Ok(seen) }).chain(stream::once(end));
    Ok(ApiResponse::event_stream(events.boxed_local()).respond(StatusCode::OK, None))
}

async fn metrics(api: Arc<ApiState>, _request: HttpRequest) -> Result<HttpResponse, ApiError> {
    let mut response = HttpResponse::Ok();
    response.insert_header((header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8"));
    Ok(response.body(api.service.metrics.render()))
}
