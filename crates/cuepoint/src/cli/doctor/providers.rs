//! The way to the payment and payout providers, and to the mail server. Nothing is ordered or sent.

use cuepoint_adapters::diagnosis::reachability::reach;
use cuepoint_adapters::notifier::SmtpChannel;
use cuepoint_adapters::security::random::RandomSecrets;
use cuepoint_domain::ports::Diagnosis;
use cuepoint_domain::timestamp::Timestamp;
use url::Url;

use crate::config::{EmailChannel, PayoutProviderKind, PhoneChannel, Settings, TopupProviderKind};

const TOPUPS: &str = "providers.topups";
const PAYOUTS: &str = "providers.payouts";
const PHONE: &str = "providers.phone";
const MAIL: &str = "mail";

/// Checks each configured provider, and the login at the mail server.
pub(super) async fn check(settings: &Settings, now: Timestamp) -> Vec<Diagnosis> {
    let topups = match &settings.topups.provider {
        TopupProviderKind::Webhook(url) => url.as_ref(),
        TopupProviderKind::None | TopupProviderKind::Sandbox | TopupProviderKind::SandboxPage => None,
    };
    let payouts = match &settings.payouts.provider {
        PayoutProviderKind::Webhook(url) => Some(url),
        PayoutProviderKind::Manual => None,
    };
    let phone = match &settings.notifier.phone {
        PhoneChannel::Webhook(url) => Some(url),
        PhoneChannel::None | PhoneChannel::Log => None,
    };
    let mut found = Vec::new();
    for (check, url) in [(TOPUPS, topups), (PAYOUTS, payouts), (PHONE, phone)] {
        if let Some(url) = url {
            found.push(of_provider(check, url, now).await);
        }
    }
    found.extend(mail(settings).await);
    found
}

async fn of_provider(check: &'static str, url: &Url, now: Timestamp) -> Diagnosis {
    let host = url.host_str().unwrap_or_default();
    match reach(url, now).await {
        Ok(reached) => Diagnosis::ok(check, format!("{host} accepts connections at {}", reached.address)),
        Err(error) => {
            Diagnosis::fail(check, format!("{host}: {error}"), "check the URL, the firewall and the provider")
        }
    }
}

async fn mail(settings: &Settings) -> Option<Diagnosis> {
    let EmailChannel::Smtp { url, from } = &settings.notifier.email else { return None };
    let channel = RandomSecrets::new().and_then(|secrets| SmtpChannel::new(url, from.clone(), secrets));
    let tried = match channel {
        Ok(channel) => channel.log_in().await.map_err(|error| error.0.to_string()),
        Err(error) => Err(format!("{error:#}")),
    };
    Some(match tried {
        Ok(()) => Diagnosis::ok(MAIL, "the mail server accepts the login"),
        Err(error) => Diagnosis::fail(
            MAIL,
            error,
            "check notifier.smtp_url: its host, its port, its user and its password",
        ),
    })
}
