//! The composition root: wires the parts together, and is the only module that names the stores.

mod keys;
mod pages;
mod providers;

pub use keys::{ServiceKeys, existing_signing_keys, existing_webhook_keys, keys};
pub use providers::Providers;

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Error, bail};
use cuepoint_domain::application::{Ports, Terms, UseCases};
use cuepoint_domain::operation::feature_level::FeatureLevel;
use cuepoint_domain::ports::{
    Backend, BackendError, Clock, Opening, PreparedData, RestoreSource, Restored, Store,
};
use cuepoint_store_memory::MemoryBackend;
use cuepoint_store_postgres::{PostgresBackend, PostgresCopyEndpoint, PostgresOptions};
use cuepoint_store_sql::copy::CopyEndpoint;
pub use cuepoint_store_sqlite::sqlite_version;
use cuepoint_store_sqlite::{SqliteBackend, SqliteCopyEndpoint};
use secrecy::ExposeSecret;
use tokio::runtime::Handle;

use crate::config::{DeploymentEnvironment, Postgres, Problems, Settings, Storage, WebhookSettings};
use cuepoint_adapters::clock::{ServiceClock, SystemClock};
use cuepoint_adapters::endpoint_calls::EndpointCalls;
use cuepoint_adapters::event_hub::EventHub;
use cuepoint_adapters::job_queue::BoundedJobQueue;
use cuepoint_adapters::long_work::LongWorkThreads;
use cuepoint_adapters::observability::log_throttle::LogThrottle;
use cuepoint_adapters::observability::metrics::Metrics;
use cuepoint_adapters::outgoing::OutgoingCalls;
use cuepoint_adapters::runtime::{TokioTasks, TokioTimer};
use cuepoint_adapters::security::authentication::Authentication;
use cuepoint_adapters::security::echo_nonces::EchoNonces;
use cuepoint_adapters::security::kept_credentials::{KeptCookies, KeptTokens};
use cuepoint_adapters::security::keys::{KeyRing, KeysInForce};
use cuepoint_adapters::security::known_browsers::KnownBrowsers;
use cuepoint_adapters::security::login_log::LoginLog;
use cuepoint_adapters::security::password_proofs::PasswordProofs;
use cuepoint_adapters::security::passwords::Argon2Passwords;
use cuepoint_adapters::security::random::RandomSecrets;
use cuepoint_adapters::security::revocations::RevocationCache;
use cuepoint_adapters::security::sealing::Sealing;
use cuepoint_adapters::security::secrets::KeyedSecrets;
use cuepoint_adapters::security::tokens::SignedTokens;
use cuepoint_adapters::service::Service;
use cuepoint_adapters::topups::OrderLog;
use cuepoint_api::openapi;
use cuepoint_api::state::{ApiSettings, ApiState, ProviderSecrets};
use cuepoint_transport::rate_limits::RateLimits;
use cuepoint_web::state::PageState;

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

/// Checks what a server needs besides valid settings, without creating anything: its keys, and its providers, which are
/// returned.
///
/// # Errors
/// [`Problems`] with the keys, the providers and the settings of a server, all of them.
pub fn check(settings: &Settings, secrets: RandomSecrets) -> Result<Providers, Problems> {
    let mut errors = keys::problems_of_keys(settings, secrets, &SystemClock);
    match check_without_keys(settings) {
        Ok(providers) if errors.is_empty() => return Ok(providers),
        Ok(_) => {}
        Err(more) => errors.extend(more),
    }
    Err(Problems { sentences: errors.iter().map(|error| format!("{error:#}")).collect() })
}

