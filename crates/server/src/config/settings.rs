//! The configuration as typed settings, each within its range.

use std::num::NonZeroU32;
use std::path::PathBuf;

use argon2::Params;
use cuepoint_domain::address::AddressPolicy;
use cuepoint_domain::adjustment::AdjustmentTerms;
use cuepoint_domain::money::{Amount, BasisPoints, Currency};
use cuepoint_domain::music_request::RequestTerms;
use cuepoint_domain::text::{Email, Password};
use cuepoint_domain::withdrawal::{WithdrawalLimits, WithdrawalTerms};
use secrecy::{ExposeSecret, SecretString};
use time::Duration;
use url::Url;

use super::access::{self, Reachable};
use super::notifier::{self, Notifier};
use super::payout_options::payout_options;
use super::providers::{self, Payouts, TopupProviderKind, Topups};
use super::values::{Values, missing};
use super::{ConfigError, Environment};
use crate::http::transport::networks::Networks;
use crate::http::transport::rate_limits::Quotas;

const DAY: u32 = 86_400;
/// More threads than this are refused by the web server.
const MAX_WORKERS: usize = 512;
const MAX_CONNECTIONS: usize = 1_000_000;
const MAX_ARRIVAL_SECONDS: u64 = 300;

/// Everything that can be configured, checked.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What the process is run for.
    pub environment: Environment,
    /// Where it listens.
    pub server: Server,
    /// Where it keeps its data.
    pub storage: Storage,
    /// How people are recognised.
    pub auth: Auth,
    /// The one currency of the deployment.
    pub currency: Currency,
    /// Song requests.
    pub requests: Requests,
    /// How often the ledger checks itself; `None` means never.
    pub audit_interval: Option<std::time::Duration>,
    /// The terms of withdrawals.
    pub withdrawals: WithdrawalTerms,
    /// The terms of adjustments.
    pub adjustments: AdjustmentTerms,
    /// How people are sent messages.
    pub notifier: Notifier,
    /// The most codes by phone within a day; `None` means any number.
    pub phone_codes_per_day: Option<NonZeroU32>,
    /// Taking the guests' money.
    pub topups: Topups,
    /// Sending money out.
    pub payouts: Payouts,
    /// The web pages whose scripts may call the API.
    pub cors_allowed_origins: Vec<String>,
    /// From where some routes can be reached.
    pub reachable: Reachable,
    /// How many calls are admitted; `None` means all.
    pub rate_limits: Option<Quotas>,
    /// The operator to make at start.
    pub bootstrap: Option<Bootstrap>,
}

/// Where the service listens.
#[derive(Clone, Debug)]
pub struct Server {
    /// An address or name of this machine.
    pub host: String,
    /// The port; 0 takes a free one.
    pub port: u16,
    /// Threads that answer requests; `None` means one per core.
    pub workers: Option<usize>,
    /// The origin under which clients reach the service, without a slash at its end.
    pub public_url: Option<String>,
    /// The proxies whose word on where a call comes from is taken.
    pub trusted_proxies: Networks,
    /// The most connections of each thread.
    pub max_connections: usize,
    /// How long the head of a request may take to arrive.
    pub head_timeout: std::time::Duration,
    /// How long a connection may be silent between two requests.
    pub keep_alive: std::time::Duration,
    /// How long a body may take to arrive.
    pub body_timeout: std::time::Duration,
}

/// Where the data is kept.
#[derive(Clone, Debug)]
pub enum Storage {
    /// In this process.
    Memory,
    /// In a PostgreSQL database.
    Postgres(Postgres),
}

/// A PostgreSQL database.
#[derive(Clone, Debug)]
pub struct Postgres {
    /// Its address with what is needed to log in.
    pub url: SecretString,
    /// The most connections that read at once.
    pub pool_size: u32,
    /// Whether a start brings its schema up to date.
    pub migrate_on_start: bool,
}

/// How people are recognised.
#[derive(Clone, Debug)]
pub struct Auth {
    /// The keys of access tokens; without, one is made that ends with the process, which production refuses.
    pub signing_keys: Option<SigningKeySource>,
    /// How long an access token is valid.
    pub access_token_ttl: Duration,
    /// How long a refresh token is valid.
    pub refresh_token_ttl: Duration,
    /// What hashing a password costs.
    pub password_cost: Params,
    /// What becomes of passwords that are known from breaches.
    pub breached_passwords: BreachedPasswords,
}

/// What becomes of passwords that are known from breaches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BreachedPasswords {
    /// They cannot be chosen.
    Refuse,
    /// They can, for trying things out.
    Accept,
}

/// Where the keys of access tokens are.
#[derive(Clone, Debug)]
pub enum SigningKeySource {
    /// In a file, which is read again when it changes.
    File(PathBuf),
    /// In the configuration itself, as the text that the file would have.
    Text(SecretString),
}

/// Song requests.
#[derive(Clone, Debug)]
pub struct Requests {
    /// What is promised to guests and DJs.
    pub terms: RequestTerms,
    /// How often the holds of overdue requests are settled.
    pub sweep_interval: std::time::Duration,
}

