//! The composition root: wires the parts together, and is the only module that names the stores.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Error, bail, ensure};
use cuepoint_domain::application::{Ports, Terms, UseCases};
use cuepoint_domain::operation::feature_level::FeatureLevel;
use cuepoint_domain::ports::{
    Backend, BackendError, Clock, Notifier, Opening, PayoutProvider, PreparedData, RestoreSource, Restored,
    Store, TopupProvider,
};
use cuepoint_store_memory::MemoryBackend;
use cuepoint_store_postgres::{PostgresBackend, PostgresCopyEndpoint, PostgresOptions};
use cuepoint_store_sql::copy::CopyEndpoint;
use cuepoint_store_sql::crash_points::{self, StartStep};
use cuepoint_store_sqlite::{SqliteBackend, SqliteCopyEndpoint};
use secrecy::ExposeSecret;

use crate::adapters::clock::ServiceClock;
use crate::adapters::event_hub::EventHub;
use crate::adapters::job_queue::BoundedJobQueue;
use crate::adapters::notifier::{Channel, Channels, LogChannel, SmtpChannel, WebhookChannel};
use crate::adapters::outgoing::OutgoingCalls;
use crate::adapters::payouts::{Manual, PayoutWebhook};
use crate::adapters::request_ids::new_request_id;
use crate::adapters::runtime::{TokioTasks, TokioTimer};
use crate::adapters::security::authentication::Authentication;
use crate::adapters::security::keys::{self, KeyRing, KeysInForce};
use crate::adapters::security::passwords::Argon2Passwords;
use crate::adapters::security::random::RandomSecrets;
use crate::adapters::security::revocations::RevocationCache;
use crate::adapters::security::sealing::Sealing;
use crate::adapters::security::secrets::KeyedSecrets;
use crate::adapters::security::tokens::SignedTokens;
use crate::adapters::topups::{NoProvider, OrderLog, Sandbox, TopupWebhook};
use crate::adapters::webhooks::{EndpointCalls, WebhookClient};
use crate::app::{ApiSettings, App, ProviderSecrets};
use crate::config::{
    DeploymentEnvironment, EmailChannel, KeyPlace, KeyPurpose, KeySource, PayoutProviderKind, PhoneChannel,
    Postgres, Settings, Storage, TopupProviderKind, WebhookSettings,
};
use crate::http::openapi;
use crate::http::operations::webhook_body;
use crate::http::transport::rate_limits::RateLimits;
use crate::observability::log_throttle::LogThrottle;
use crate::observability::metrics::Metrics;

/// Returns the configured backend.
#[must_use]
pub fn backend(settings: &Settings) -> Arc<dyn Backend> {
    match &settings.storage {
        Storage::Memory => Arc::new(MemoryBackend),
        Storage::Sqlite { directory } => {
            Arc::new(SqliteBackend::new(directory.clone(), settings.currency.clone()))
        }
        Storage::Postgres(Postgres { url, pool_size, migrate_on_start }) => {
            let (url, pool_size) = (url.expose_secret().to_owned(), *pool_size);
            let options = PostgresOptions { url, pool_size, migrate_on_start: *migrate_on_start };
            Arc::new(PostgresBackend::new(options, settings.currency.clone()))
        }
    }
}

/// Opens the configured store.
///
/// # Errors
/// When the store cannot be reached, lacks migrations that it may not apply, or holds another currency.
pub async fn open(settings: &Settings, opening: Opening) -> anyhow::Result<Arc<dyn Store>> {
    let backend = backend(settings);
    named(&*backend, backend.open(opening).await)
}

/// Applies the missing migrations to the configured store and returns their names.
///
/// # Errors
/// When the store has no schema, cannot be reached, or a migration fails.
pub async fn migrate(settings: &Settings) -> anyhow::Result<Vec<String>> {
    let backend = backend(settings);
    named(&*backend, backend.migrate().await)?.with_context(|| nothing_to(&*backend, "migrate"))
}

/// Copies the data of the configured store to a temporary file beside this one, which gets its name once it
/// is accepted.
///
/// # Errors
/// When the file exists, the data cannot be copied, or the store makes its backups otherwise.
pub async fn backup(settings: &Settings, file: &Path) -> anyhow::Result<Box<dyn PreparedData>> {
    let backend = backend(settings);
    let maintenance = backend.maintenance().with_context(|| nothing_to(&*backend, "back up"))?;
    named(&*backend, maintenance.backup(file).await)
}

