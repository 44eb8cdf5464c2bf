//! The adapters that send messages, take top-ups and send payouts.

use std::sync::Arc;

use anyhow::{Context, ensure};
use cuepoint_adapters::notifier::{Channel, Channels, LogChannel, SmtpChannel, WebhookChannel};
use cuepoint_adapters::payouts::{Manual, PayoutWebhook};
use cuepoint_adapters::security::random::RandomSecrets;
use cuepoint_adapters::signed_messages::WebhookClient;
use cuepoint_adapters::topups::{NoProvider, Sandbox, TopupWebhook};
use cuepoint_domain::ports::{Clock, Notifier, PayoutProvider, TopupProvider};

use crate::config::{EmailChannel, PayoutProviderKind, PhoneChannel, Settings, TopupProviderKind};

/// The adapters that send messages, take top-ups and send payouts.
pub struct Providers {
    pub(super) notifier: Arc<dyn Notifier>,
    pub(super) topups: Arc<dyn TopupProvider>,
    pub(super) payouts: Arc<dyn PayoutProvider>,
}

/// Creates the configured providers.
///
/// # Errors
/// When a provider lacks its secret or cannot be called.
pub fn providers(settings: &Settings, clock: Arc<dyn Clock>) -> anyhow::Result<Providers> {
    let notifier = notifier(settings, clock.clone())?;
    let topups: Arc<dyn TopupProvider> = match &settings.topups.provider {
        TopupProviderKind::None => Arc::new(NoProvider),
        TopupProviderKind::Sandbox => Arc::new(Sandbox),
        TopupProviderKind::Webhook(url) => {
            let secrets = &settings.topups.secrets;
            ensure!(
                !secrets.is_empty(),
                "topups.webhook_secrets: is required, since nothing else confirms a top-up"
            );
            let client = url.as_ref().map(|url| WebhookClient::new(url, secrets.clone(), clock.clone()));
            let client = client.transpose().context("topups.webhook_url")?;
            let return_page = settings.topups.return_page.clone();
            Arc::new(TopupWebhook::new(client, settings.currency.clone(), return_page))
        }
    };
    let payouts: Arc<dyn PayoutProvider> = match &settings.payouts.provider {
        PayoutProviderKind::Manual => Arc::new(Manual),
        PayoutProviderKind::Webhook(url) => {
            let secrets = &settings.payouts.secrets;
            ensure!(
                !secrets.is_empty(),
                "payouts.webhook_secrets: is required, since payouts are ordered by signed calls"
            );
            let client = WebhookClient::new(url, secrets.clone(), clock).context("payouts.webhook_url")?;
            Arc::new(PayoutWebhook::new(client, settings.currency.clone()))
        }
    };
    Ok(Providers { notifier, topups, payouts })
}

fn notifier(settings: &Settings, clock: Arc<dyn Clock>) -> anyhow::Result<Arc<dyn Notifier>> {
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
            let client = WebhookClient::new(url, signing, clock).context("notifier.webhook_url")?;
            Some(Arc::new(WebhookChannel::new(client, secrets)))
        }
    };
    Ok(Arc::new(Channels { email, phone, links: settings.notifier.links.clone() }))
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
            providers(&settings, Arc::new(SystemClock)).map(|_| ()).map_err(|error| error.to_string())
        };
        assert_eq!(composed(&[webhook, url, ("payouts.webhook_secrets", secret)]), Ok(()));
        let refused = "payouts.webhook_secrets: is required, since payouts are ordered by signed calls";
        assert_eq!(composed(&[webhook, url]), Err(refused.to_owned()));
        assert_eq!(composed(&[("topups.provider", "webhook"), ("topups.webhook_secrets", secret)]), Ok(()));
        let refused = "topups.webhook_secrets: is required, since nothing else confirms a top-up";
        assert_eq!(composed(&[("topups.provider", "webhook")]), Err(refused.to_owned()));
    }
}
