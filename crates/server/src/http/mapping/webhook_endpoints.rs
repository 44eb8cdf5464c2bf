//! Mapping of refused changes of webhook endpoints to API errors.

use cuepoint_domain::application::WebhookRefusal;
use cuepoint_domain::ports::UrlProblem;
use cuepoint_domain::webhook::WebhookEndpoint;

use crate::http::wire::error::{ApiError, Code};
use crate::http::wire::messages::{self, Errors};

impl From<WebhookRefusal> for ApiError {
    fn from(refusal: WebhookRefusal) -> Self {
        match refusal {
            WebhookRefusal::Url(UrlProblem(problem)) => {
                Self::invalid(Errors::one("url", messages::url_refused("url", &problem)))
            }
            WebhookRefusal::PasswordRequired => {
                Self::invalid(Errors::one("password", messages::required("password")))
            }
            WebhookRefusal::WrongPassword => {
                Self::invalid(Errors::one("password", messages::incorrect("password")))
            }
            WebhookRefusal::Inactive => Code::EndpointInactive.into(),
            WebhookRefusal::TooMany => Self::saying(Code::LimitExceeded, too_many()),
            WebhookRefusal::EmptyRange => Self::invalid(Errors::one("after", messages::empty_range("after"))),
            WebhookRefusal::ReplayRunning => Code::ReplayRunning.into(),
        }
    }
}

fn too_many() -> String {
    format!("You have {} webhook endpoints already.", WebhookEndpoint::MAX_PER_OWNER)
}
