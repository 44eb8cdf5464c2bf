//! The handlers of the service, as one web application.

use std::rc::Rc;
use std::sync::Arc;

use actix_web::body::MessageBody;
use actix_web::dev::{ServiceFactory, ServiceRequest, ServiceResponse};
use actix_web::http::StatusCode;
use actix_web::middleware::from_fn;
use actix_web::{App, Error, HttpRequest, HttpResponse, web};
use cuepoint_api::routes::{self, Api};
use cuepoint_api::state::ApiState;
use cuepoint_transport::cors::cors;
use cuepoint_transport::observe::{Observer, observe, strict_transport_security};

use crate::config::Settings;
use cuepoint_web::handlers::unknown;
use cuepoint_web::router::Pages;
use cuepoint_web::state::PageState;

/// What the web server needs for the application of a worker.
#[derive(Clone)]
pub struct WebApplication {
    pub api: Arc<ApiState>,
    /// The state of the pages; `None` if the deployment has none.
    pub pages: Option<Arc<PageState>>,
    /// The observer of answers.
    pub observer: Observer,
    /// The origins of web pages that may call the API from scripts.
    pub cors_allowed_origins: Vec<String>,
}

impl WebApplication {
    /// The application of a service with this API and these pages.
    #[must_use]
    pub fn new(settings: &Settings, api: Arc<ApiState>, pages: Option<Arc<PageState>>) -> Self {
        let observer = Observer {
            trusted_proxies: settings.server.trusted_proxies.clone(),
            transport_security: settings.server.hsts_seconds.map(strict_transport_security),
            is_documentation: routes::is_documentation,
            failure,
        };
        Self { api, pages, observer, cors_allowed_origins: settings.cors_allowed_origins.clone() }
    }

    /// The application of a worker or a test.
    pub fn build(
        self,
    ) -> App<
        impl ServiceFactory<
            ServiceRequest,
            Config = (),
            Response = ServiceResponse<impl MessageBody>,
            Error = Error,
            InitError = (),
        >,
    > {
        let Self { api, pages, observer, cors_allowed_origins } = self;
        let api = Rc::new(Api::new(api));
        let pages = Rc::new(pages.map(Pages::new));
        App::new()
            .app_data(web::Data::new(observer))
            // The web server's own router stays empty, because it tries one path after another.
            .default_service(web::to(move |request: HttpRequest, payload: web::Payload| {
                let (api, pages) = (Rc::clone(&api), Rc::clone(&pages));
                async move {
                    let is_page = |pages: &Pages| {
                        pages.serve(request.match_info().as_str())
                            || !api.serves(&request) && unknown::is_for_page(&request)
                    };
                    match &*pages {
                        Some(pages) if is_page(pages) => pages.answer(request, payload).await,
                        _ => api.answer(request, payload).await,
                    }
                }
            }))
            .wrap(cors(&cors_allowed_origins))
            .wrap(from_fn(observe))
    }
}

fn failure(status: StatusCode, request_id: &str) -> HttpResponse {
    cuepoint_api::wire::error::ApiError::from_status(status).respond(request_id)
}
