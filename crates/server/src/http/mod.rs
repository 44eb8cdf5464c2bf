//! The HTTP contract: routes, the checks that every call goes through, and what clients see.
//!
//! Reading order: [`routes`] (the table of contents), [`call`] (the checks in their order), the handlers by subject
//! ([`auth`], [`sessions`], [`passwords`], [`proofs`], [`profile`], [`personal_data`], [`djs`], [`requests`], [`blocks`],
//! [`wallet`], [`topups`], [`withdrawals`], [`operators`], [`operator_withdrawals`], [`staff`], [`webhooks`],
//! [`provider_messages`]), [`views`] (what is shown),
//! [`error`] (what is refused, and how).

pub mod audit;
pub mod auth;
pub mod blocks;
pub mod call;
pub mod client_address;
pub mod cors;
pub mod deadline;
pub mod djs;
pub mod docs;
pub mod envelope;
pub mod error;
pub mod fields;
pub mod headers;
pub mod health;
pub mod in_flight;
pub mod json;
pub mod jwks;
pub mod money;
pub mod observe;
pub mod openapi;
pub mod operator_topups;
pub mod operator_withdrawals;
pub mod operators;
pub mod page;
pub mod passwords;
pub mod personal_data;
pub mod pipeline;
pub mod profile;
pub mod proofs;
pub mod provider_messages;
pub mod query;
pub mod reliance;
pub mod requests;
pub mod route;
pub mod routes;
pub mod sentence;
pub mod sessions;
pub mod staff;
#[cfg(test)]
mod tests;
pub mod time;
pub mod topups;
mod unread;
pub mod values;
pub mod views;
pub mod wallet;
pub mod webhooks;
pub mod withdrawals;

use std::sync::Arc;

use actix_web::body::MessageBody;
use actix_web::dev::{ServiceFactory, ServiceRequest, ServiceResponse};
use actix_web::middleware::from_fn;
use actix_web::{Error, web};

use crate::app::App;

/// The whole service as one application of the web server, for a worker or a test.
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
    let cors = cors::cors(&app.settings.cors_allowed_origins);
    actix_web::App::new()
        .app_data(web::Data::from(Arc::clone(&app)))
        .configure(|config| routes::configure(&app, config))
        .default_service(web::to(routes::not_found))
        .wrap(cors)
        .wrap(from_fn(observe::observe))
}