/// Checks what a server needs besides valid settings and keys: its providers, which are returned.
///
/// # Errors
/// What is wrong with the providers and the settings of a server.
pub fn check_without_keys(settings: &Settings) -> Result<Providers, Vec<Error>> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let of_server = settings.check_server().err().unwrap_or_default();
    let errors: Vec<Error> = of_server.into_iter().map(Error::from).collect();
    match providers::providers(settings, &clock) {
        Ok(providers) if errors.is_empty() => Ok(providers),
        Ok(_) => Err(errors),
        Err(more) => Err(errors.into_iter().chain(more).collect()),
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

/// Opens the configured store for a command of the person at the machine, with use cases that issue no tokens and send no
/// messages. Close the store afterwards.
///
/// # Errors
/// As [`open`].
pub async fn without_server(
    settings: &Settings,
    opening: Opening,
) -> anyhow::Result<(Arc<dyn Store>, UseCases)> {
    let secrets = RandomSecrets::new()?;
    let random = || KeyRing::random(secrets).map(KeysInForce::fixed);
    let keys = ServiceKeys { signing: random()?, webhooks: random()? };
    let store = open(settings, opening).await?;
    let composed = compose(settings, keys, Providers::none(), store.clone(), Arc::default(), String::new())?;
    Ok((store, composed.service.use_cases.clone()))
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

/// The parts of the service, wired together.
pub struct Composed {
    pub service: Arc<Service>,
    pub api: Arc<ApiState>,
    /// The state of the pages; `None` if the deployment has none.
    pub pages: Option<Arc<PageState>>,
    /// The queue of background jobs.
    pub job_queue: Arc<BoundedJobQueue>,
    /// The keys that encrypt the secrets of webhook endpoints.
    pub webhook_keys: KeysInForce,
}

/// Wires the service from these parts. `public_url` applies unless the configuration sets another.
///
/// # Errors
/// When the operating system provides no randomness, or metrics cannot be installed.
pub fn compose(
    settings: &Settings,
    keys: ServiceKeys,
    providers: Providers,
    store: Arc<dyn Store>,
    clock: Arc<ServiceClock>,
    public_url: String,
) -> anyhow::Result<Composed> {
    let public_url = settings.server.public_url.clone().unwrap_or(public_url);
    let secrets = RandomSecrets::new()?;
    let authentication = Authentication {
        tokens: Arc::new(SignedTokens::new(keys.signing.clone(), settings.auth.access_token_ttl, secrets)),
        personal_tokens: Arc::new(KeptTokens::new(settings.auth.access_token_ttl)),
        cookies: Arc::new(KeptCookies::new(settings.auth.access_token_ttl, settings.auth.cookie_session)),
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
        settings.currency.clone(),
    );
    let ports = Ports {
        clock: clock.clone(),
        timer: Arc::new(authentication.timer),
        passwords: Arc::new(passwords),
        secrets: Arc::new(KeyedSecrets::new(secrets, keys.signing.clone())),
        access_tokens: shared.clone(),
        principals: shared.clone(),
        revocations: shared,
        jobs: job_queue.clone(),
        tasks: Arc::new(TokioTasks),
        long_work: Arc::new(LongWorkThreads::new(Handle::try_current()?)),
        notifier: providers.notifier,
        topup_provider: providers.topups.at(settings, &public_url)?,
        payout_provider: providers.payouts,
        webhooks: Arc::new(webhooks),
        orders: Arc::new(OrderLog),
        failed_logins: Arc::new(LoginLog),
        probes: vec![clock, authentication.revocations.clone()],
    };
    let terms = Terms {
        requests: settings.requests.terms.clone(),
        longest_gig: settings.requests.longest_gig,
        tips: settings.tips,
        withdrawals: settings.withdrawals.clone(),
        adjustments: settings.adjustments,
        topups: settings.topups.terms,
        payouts: settings.payouts.terms,
        least_topup: settings.topups.least,
        guest_topups: settings.topups.of_guests,
        topups_pending_for: settings.topups.pending_for,
        payment_pages: settings.topups.payment_pages,
        events_shown_for: settings.events.shown_for,
        refresh_token_for: settings.auth.refresh_token_ttl,
        cookie_for: settings.auth.cookie_session,
        phone_codes_per_day: settings.phone_codes_per_day,
    };
    let api = ApiSettings {
        public_url,
        currency: settings.currency.clone(),
        reachable: settings.reachable.clone(),
        body_timeout: settings.server.body_timeout,
        has_pages: settings.pages.enabled,
        environment: settings.environment.name(),
        clock_rate: settings.server.clock_rate,
    };
    let service = Arc::new(Service {
        use_cases: UseCases::new(store, ports, terms),
        authentication,
        event_hub: EventHub::new(settings.events.max_streams),
        metrics: Metrics::install()?,
    });
    let limits = Arc::new(RateLimits::new(settings.rate_limits));
    let pages = settings.pages.enabled.then(|| {
        Arc::new(PageState {
            settings: pages::settings(settings, &api.public_url),
            service: Arc::clone(&service),
            limits: Arc::clone(&limits),
            password_queue: Arc::clone(&password_queue),
            password_proofs: PasswordProofs::new(keys.signing.clone()),
            known_browsers: KnownBrowsers::new(keys.signing.clone()),
            secrets,
        })
    });
    let api = Arc::new(ApiState {
        settings: api,
        service: Arc::clone(&service),
        limits,
        password_queue,
        echo_nonces: EchoNonces::new(keys.signing),
        phone_budget_warning: LogThrottle::default(),
        secrets: ProviderSecrets {
            topups: settings.topups.secrets.clone(),
            payouts: settings.payouts.secrets.clone(),
        },
        openapi_document: openapi::json,
    });
    Ok(Composed { service, api, pages, job_queue, webhook_keys: keys.webhooks })
}

#[cfg(test)]
mod tests {
    use cuepoint_domain::ids::{SessionId, UserId};
    use cuepoint_domain::user::Role;

    use super::*;
    use crate::config::Layers;
    use cuepoint_adapters::clock::SystemClock;
    use cuepoint_domain::authorization::{Epoch, Principal};

    async fn composed(keys: &[(&str, &str)]) -> Composed {
        let settings = Layers::test(keys).settings().unwrap();
        let store = open(&settings, Opening::AsConfigured).await.unwrap();
        let keys = super::keys(&settings, RandomSecrets::new().unwrap(), &SystemClock).unwrap();
        let url = "http://127.0.0.1:1".to_owned();
        let providers = check(&settings, RandomSecrets::new().unwrap()).unwrap();
        compose(&settings, keys, providers, store, Arc::default(), url).unwrap()
    }

    #[tokio::test]
    async fn the_public_url_defaults_to_the_bound_address() {
        assert_eq!(composed(&[]).await.api.settings.public_url, "http://127.0.0.1:1");
        let configured = composed(&[("server.public_url", "https://api.example.com/")]).await;
        assert_eq!(configured.api.settings.public_url, "https://api.example.com");
    }

    #[tokio::test]
    async fn each_composed_server_generates_its_own_keys() {
        let (one, other) = (composed(&[]).await, composed(&[]).await);
        let (user, session) = (UserId::new(1).unwrap(), SessionId::new(1).unwrap());
        let identity = Principal { user, role: Role::Member, is_dj: false, session };
        let now = one.service.authentication.clock.now();
        let token = one.service.authentication.tokens.issue(&identity, Epoch(0), now).unwrap().token;
        assert_eq!(one.service.authentication.tokens.verify(&token, Epoch(0), now), Ok(identity));
        assert!(other.service.authentication.tokens.verify(&token, Epoch(0), now).is_err());
    }
}
