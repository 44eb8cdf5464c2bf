//! Settings for messages to users.

use std::num::NonZeroU32;

use lettre::message::Mailbox;
use secrecy::SecretString;
use serde::Deserialize;
use url::Url;

use super::problems::Collector;
use super::urls::{HttpUrl, MessageLink, SmtpUrl, link, web_service};
use super::values::{Choice, FromText, Secret, TextList, TextValue, Whole, signing_secrets};
use super::{ConfigError, DeploymentEnvironment};
use cuepoint_adapters::notifier::MessageSettings;
use cuepoint_adapters::signed_messages::SigningSecrets;

/// The maximum length of the name of the service in messages: subjects and texts for phones are short.
const LONGEST_NAME: usize = 30;

/// The settings for messages to users.
#[derive(Clone, Debug)]
pub struct NotifierSettings {
    /// The channel for e-mail.
    pub email: EmailChannel,
    pub phone: PhoneChannel,
    /// The secrets that sign calls of the phone service.
    pub secrets: SigningSecrets,
    pub messages: MessageSettings,
}

/// The channel for e-mail.
#[derive(Clone, Debug)]
pub enum EmailChannel {
    /// No e-mail is sent.
    None,
    /// E-mail is written to the log.
    Log,
    /// E-mail is sent through a mail server.
    Smtp {
        /// The URL of the server, including credentials.
        url: SecretString,
        /// The sender.
        from: Mailbox,
    },
}

/// The channel for messages to phones.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PhoneChannel {
    /// No messages are sent.
    None,
    /// Messages are written to the log.
    Log,
    /// Messages are sent through a web service at this URL.
    Webhook(Url),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NotifierSection {
    email: Choice<EmailChoice>,
    smtp_url: Option<Secret<TextValue<SmtpUrl>>>,
    from: Option<TextValue<Mailbox>>,
    product_name: TextValue<ProductName>,
    reset_url: Option<TextValue<MessageLink>>,
    restore_url: Option<TextValue<MessageLink>>,
    phone: Choice<PhoneChoice>,
    webhook_url: Option<TextValue<HttpUrl>>,
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

/// The name of the service in messages.
struct ProductName(String);

impl FromText for ProductName {
    fn from_text(text: &str) -> Result<Self, String> {
        let name = text.trim();
        let is_short = !name.is_empty() && name.chars().count() <= LONGEST_NAME;
        let is_line = is_short && !name.chars().any(char::is_control);
        is_line
            .then(|| Self(name.to_owned()))
            .ok_or_else(|| format!("must be a line of 1 to {LONGEST_NAME} characters"))
    }
}

impl FromText for Mailbox {
    fn from_text(text: &str) -> Result<Self, String> {
        text.trim().parse().map_err(|_| "is not a sender such as Cuepoint <no-reply@example.com>".to_owned())
    }
}

impl NotifierSection {
    pub(super) fn check(
        self,
        environment: DeploymentEnvironment,
        errors: &mut Collector,
    ) -> Option<NotifierSettings> {
        if environment == DeploymentEnvironment::Production {
            self.fit_for_production().into_iter().flatten().for_each(|error| errors.push(error));
        }
        let email = match self.email.0 {
            EmailChoice::None => Some(EmailChannel::None),
            EmailChoice::Log => Some(EmailChannel::Log),
            EmailChoice::Smtp => {
                let url = errors.keep(self.smtp_url.ok_or_else(|| ConfigError::missing("notifier.smtp_url")));
                let from = errors.keep(self.from.ok_or_else(|| ConfigError::missing("notifier.from")));
                url.zip(from).map(|(Secret(TextValue(url)), TextValue(from))| EmailChannel::Smtp {
                    url: url.written,
                    from,
                })
            }
        };
        let url = errors.keep(web_service("notifier.webhook_url", self.webhook_url, environment));
        let phone = match self.phone.0 {
            PhoneChoice::None => Some(PhoneChannel::None),
            PhoneChoice::Log => Some(PhoneChannel::Log),
            PhoneChoice::Webhook => url.and_then(|url| {
                let url = url.ok_or_else(|| ConfigError::missing("notifier.webhook_url"));
                errors.keep(url).map(PhoneChannel::Webhook)
            }),
        };
        let mut page = |key, page: Option<TextValue<MessageLink>>| {
            errors.keep(link(key, page.map(|TextValue(MessageLink(link))| link), environment))
        };
        let (reset, restore) =
            (page("notifier.reset_url", self.reset_url), page("notifier.restore_url", self.restore_url));
        let ProductName(product_name) = self.product_name.0;
        let messages = MessageSettings { product_name, reset: reset?, restore: restore? };
        Some(NotifierSettings {
            email: email?,
            phone: phone?,
            secrets: signing_secrets(self.webhook_secrets),
            messages,
        })
    }

    /// Refuses secrets in the log and passwords sent unencrypted to another machine.
    fn fit_for_production(&self) -> [Option<ConfigError>; 3] {
        let exposed = self.smtp_url.as_ref().is_some_and(|Secret(TextValue(url))| url.exposed);
        let in_log = "log is refused in production, because it writes secrets into the log";
        let plain = "must be smtps or have tls=required in production, unless it is on this machine";
        let refused = |applies: bool, key, reason| applies.then(|| ConfigError::new(key, reason));
        [
            refused(exposed, "notifier.smtp_url", plain),
            refused(matches!(self.email.0, EmailChoice::Log), "notifier.email", in_log),
            refused(matches!(self.phone.0, PhoneChoice::Log), "notifier.phone", in_log),
        ]
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PhoneSection {
    /// Sending a code reads one index entry per code of the last day.
    codes_per_day: Whole<u32, 0, 100_000>,
}

impl PhoneSection {
    /// The maximum number of phone codes within 24 hours; `None` means unlimited.
    pub(super) fn codes_per_day(&self) -> Option<NonZeroU32> {
        NonZeroU32::new(self.codes_per_day.0)
    }
}
