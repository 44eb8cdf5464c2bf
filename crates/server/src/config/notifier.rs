//! How people are sent messages.

use std::num::NonZeroU32;

use lettre::message::Mailbox;
use secrecy::SecretString;
use serde::Deserialize;
use url::Url;

use super::urls::{HttpUrl, SmtpUrl, web_service};
use super::values::{Choice, FromText, Secret, Text, TextList, Whole, signing_secrets};
use super::{ConfigError, DeploymentEnvironment};
use crate::adapters::webhooks::SigningSecrets;

/// How people are sent messages.
#[derive(Clone, Debug)]
pub struct NotifierSettings {
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

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NotifierSection {
    email: Choice<EmailChoice>,
    smtp_url: Option<Secret<Text<SmtpUrl>>>,
    from: Option<Text<Mailbox>>,
    phone: Choice<PhoneChoice>,
    webhook_url: Option<Text<HttpUrl>>,
    webhook_secrets: Option<Secret<TextList<SigningSecrets>>>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum EmailChoice {
    None,
    Log,
    Smtp,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum PhoneChoice {
    None,
    Log,
    Webhook,
}

impl FromText for Mailbox {
    fn from_text(text: &str) -> Result<Self, String> {
        text.trim().parse().map_err(|_| "is no sender such as Cuepoint <no-reply@example.com>".to_owned())
    }
}

impl NotifierSection {
    pub(super) fn check(self, environment: DeploymentEnvironment) -> Result<NotifierSettings, ConfigError> {
        if environment == DeploymentEnvironment::Production {
            self.fit_for_production()?;
        }
        let email = match self.email.0 {
            EmailChoice::None => EmailChannel::None,
            EmailChoice::Log => EmailChannel::Log,
            EmailChoice::Smtp => {
                let Secret(Text(url)) =
                    self.smtp_url.ok_or_else(|| ConfigError::missing("notifier.smtp_url"))?;
                let Text(from) = self.from.ok_or_else(|| ConfigError::missing("notifier.from"))?;
                EmailChannel::Smtp { url: url.written, from }
            }
        };
        let url = web_service("notifier.webhook_url", self.webhook_url, environment)?;
        let phone = match self.phone.0 {
            PhoneChoice::None => PhoneChannel::None,
            PhoneChoice::Log => PhoneChannel::Log,
            PhoneChoice::Webhook => {
                PhoneChannel::Webhook(url.ok_or_else(|| ConfigError::missing("notifier.webhook_url"))?)
            }
        };
        Ok(NotifierSettings { email, phone, secrets: signing_secrets(self.webhook_secrets) })
    }

    /// Refuses secrets in the log and passwords that leave this machine without encryption.
    fn fit_for_production(&self) -> Result<(), ConfigError> {
        let exposed = self.smtp_url.as_ref().is_some_and(|Secret(Text(url))| url.exposed);
        let in_log = "log is refused in production, because it writes secrets into the log";
        let plain = "must be smtps or have tls=required in production, unless it is on this machine";
        match (self.email.0, self.phone.0) {
            _ if exposed => Err(ConfigError::new("notifier.smtp_url", plain)),
            (EmailChoice::Log, _) => Err(ConfigError::new("notifier.email", in_log)),
            (_, PhoneChoice::Log) => Err(ConfigError::new("notifier.phone", in_log)),
            _ => Ok(()),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PhoneSection {
    /// Every code reads as many index entries as there were codes within a day.
    codes_per_day: Whole<u32, 0, 100_000>,
}

impl PhoneSection {
    /// The most codes by phone within a day; `None` where any number is sent.
    pub(super) fn codes_per_day(&self) -> Option<NonZeroU32> {
        NonZeroU32::new(self.codes_per_day.0)
    }
}
