//! How people are sent messages.

use std::num::NonZeroU32;

use lettre::message::Mailbox;
use secrecy::{ExposeSecret, SecretString};
use url::Url;

use super::providers::{address, is_here, secrets};
use super::values::{Values, missing};
use super::{ConfigError, Environment};
use crate::adapters::webhooks::SigningSecrets;

/// How people are sent messages.
#[derive(Clone, Debug)]
pub struct Notifier {
    /// To their mail address.
    pub email: EmailChannel,
    /// To their phone.
    pub phone: PhoneChannel,
    /// What calls about messages to phones are signed with.
    pub secrets: SigningSecrets,
}

/// How mail is sent.
#[derive(Clone, Debug)]
pub enum EmailChannel {
    /// Not at all.
    None,
    /// Into the log.
    Log,
    /// Through a mail server.
    Smtp {
        /// Its address, with what is needed to log in.
        url: SecretString,
        /// Who it comes from.
        from: Mailbox,
    },
}

/// How messages get to phones.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PhoneChannel {
    /// Not at all.
    None,
    /// Into the log.
    Log,
    /// Through a service that is called at this address.
    Webhook(Url),
}

pub(super) fn notifier(values: &Values, environment: Environment) -> Result<Notifier, ConfigError> {
    let notifier = Notifier {
        email: email(values, environment)?,
        phone: phone(values, environment)?,
        secrets: secrets(values, "notifier.webhook_secrets")?,
    };
    let in_log = match (&notifier.email, &notifier.phone) {
        (EmailChannel::Log, _) => Some("notifier.email"),
        (_, PhoneChannel::Log) => Some("notifier.phone"),
        _ => None,
    };
    match in_log.filter(|_| environment == Environment::Production) {
        Some(key) => {
            Err(ConfigError::new(key, "log is refused in production, because it writes secrets into the log"))
        }
        None => Ok(notifier),
    }
}

/// The largest `phone.codes_per_day`: every code reads as many index entries as there were codes within a day.
const MOST_PHONE_CODES: u32 = 100_000;

/// The most codes by phone within a day; `None` where any number is sent.
pub(super) fn phone_codes_per_day(values: &Values) -> Result<Option<NonZeroU32>, ConfigError> {
    Ok(NonZeroU32::new(values.required_number("phone.codes_per_day", 0..=MOST_PHONE_CODES)?))
}

fn email(values: &Values, environment: Environment) -> Result<EmailChannel, ConfigError> {
    let url = smtp_url(values, environment)?;
    let key = "notifier.from";
    let from = values.text(key)?.map(|from| {
        let refusal = "is no sender such as Cuepoint <no-reply@example.com>";
        from.parse().map_err(|_| ConfigError::new(key, refusal))
    });
    let from = from.transpose()?;
    match values.choice("notifier.email", &[("none", 0), ("log", 1), ("smtp", 2)])? {
        0 => Ok(EmailChannel::None),
        1 => Ok(EmailChannel::Log),
        _ => Ok(EmailChannel::Smtp {
            url: url.ok_or_else(|| missing("notifier.smtp_url"))?,
            from: from.ok_or_else(|| missing(key))?,
        }),
    }
}

fn phone(values: &Values, environment: Environment) -> Result<PhoneChannel, ConfigError> {
    let key = "notifier.webhook_url";
    let url = address(values, key, environment)?;
    match values.choice("notifier.phone", &[("none", 0), ("log", 1), ("webhook", 2)])? {
        0 => Ok(PhoneChannel::None),
        1 => Ok(PhoneChannel::Log),
        _ => Ok(PhoneChannel::Webhook(url.ok_or_else(|| missing(key))?)),
    }
}

/// The address of a mail server, if there is one; what leaves this machine in production is encrypted. No sentence about
/// it shows it, since it may hold a password.
fn smtp_url(values: &Values, environment: Environment) -> Result<Option<SecretString>, ConfigError> {
    let key = "notifier.smtp_url";
    let Some(written) = values.secret(key)? else { return Ok(None) };
    let url = Url::parse(written.expose_secret()).ok().filter(|url| {
        url.host_str().is_some_and(|host| !host.is_empty())
            && matches!(
                (url.scheme(), url.query()),
                ("smtps" | "smtp", None) | ("smtp", Some("tls=required"))
            )
    });
    let url = url.ok_or_else(|| {
        ConfigError::new(
            key,
            "must be smtps://host, smtp://host?tls=required or smtp://host, with user:password@",
        )
    })?;
    let plain = url.scheme() == "smtp" && url.query().is_none();
    if environment == Environment::Production && plain && !is_here(&url) {
        return Err(ConfigError::new(
            key,
            "must be smtps or have tls=required in production, unless it is on this machine",
        ));
    }
    Ok(Some(written))
}
