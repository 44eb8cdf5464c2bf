//! The HTTP contract: routes, the checks of every call, and the wire format.
//!
//! Reading order, along a request: [`web_server`] (connections and workers), [`observe`] (request id, log line
//! and metrics), [`transport`] (client address, deadline, rate limits, headers), [`routes`] (the router),
//! [`pipeline`] (the checks of a request, in order) with [`reliance`], [`endpoint`] and [`declaration`] (the
//! parts of an operation), [`call`] and [`command_call`] (the handler's view of a request), [`operations`] (the
//! operations by subject, with their handlers), [`mapping`] (domain errors as API errors), [`wire`] (the
//! format), [`openapi`] (the document).

pub mod call;
pub mod command_call;
pub mod declaration;
pub mod endpoint;
pub mod mapping;
pub mod observe;
pub mod openapi;
pub mod operations;
pub mod pipeline;
pub mod reliance;
pub mod routes;
#[cfg(test)]
mod tests;
pub mod transport;
pub mod web_server;
pub mod wire;

use std::sync::Arc;

use actix_web::body::MessageBody;
use actix_web::dev::{ServiceFactory, ServiceRequest, ServiceResponse};
use actix_web::middleware::from_fn;
use actix_web::{Error, web};

use crate::app::App;

/// The whole service as one web application, for a worker or a test.
pub fn app(
    app: Arc<App>,
) -> actix_web::App<
    impl ServiceFactory<
        ServiceRequest,
        Config = (),
        Response = ServiceResponse<impl MessageBody>,
        Error = Error,
        InitError = (),
    >,
> {
    let cors = transport::cors::cors(&app.settings.cors_allowed_origins);
    actix_web::App::new()
        .app_data(web::Data::from(Arc::clone(&app)))
        .configure(|config| routes::configure(&app, config))
        .default_service(web::to(routes::not_found))
        .wrap(cors)
        .wrap(from_fn(observe::observe))
}
