//! URLs of other services and of this one.

use secrecy::SecretString;
use url::Url;

use super::values::{FromText, TextValue};
use super::{ConfigError, DeploymentEnvironment};
use cuepoint_adapters::link_template::LinkTemplate;
use cuepoint_adapters::outgoing::{is_on_this_machine, origin, parse_written};

/// The requirement on URLs in production.
const HTTPS: &str = "must be https in production, unless it is on this machine";

/// The URL of a web service.
pub(super) struct HttpUrl(Url);

impl FromText for HttpUrl {
    fn from_text(text: &str) -> Result<Self, String> {
        let url = parse_written(text.trim(), true).ok().filter(|url| {
            let bare = url.username().is_empty() && url.password().is_none() && url.fragment().is_none();
            bare && url.has_host() && matches!(url.scheme(), "http" | "https")
        });
        url.map(Self).ok_or_else(|| "must be an http or https URL without a user or fragment".to_owned())
    }
}

/// Returns the URL under a key, if set. In production, calls to other machines must be encrypted.
///
/// # Errors
/// [`ConfigError`] for a URL that production refuses.
pub(super) fn web_service(
    key: &str,
    url: Option<TextValue<HttpUrl>>,
    environment: DeploymentEnvironment,
) -> Result<Option<Url>, ConfigError> {
    let url = url.map(|TextValue(HttpUrl(url))| url);
    if environment == DeploymentEnvironment::Production && url.as_ref().is_some_and(is_plain) {
        return Err(ConfigError::new(key, HTTPS));
    }
    Ok(url)
}

/// Whether the URL leads to another machine without encryption.
fn is_plain(url: &Url) -> bool {
    url.scheme() == "http" && !is_on_this_machine(url)
}

/// Refuses http origins of other machines in production, because everybody in their network could replace the pages that
/// call the API. Web views of apps have the origin `http://localhost`.
///
/// # Errors
/// [`ConfigError`] for the first such origin.
pub(super) fn check_origins(
    key: &str,
    origins: &[String],
    environment: DeploymentEnvironment,
) -> Result<(), ConfigError> {
    let is_plain = |origin: &&String| Url::parse(origin).is_ok_and(|url| is_plain(&url));
    match origins.iter().find(is_plain) {
        Some(origin) if environment == DeploymentEnvironment::Production => {
            Err(ConfigError::new(key, format!("{origin:?} {HTTPS}")))
        }
        Some(_) | None => Ok(()),
    }
}

/// A link in a message, with a place for its token.
pub(super) struct MessageLink(pub(super) LinkTemplate);

/// The page to which a payment page sends the browser, with a place for the reference of the top-up.
pub(super) struct ReturnPage(pub(super) LinkTemplate);

impl FromText for MessageLink {
    fn from_text(text: &str) -> Result<Self, String> {
        template(text, "{token}").map(Self)
    }
}

impl FromText for ReturnPage {
    fn from_text(text: &str) -> Result<Self, String> {
        template(text, "{reference}").map(Self)
    }
}

fn template(text: &str, place: &'static str) -> Result<LinkTemplate, String> {
    let refused = || format!("must be an http or https URL with {place} once, after the host");
    LinkTemplate::parse(text.trim(), place).ok_or_else(refused)
}

/// Returns the link under a key, if set. In production, links must be encrypted.
///
/// # Errors
/// [`ConfigError`] for a link that production refuses.
pub(super) fn link(
    key: &str,
    link: Option<LinkTemplate>,
    environment: DeploymentEnvironment,
) -> Result<Option<LinkTemplate>, ConfigError> {
    if environment == DeploymentEnvironment::Production
        && link.as_ref().is_some_and(|link| is_plain(link.url()))
    {
        return Err(ConfigError::new(key, HTTPS));
    }
    Ok(link)
}

/// The URL of a mail server, optionally with credentials.
pub(super) struct SmtpUrl {
    /// The URL as configured.
    pub(super) written: SecretString,
    /// Whether credentials would be sent unencrypted to another machine.
    pub(super) exposed: bool,
}

impl FromText for SmtpUrl {
    fn from_text(text: &str) -> Result<Self, String> {
        let url = Url::parse(text).ok().filter(|url| {
            let query = matches!(
                (url.scheme(), url.query()),
                ("smtps" | "smtp", None) | ("smtp", Some("tls=required"))
            );
            query && url.host_str().is_some_and(|host| !host.is_empty())
        });
        let url =
            url.ok_or("must be smtps://host, smtp://host?tls=required or smtp://host, with user:password@")?;
        let plain = url.scheme() == "smtp" && url.query().is_none();
        Ok(Self { written: SecretString::from(text), exposed: plain && !is_on_this_machine(&url) })
    }
}

/// The scheme, host and port of a URL without any other parts.
pub(super) struct WebOrigin(pub(super) String);

impl FromText for WebOrigin {
    fn from_text(text: &str) -> Result<Self, String> {
        origin(text.trim())
            .map(Self)
            .ok_or_else(|| "must be http(s)://host or http(s)://host:port, without a path".to_owned())
    }
}
