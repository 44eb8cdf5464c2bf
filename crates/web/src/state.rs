//! The state that all pages share.

use std::sync::Arc;
use std::time::Duration;

use cuepoint_adapters::security::known_browsers::KnownBrowsers;
use cuepoint_adapters::security::password_proofs::PasswordProofs;
use cuepoint_adapters::security::password_queue::PasswordQueue;
use cuepoint_adapters::security::random::RandomSecrets;
use cuepoint_adapters::service::Service;
use cuepoint_domain::money::Amount;
use cuepoint_pages::frame::Site;
use cuepoint_transport::rate_limits::RateLimits;

use crate::cookies::Cookies;
use crate::cross_site::OwnOrigins;

/// The settings of pages.
#[derive(Clone, Debug)]
pub struct PageSettings {
    /// What the configuration determines for all pages.
    pub site: Site,
    /// The public origin of the service, without a trailing slash.
    pub public_url: String,
    /// The addresses from which forms are accepted.
    pub origins: OwnOrigins,
    pub cookies: Cookies,
    /// The time within which a form must arrive.
    pub body_timeout: Duration,
    /// Whether the service has the payment page of the sandbox.
    pub has_sandbox: bool,
    /// The price that the form of a DJ's first gig proposes.
    pub usual_price: Amount,
}

/// The state of the pages, shared by their handlers on all threads.
pub struct PageState {
    pub settings: PageSettings,
    pub service: Arc<Service>,
    pub limits: Arc<RateLimits>,
    /// The passwords that wait to be hashed.
    pub password_queue: Arc<PasswordQueue>,
    /// The proofs of recent passwords.
    pub password_proofs: PasswordProofs,
    /// The proofs of known browsers.
    pub known_browsers: KnownBrowsers,
    /// The source of the keys of forms.
    pub secrets: RandomSecrets,
}
