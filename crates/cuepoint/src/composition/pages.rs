//! The settings of pages.

use cuepoint_pages::accent::AccentSheet;
use cuepoint_pages::frame::Site;
use cuepoint_web::cookies::Cookies;
use cuepoint_web::cross_site::OwnOrigins;
use cuepoint_web::state::PageSettings;

use crate::config::{DeploymentEnvironment, Settings, TopupProviderKind};

/// The settings of the pages of a service with this public URL.
pub(super) fn settings(settings: &Settings, public_url: &str) -> PageSettings {
    PageSettings {
        site: Site {
            currency: settings.currency.clone(),
            links: settings.pages.links.clone(),
            accent: AccentSheet::new(settings.pages.accent),
        },
        public_url: public_url.to_owned(),
        origins: OwnOrigins {
            public: public_url.to_owned(),
            accepts_host: settings.environment != DeploymentEnvironment::Production,
        },
        cookies: Cookies { is_encrypted: settings.server.is_encrypted() },
        body_timeout: settings.server.body_timeout,
        has_sandbox: settings.topups.provider == TopupProviderKind::SandboxPage,
        usual_price: settings.requests.usual_price,
    }
}