/// Restores the configured store from this source, up to the audit of its data.
///
/// # Errors
/// When the store is not a database, is not restored from such a source, or a server uses it.
pub async fn restore(settings: &Settings, source: RestoreSource<'_>, epoch: i64) -> anyhow::Result<Restored> {
    let backend = backend(settings);
    let maintenance = backend.maintenance().with_context(|| nothing_to(&*backend, "restore"))?;
    named(&*backend, maintenance.restore(source, epoch).await)
}

/// Lets the servers of the configured database write values that earlier versions cannot read, provided that
/// it has the given name. Returns the previous feature level.
///
/// # Errors
/// When the store is not a database, the name differs, or a server of an earlier version is connected.
pub async fn finalize_upgrade(settings: &Settings, database_name: &str) -> anyhow::Result<FeatureLevel> {
    let backend = backend(settings);
    let maintenance = backend.maintenance();
    let maintenance = maintenance
        .with_context(|| format!("storage.backend is {}: there is no upgrade to finalize", backend.name()))?;
    named(&*backend, maintenance.finalize_upgrade(database_name).await)
}

/// Returns the configured store and the one with this URL, as the two ends of a copy.
///
/// # Errors
/// When the configured store is not durable, or the URL names no kind of store.
pub fn copy_endpoints(
    settings: &Settings,
    to: &str,
) -> anyhow::Result<(Box<dyn CopyEndpoint>, Box<dyn CopyEndpoint>)> {
    let currency = || settings.currency.clone();
    let from: Box<dyn CopyEndpoint> = match &settings.storage {
        Storage::Memory => bail!("{}", nothing_to(&MemoryBackend, "copy")),
        Storage::Sqlite { directory } => Box::new(SqliteCopyEndpoint::new(directory.clone(), currency())),
        Storage::Postgres(Postgres { url, .. }) => {
            let url = url.expose_secret().to_owned();
            Box::new(PostgresCopyEndpoint::new(url, "storage.postgres.url", currency()))
        }
    };
    let to: Box<dyn CopyEndpoint> = match to.split_once(':') {
        Some(("sqlite", directory)) if !directory.is_empty() => {
            Box::new(SqliteCopyEndpoint::new(directory.into(), currency()))
        }
        Some(("postgres" | "postgresql", _)) => {
            Box::new(PostgresCopyEndpoint::new(to.to_owned(), "--to", currency()))
        }
        _ => bail!("--to: expected postgres://... or sqlite:DIR"),
    };
    Ok((from, to))
}

/// Prefixes the error of a backend with its configuration section.
fn named<T>(backend: &dyn Backend, done: Result<T, BackendError>) -> anyhow::Result<T> {
    done.map_err(Error::from_boxed).with_context(|| format!("storage.{}", backend.name()))
}

fn nothing_to(backend: &dyn Backend, work: &str) -> String {
    format!("storage.backend is {}: there is nothing to {work}", backend.name())
}

/// The keys of a server.
#[derive(Clone, Debug)]
pub struct Keys {
    /// They sign access tokens.
    pub signing: KeysInForce,
    /// They encrypt the secrets of webhook endpoints.
    pub webhooks: KeysInForce,
}

/// The sources of all keys.
fn key_sources(settings: &Settings) -> [(KeyPurpose, Option<&KeySource>); 2] {
    [
        (KeyPurpose::Signing, settings.auth.signing_keys.as_ref()),
        (KeyPurpose::Webhooks, settings.webhooks.keys.as_ref()),
    ]
}

/// Checks all keys without creating any.
///
/// # Errors
/// As [`keys()`].
pub fn check_keys(settings: &Settings, secrets: RandomSecrets, clock: &dyn Clock) -> anyhow::Result<()> {
    for (purpose, source) in key_sources(settings) {
        match source {
            Some(KeySource { place: KeyPlace::Created(path), .. }) if !path.exists() => {}
            _ => drop(keys_for(settings, purpose, source, secrets, clock)?),
        }
    }
    Ok(())
}

/// Returns all keys: the configured ones, or those in a file in which the first start creates one, or a random key
/// that exists only in this process. The store must be open, because it creates and locks the data directory.
///
/// # Errors
/// When the keys are invalid, one cannot be created, or none are configured in production.
pub fn keys(settings: &Settings, secrets: RandomSecrets, clock: &dyn Clock) -> anyhow::Result<Keys> {
    let [signing, webhooks] =
        key_sources(settings).map(|(purpose, source)| keys_for(settings, purpose, source, secrets, clock));
    Ok(Keys { signing: signing?, webhooks: webhooks? })
}