/// The first operator, who is made at start unless one was made before or somebody has the address.
#[derive(Clone, Debug)]
pub struct Bootstrap {
    /// Their address.
    pub email: Email,
    /// Their password.
    pub password: Password,
}

impl Settings {
    pub(super) fn read(environment: Environment, values: &Values) -> Result<Self, ConfigError> {
        let currency = currency(values)?;
        let settings = Self {
            environment,
            server: server(values)?,
            storage: storage(values)?,
            auth: auth(values)?,
            requests: requests(values)?,
            audit_interval: audit_interval(values)?,
            withdrawals: withdrawals(values, &currency)?,
            adjustments: AdjustmentTerms {
                max_amount: values.amount("adjustments.max_amount", &currency, false)?,
            },
            notifier: notifier::notifier(values, environment)?,
            phone_codes_per_day: notifier::phone_codes_per_day(values)?,
            topups: providers::topups(values, environment)?,
            payouts: providers::payouts(values, environment)?,
            cors_allowed_origins: allowed_origins(values)?,
            reachable: access::reachable(values)?,
            rate_limits: access::rate_limits(values)?,
            bootstrap: bootstrap(values)?,
            currency,
        };
        match environment {
            Environment::Production => settings.fit_for_production(),
            Environment::Development | Environment::Test => Ok(settings),
        }
    }

    fn fit_for_production(self) -> Result<Self, ConfigError> {
        let refuse = |key, reason| Err(ConfigError::new(key, reason));
        if matches!(self.storage, Storage::Memory) {
            return refuse(
                "storage.backend",
                "memory is refused in production, because its data ends with the process",
            );
        }
        if self.topups.provider == TopupProviderKind::Sandbox {
            return refuse(
                "topups.provider",
                "sandbox is refused in production, because it gives money away",
            );
        }
        Ok(self)
    }
}

fn server(values: &Values) -> Result<Server, ConfigError> {
    let key = "server.public_url";
    let public_url = values.text(key)?.map(|url| {
        origin(url.trim_end_matches('/')).ok_or_else(|| {
            ConfigError::new(key, "must be http(s)://host or http(s)://host:port, without a path")
        })
    });
    let arrival = |key| {
        let seconds = values.required_number(key, 1..=MAX_ARRIVAL_SECONDS);
        seconds.map(std::time::Duration::from_secs)
    };
    Ok(Server {
        host: values.required("server.host")?.to_owned(),
        port: values.required_number("server.port", 0..=u16::MAX)?,
        workers: values.number("server.workers", 1..=MAX_WORKERS)?,
        public_url: public_url.transpose()?,
        trusted_proxies: access::networks(values, "server.trusted_proxies")?,
        max_connections: values.required_number("server.max_connections", 1..=MAX_CONNECTIONS)?,
        head_timeout: arrival("server.head_timeout_seconds")?,
        keep_alive: arrival("server.keep_alive_seconds")?,
        body_timeout: arrival("server.body_timeout_seconds")?,
    })
}

fn storage(values: &Values) -> Result<Storage, ConfigError> {
    let pool_size = values.required_number("storage.postgres.pool_size", 1..=1_000)?;
    let migrate_on_start = values.flag("storage.postgres.migrate_on_start")?;
    let url = values.secret("storage.postgres.url")?;
    let in_memory = values.choice("storage.backend", &[("memory", true), ("postgres", false)])?;
    if in_memory {
        return Ok(Storage::Memory);
    }
    let url = url.ok_or_else(|| missing("storage.postgres.url"))?;
    Ok(Storage::Postgres(Postgres { url, pool_size, migrate_on_start }))
}

fn auth(values: &Values) -> Result<Auth, ConfigError> {
    let breached = [("refuse", BreachedPasswords::Refuse), ("accept", BreachedPasswords::Accept)];
    Ok(Auth {
        password_cost: password_cost(values)?,
        breached_passwords: values.choice("auth.breached_passwords", &breached)?,
        signing_keys: signing_keys(values)?,
        access_token_ttl: seconds(values, "auth.access_token_ttl_seconds", DAY)?,
        refresh_token_ttl: seconds(values, "auth.refresh_token_ttl_seconds", DAY.saturating_mul(366))?,
    })
}

fn password_cost(values: &Values) -> Result<Params, ConfigError> {
    let memory_key = "auth.argon2_memory_kib";
    let memory = values.required_number(memory_key, 7_168..=1_048_576)?;
    let iterations = values.required_number("auth.argon2_iterations", 1..=16)?;
    let parallelism = values.required_number("auth.argon2_parallelism", 1..=16)?;
    Params::new(memory, iterations, parallelism, None)
        .map_err(|error| ConfigError::new(memory_key, format!("cannot be used: {error}")))
}

fn signing_keys(values: &Values) -> Result<Option<SigningKeySource>, ConfigError> {
    let file = values.text("auth.signing_key_file")?;
    match (file, values.secret("auth.signing_keys")?) {
        (Some(_), Some(_)) => {
            Err(ConfigError::new("auth.signing_keys", "may not be given beside auth.signing_key_file"))
        }
        (Some(file), None) => Ok(Some(SigningKeySource::File(PathBuf::from(file)))),
        (None, text) => Ok(text.map(SigningKeySource::Text)),
    }
}

