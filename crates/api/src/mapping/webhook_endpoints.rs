//! Mapping of refused changes of webhook endpoints to API errors.

use cuepoint_domain::application::{TestRefusal, WebhookRefusal};
use cuepoint_domain::ports::UrlProblem;
use cuepoint_domain::webhook::WebhookEndpoint;

use crate::wire::error::{ApiError, Code};
use crate::wire::validation_texts::{self, Errors};

/// The longest time for which a test runs, in seconds.
const TESTS_RUN_FOR_SECONDS: u32 = 15;

impl From<WebhookRefusal> for ApiError {
    fn from(refusal: WebhookRefusal) -> Self {
        match refusal {
            WebhookRefusal::Url(UrlProblem(problem)) => {
                Self::invalid(Errors::one("url", validation_texts::url_refused("url", &problem)))
            }
            WebhookRefusal::PasswordRequired => {
                Self::invalid(Errors::one("password", validation_texts::required("password")))
            }
            WebhookRefusal::WrongPassword => {
                Self::invalid(Errors::one("password", validation_texts::incorrect("password")))
            }
            WebhookRefusal::Inactive => Code::EndpointInactive.into(),
            WebhookRefusal::TooMany => Self::saying(Code::LimitExceeded, too_many()),
            WebhookRefusal::SecretLost => Code::SecretLost.into(),
            WebhookRefusal::OtherOwner => Code::EndpointTaken.into(),
            WebhookRefusal::EmptyRange => {
                Self::invalid(Errors::one("after", validation_texts::empty_range("after")))
            }
            WebhookRefusal::ReplayRunning => Code::ReplayRunning.into(),
            WebhookRefusal::Lost { continue_after } => Self::events_lost(continue_after.get()),
            WebhookRefusal::Test(TestRefusal::Running) => Code::TestRunning.into(),
            WebhookRefusal::Test(TestRefusal::TooMany) => {
                Self::not_now("Too many webhook endpoints are being tested.", TESTS_RUN_FOR_SECONDS)
            }
        }
    }
}

fn too_many() -> String {
    format!("You can have at most {} webhook endpoints.", WebhookEndpoint::MAX_PER_OWNER)
}
