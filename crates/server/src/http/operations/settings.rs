//! What clients have to know about a deployment.

use crate::http::call::ApiCall;
use crate::http::declaration::{ok, operations};
use crate::http::endpoint::anonymous;
use crate::http::operations::views::{SettingsData, SettingsView};
use crate::http::transport::rate_limits::Class;
use crate::http::wire::envelope::ApiResponse;
use crate::http::wire::error::ApiError;

operations! {
    /// Show the settings of the deployment
    ///
    /// They change only with the configuration of the deployment.
    GET "/api/v1/settings" "showSettings" {
        tag: Service,
        run: anonymous(show),
        answers: ok::<SettingsData>("The settings."),
        class: Class::Public,
    }
}

async fn show(call: ApiCall) -> Result<ApiResponse, ApiError> {
    let settings = SettingsView::new(&call.app.services.settings, call.currency());
    ApiResponse::new("Settings.", SettingsData { settings })
}