fn keys_for(
    settings: &Settings,
    purpose: KeyPurpose,
    source: Option<&KeySource>,
    secrets: RandomSecrets,
    clock: &dyn Clock,
) -> anyhow::Result<KeysInForce> {
    let Some(source) = source else {
        // Checked here, not with the settings, because migrations and verification need no keys.
        ensure!(settings.environment != DeploymentEnvironment::Production, purpose.required());
        return KeyRing::random(secrets).map(KeysInForce::fixed);
    };
    match &source.place {
        KeyPlace::Text(text) => KeysInForce::parse(text, clock.now()),
        KeyPlace::File(path) => KeysInForce::read(path, clock.now()),
        KeyPlace::Created(path) => keys::create_file(path, clock, secrets).and_then(|is_new| {
            if is_new {
                tracing::info!(file = %path.display(), "created a key");
                crash_points::at_start(StartStep::KeysCreated);
            }
            KeysInForce::read(path, clock.now())
        }),
    }
    .context(source.name())
}

/// Returns the configured webhook keys for a command that only decrypts: none if there are none.
///
/// # Errors
/// When they are invalid.
pub fn existing_webhook_keys(settings: &Settings, clock: &dyn Clock) -> anyhow::Result<KeysInForce> {
    existing_keys(settings.webhooks.keys.as_ref(), clock)
}

/// Returns the configured signing keys for a command that only decrypts: none if there are none.
///
/// # Errors
/// When they are invalid.
pub fn existing_signing_keys(settings: &Settings, clock: &dyn Clock) -> anyhow::Result<KeysInForce> {
    existing_keys(settings.auth.signing_keys.as_ref(), clock)
}

fn existing_keys(source: Option<&KeySource>, clock: &dyn Clock) -> anyhow::Result<KeysInForce> {
    let none = || KeysInForce::fixed(KeyRing::empty());
    let Some(source) = source else { return Ok(none()) };
    match &source.place {
        KeyPlace::Created(path) if !path.exists() => Ok(none()),
        KeyPlace::File(path) | KeyPlace::Created(path) => KeysInForce::read(path, clock.now()),
        KeyPlace::Text(text) => KeysInForce::parse(text, clock.now()),
    }
    .context(source.name())
}

/// The adapters that send messages, take top-ups and send payouts.
pub struct Providers {
    notifier: Arc<dyn Notifier>,
    topups: Arc<dyn TopupProvider>,
    payouts: Arc<dyn PayoutProvider>,
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
            Arc::new(TopupWebhook::new(client, settings.currency.clone()))
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

/// Wires the service from these parts. `public_url` applies unless the configuration sets another.
///
/// # Errors
/// When the operating system provides no randomness, or metrics cannot be installed.
pub fn app(
    settings: &Settings,
    keys: Keys,
    providers: Providers,
    store: Arc<dyn Store>,
    clock: Arc<ServiceClock>,
    public_url: String,
) -> anyhow::Result<Arc<App>> {
    let secrets = RandomSecrets::new()?;
    let authentication = Authentication {
        tokens: Arc::new(SignedTokens::new(keys.signing.clone(), settings.auth.access_token_ttl, secrets)),
        revocations: Arc::new(RevocationCache::new(settings.auth.access_token_ttl)),
        clock: clock.clone(),
        timer: TokioTimer::default(),
        store: store.clone(),
    };
    let shared = Arc::new(authentication.clone());
    let job_queue = Arc::new(BoundedJobQueue::default());
    let passwords = Argon2Passwords::new(
        settings.auth.password_cost.clone(),
        settings.auth.breached_passwords,
        settings.rate_limits.map(|quotas| quotas.waiting_passwords),
    );
    let password_queue = passwords.queue();
    let plain_http = settings.environment != DeploymentEnvironment::Production;
    let WebhookSettings { allowed_networks, name_servers, keys: _ } = settings.webhooks.clone();
    let calls = OutgoingCalls::new(allowed_networks, plain_http, name_servers);
    let webhooks = EndpointCalls::new(
        calls.context("webhooks")?,
        Sealing::new(
            secrets,
            keys.signing.clone(),
            keys.webhooks.clone(),
            Arc::new({
                let store = Arc::clone(&store);
                move || store.feature_level()
            }),
        ),
        secrets,
        webhook_body,
        settings.currency.clone(),
    );
    let ports = Ports {
        store,
        clock: clock.clone(),
        timer: Arc::new(authentication.timer),
        passwords: Arc::new(passwords),
        secrets: Arc::new(KeyedSecrets::new(secrets, keys.signing)),
        access_tokens: shared.clone(),
        principals: shared.clone(),
        revocations: shared,
        jobs: job_queue.clone(),
        tasks: Arc::new(TokioTasks),
        notifier: providers.notifier,
        topups: providers.topups,
        payouts: providers.payouts,
        webhooks: Arc::new(webhooks),
        orders: Arc::new(OrderLog),
        probes: vec![clock, authentication.revocations.clone()],
    };
    let terms = Terms {
        requests: settings.requests.terms.clone(),
        withdrawals: settings.withdrawals.clone(),
        adjustments: settings.adjustments,
        topups: settings.topups.terms,
        payouts: settings.payouts.terms,
        topups_pending_for: settings.topups.pending_for,
        events_shown_for: settings.events.shown_for,
        refresh_token_for: settings.auth.refresh_token_ttl,
        phone_codes_per_day: settings.phone_codes_per_day,
    };
    let api = ApiSettings {
        public_url: settings.server.public_url.clone().unwrap_or(public_url),
        currency: settings.currency.clone(),
        cors_allowed_origins: settings.cors_allowed_origins.clone(),
        trusted_proxies: settings.server.trusted_proxies.clone(),
        reachable: settings.reachable.clone(),
        body_timeout: settings.server.body_timeout,
    };
    Ok(Arc::new(App {
        settings: api,
        services: UseCases::new(ports, terms),
        authentication,
        webhook_keys: keys.webhooks,
        job_queue,
        event_hub: EventHub::new(settings.events.max_streams),
        limits: RateLimits::new(settings.rate_limits),
        password_queue,
        phone_budget_warning: LogThrottle::default(),
        secrets: ProviderSecrets {
            topups: settings.topups.secrets.clone(),
            payouts: settings.payouts.secrets.clone(),
        },
        metrics: Metrics::install()?,
        new_request_id,
        openapi_document: openapi::json,
    }))
}

#[cfg(test)]
mod tests {
    use cuepoint_domain::ids::{SessionId, UserId};
    use cuepoint_domain::user::Role;