fn currency(values: &Values) -> Result<Currency, ConfigError> {
    let code = values.required("wallet.currency")?;
    let scale = values.required_number("wallet.scale", 0..=8)?;
    Currency::new(code, scale).ok_or_else(|| {
        ConfigError::new("wallet.currency", "must be 3 to 12 capital letters or digits, such as USD")
    })
}

fn requests(values: &Values) -> Result<Requests, ConfigError> {
    let month = DAY.saturating_mul(30);
    let bps = values.required_number("fees.commission_bps", 0..=10_000)?;
    let commission = BasisPoints::new(bps)
        .ok_or_else(|| ConfigError::new("fees.commission_bps", "must be from 0 to 10000"))?;
    let most_open: u32 = values.required_number("requests.max_open_per_dj", 0..=1_000)?;
    let sweep: u32 = values.required_number("requests.sweep_interval_seconds", 1..=3_600)?;
    Ok(Requests {
        terms: RequestTerms {
            pending_for: seconds(values, "requests.pending_ttl_seconds", month)?,
            accepted_for: seconds(values, "requests.accepted_ttl_seconds", month)?,
            commission,
            most_open_per_dj: (most_open > 0).then_some(most_open),
        },
        sweep_interval: std::time::Duration::from_secs(u64::from(sweep)),
    })
}

fn audit_interval(values: &Values) -> Result<Option<std::time::Duration>, ConfigError> {
    let week = DAY.saturating_mul(7);
    let seconds: u32 = values.required_number("ledger.audit_interval_seconds", 0..=week)?;
    Ok((seconds > 0).then(|| std::time::Duration::from_secs(u64::from(seconds))))
}

fn withdrawals(values: &Values, currency: &Currency) -> Result<WithdrawalTerms, ConfigError> {
    let policies = AddressPolicy::ALL.map(|policy| (policy.name(), policy));
    let address_policy = values.choice("withdrawals.address_policy", &policies)?;
    let most = |key| values.amount(key, currency, false);
    let limits = WithdrawalLimits {
        max_amount: most("withdrawals.max_amount")?,
        max_per_24h: most("withdrawals.max_per_24h")?,
        max_per_30d: most("withdrawals.max_per_30d")?,
    };
    let auto_approve_below: Option<Amount> =
        values.amount("withdrawals.auto_approve_below", currency, true)?;
    let second_approval_above = second_approval_above(values, currency, auto_approve_below)?;
    let options = payout_options(values)?;
    Ok(WithdrawalTerms { limits, auto_approve_below, second_approval_above, address_policy, options })
}

/// Above which sum two operators have to approve; a sum that needs two cannot be one that needs none.
fn second_approval_above(
    values: &Values,
    currency: &Currency,
    auto_approve_below: Option<Amount>,
) -> Result<Option<Amount>, ConfigError> {
    let key = "withdrawals.second_approval_above";
    let above = values.amount(key, currency, false)?;
    if let (Some(above), Some(below)) = (above, auto_approve_below)
        && above < below
    {
        let reason = "must not be less than withdrawals.auto_approve_below, below which nobody approves";
        return Err(ConfigError::new(key, reason));
    }
    Ok(above)
}

fn allowed_origins(values: &Values) -> Result<Vec<String>, ConfigError> {
    let key = "cors.allowed_origins";
    let check = |written: &str| {
        // A browser sends an origin in exactly one spelling; any other would never match.
        let reason = || format!("{written:?} is no origin such as https://app.example.com");
        origin(written).filter(|origin| origin == written).ok_or_else(|| ConfigError::new(key, reason()))
    };
    values.list(key)?.into_iter().map(check).collect()
}

fn bootstrap(values: &Values) -> Result<Option<Bootstrap>, ConfigError> {
    let (email_key, password_key) = ("bootstrap.operator_email", "bootstrap.operator_password");
    let (email, password) = match (values.text(email_key)?, values.secret(password_key)?) {
        (None, None) => return Ok(None),
        (Some(email), Some(password)) => (email, password),
        (Some(_), None) => return Err(missing(password_key)),
        (None, Some(_)) => return Err(missing(email_key)),
    };
    let email =
        Email::new(email).map_err(|error| ConfigError::new(email_key, format!("is no address: {error}")))?;
    let password = Password::new(password.expose_secret())
        .map_err(|error| ConfigError::new(password_key, format!("is no password: {error}")))?;
    Ok(Some(Bootstrap { email, password }))
}

fn seconds(values: &Values, key: &str, most: u32) -> Result<Duration, ConfigError> {
    values.required_number(key, 1..=most).map(|seconds| Duration::seconds(i64::from(seconds)))
}

/// The origin that an http(s) address without path, query or user is.
fn origin(written: &str) -> Option<String> {
    let url = Url::parse(written).ok()?;
    let bare = url.path() == "/"
        && url.query().is_none()
        && url.fragment().is_none()
        && url.username().is_empty()
        && url.password().is_none();
    (bare && matches!(url.scheme(), "http" | "https")).then(|| url.origin().ascii_serialization())
}
