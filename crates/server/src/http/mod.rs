//! The HTTP contract: routes, the checks of every call, and the wire format.
//!
//! Reading order: [`operations`] (the operations by subject, with their handlers), [`declaration`] (the parts
//! of an operation), [`pipeline`] (the checks of a request, in order), [`wire`] (the format), [`openapi`]
//! (the document).

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