    use super::*;
    use crate::adapters::clock::SystemClock;
    use crate::config::Layers;
    use cuepoint_domain::authorization::{Epoch, Principal};

    async fn composed(keys: &[(&str, &str)]) -> Arc<App> {
        let settings = Layers::test(keys).settings().unwrap();
        let store = open(&settings, Opening::AsConfigured).await.unwrap();
        let keys = super::keys(&settings, RandomSecrets::new().unwrap(), &SystemClock).unwrap();
        let url = "http://127.0.0.1:1".to_owned();
        let providers = providers(&settings, Arc::new(SystemClock)).unwrap();
        app(&settings, keys, providers, store, Arc::default(), url).unwrap()
    }

    #[test]
    fn production_requires_persistent_keys() {
        let required = |more: &[(&str, &str)]| {
            let url = ("storage.postgres.url", "postgres://localhost/cuepoint");
            let layers = Layers {
                environment: DeploymentEnvironment::Production,
                ..Layers::test(&[&[url], more].concat())
            };
            let (settings, secrets) = (layers.settings().unwrap(), RandomSecrets::new().unwrap());
            let keys = keys(&settings, secrets, &SystemClock).map(drop);
            keys.map_err(|error| error.to_string())
        };
        let text = "a:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
        let (signing, webhooks) = (("auth.signing_keys", text), ("webhooks.keys", text));
        assert_eq!(required(&[webhooks]), Err(KeyPurpose::Signing.required().to_owned()));
        assert_eq!(required(&[signing]), Err(KeyPurpose::Webhooks.required().to_owned()));
        assert_eq!(required(&[signing, webhooks]), Ok(()));
    }

    #[test]
    fn webhook_providers_require_secrets_and_a_url() {
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

    #[tokio::test]
    async fn the_public_url_defaults_to_the_bound_address() {
        assert_eq!(composed(&[]).await.settings.public_url, "http://127.0.0.1:1");
        let configured = composed(&[("server.public_url", "https://api.example.com/")]).await;
        assert_eq!(configured.settings.public_url, "https://api.example.com");
    }

    #[tokio::test]
    async fn generated_keys_differ_between_processes() {
        let (one, other) = (composed(&[]).await, composed(&[]).await);
        let (user, session) = (UserId::new(1).unwrap(), SessionId::new(1).unwrap());
        let identity = Principal { user, role: Role::Member, is_dj: false, session };
        let now = one.authentication.clock.now();
        let token = one.authentication.tokens.issue(&identity, Epoch(0), now).unwrap().token;
        assert_eq!(one.authentication.tokens.verify(&token, Epoch(0), now), Ok(identity));
        assert!(other.authentication.tokens.verify(&token, Epoch(0), now).is_err());
    }
}
