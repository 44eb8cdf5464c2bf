//! The adapters that send messages, take top-ups and send payouts.

use std::sync::Arc;

use anyhow::{Context, ensure};
use cuepoint_adapters::link_template::LinkTemplate;
use cuepoint_adapters::notifier::{
    Channel, Channels, LogChannel, MessageSettings, SmtpChannel, WebhookChannel,
};
use cuepoint_adapters::payouts::{Manual, PayoutWebhook};
use cuepoint_adapters::security::random::RandomSecrets;
use cuepoint_adapters::signed_messages::WebhookClient;
use cuepoint_adapters::topups::{NoProvider, Sandbox, SandboxWithPage, TopupWebhook};
use cuepoint_domain::ports::{Clock, Notifier, PayoutProvider, TopupProvider};

use crate::config::{EmailChannel, PayoutProviderKind, PhoneChannel, Settings, TopupProviderKind};

/// The adapters that send messages, take top-ups and send payouts.
pub struct Providers {
    pub(super) notifier: Arc<dyn Notifier>,
    pub(super) topups: TopupsWithoutOrigin,
    pub(super) payouts: Arc<dyn PayoutProvider>,
}

impl Providers {
    /// Providers of a process that sends nothing.
    pub(super) fn none() -> Self {
        let settings = MessageSettings::default();
        Self {
            notifier: Arc::new(Channels { email: None, phone: None, settings }),
            topups: TopupsWithoutOrigin::None,
            payouts: Arc::new(Manual),
        }
    }
}

/// Creates the configured providers, or returns what is wrong with each.
pub(super) fn providers(
    settings: &Settings,
    clock: &Arc<dyn Clock>,
) -> Result<Providers, Vec<anyhow::Error>> {
    let parts = (notifier(settings, clock), topups(settings, clock), payouts(settings, clock));
    match parts {
        (Ok(notifier), Ok(topups), Ok(payouts)) => Ok(Providers { notifier, topups, payouts }),
        (notifier, topups, payouts) => {
            Err([notifier.err(), topups.err(), payouts.err()].into_iter().flatten().collect())
        }
    }
}

/// The payment provider before the public origin of the service is known, which can depend on the bound port.
pub(super) enum TopupsWithoutOrigin {
    None,
    Sandbox,
    SandboxPage,
    Webhook(Option<Box<WebhookClient>>),
}

impl TopupsWithoutOrigin {
    /// The provider of a service with this public origin.
    ///
    /// # Errors
    /// When no link can begin with the origin.
    pub(super) fn at(self, settings: &Settings, public_url: &str) -> anyhow::Result<Arc<dyn TopupProvider>> {
        let page = |path: &str| {
            LinkTemplate::parse(&format!("{public_url}{path}"), "{reference}")
                .with_context(|| format!("server.public_url: is no beginning of a link: {public_url}"))
        };
        Ok(match self {
            Self::None => Arc::new(NoProvider),
            Self::Sandbox => Arc::new(Sandbox),
            Self::SandboxPage => Arc::new(SandboxWithPage::new(page("/sandbox/payments/{reference}")?)),
            Self::Webhook(client) => {
                let return_page = match &settings.topups.return_page {
                    None if settings.pages.enabled => Some(page("/topups/{reference}?returned=1")?),
                    configured => configured.clone(),
                };
                Arc::new(TopupWebhook::new(
                    client.map(|client| *client),
                    settings.currency.clone(),
                    return_page,
                    settings.topups.payment_pages,
                ))
            }
        })
    }
}

fn topups(settings: &Settings, clock: &Arc<dyn Clock>) -> anyhow::Result<TopupsWithoutOrigin> {
    Ok(match &settings.topups.provider {
        TopupProviderKind::None => TopupsWithoutOrigin::None,
        TopupProviderKind::Sandbox => TopupsWithoutOrigin::Sandbox,
        TopupProviderKind::SandboxPage => TopupsWithoutOrigin::SandboxPage,
        TopupProviderKind::Webhook(url) => {
            let secrets = &settings.topups.secrets;
            ensure!(
                !secrets.is_empty(),
                "topups.webhook_secrets: is required, since nothing else confirms a top-up"
            );
            let client = url.as_ref().map(|url| WebhookClient::new(url, secrets.clone(), clock.clone()));
            TopupsWithoutOrigin::Webhook(client.transpose().context("topups.webhook_url")?.map(Box::new))
        }
    })
}

fn payouts(settings: &Settings, clock: &Arc<dyn Clock>) -> anyhow::Result<Arc<dyn PayoutProvider>> {
    Ok(match &settings.payouts.provider {
        PayoutProviderKind::Manual => Arc::new(Manual),
        PayoutProviderKind::Webhook(url) => {
            let secrets = &settings.payouts.secrets;
            ensure!(
                !secrets.is_empty(),
                "payouts.webhook_secrets: is required, since payouts are ordered by signed calls"
            );
            let client = WebhookClient::new(url, secrets.clone(), clock.clone());
            Arc::new(PayoutWebhook::new(client.context("payouts.webhook_url")?, settings.currency.clone()))
        }
    })
}

fn notifier(settings: &Settings, clock: &Arc<dyn Clock>) -> anyhow::Result<Arc<dyn Notifier>> {
    let secrets = RandomSecrets::new()?;
    let email: Option<Arc<dyn Channel>> = match &settings.notifier.email {
        EmailChannel::None => None,
        EmailChannel::Log => Some(Arc::new(LogChannel)),
        EmailChannel::Smtp { url, from } => {
            let channel = SmtpChannel::new(url, from.clone(), secrets);
            Some(Arc::new(channel.context("notifier.smtp_url")?))
        }
    };
    let phone: Option<Arc<dyn Channel>> = match &settings.notifier.phone {
        PhoneChannel::None => None,
        PhoneChannel::Log => Some(Arc::new(LogChannel)),
        PhoneChannel::Webhook(url) => {
            let signing = settings.notifier.secrets.clone();
            ensure!(
                !signing.is_empty(),
                "notifier.webhook_secrets: is required, since messages are signed calls"
            );
            let client = WebhookClient::new(url, signing, clock.clone()).context("notifier.webhook_url")?;
            Some(Arc::new(WebhookChannel::new(client, secrets)))
        }
    };
    Ok(Arc::new(Channels { email, phone, settings: settings.notifier.messages.clone() }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Layers;
    use cuepoint_adapters::clock::SystemClock;

    #[test]
    fn webhook_providers_of_topups_and_payouts_require_secrets() {
        let secret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
        let webhook = ("payouts.provider", "webhook");
        let url = ("payouts.webhook_url", "http://localhost/orders");
        let composed = |keys: &[(&str, &str)]| {
            let settings = Layers::test(keys).settings().unwrap();
            let clock: Arc<dyn Clock> = Arc::new(SystemClock);
            providers(&settings, &clock)
                .map(|_| ())
                .map_err(|errors| errors.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))
        };
        assert_eq!(composed(&[webhook, url, ("payouts.webhook_secrets", secret)]), Ok(()));
        let refused = "payouts.webhook_secrets: is required, since payouts are ordered by signed calls";
        assert_eq!(composed(&[webhook, url]), Err(refused.to_owned()));
        assert_eq!(composed(&[("topups.provider", "webhook"), ("topups.webhook_secrets", secret)]), Ok(()));
        let refused = "topups.webhook_secrets: is required, since nothing else confirms a top-up";
        assert_eq!(composed(&[("topups.provider", "webhook")]), Err(refused.to_owned()));
    }
}
