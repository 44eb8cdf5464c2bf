//! Authentication, and the first operator.

use std::path::Path;

use argon2::Params;
use cuepoint_domain::text::{Email, Password};
use secrecy::SecretString;
use serde::Deserialize;
use time::Duration;

use super::ConfigError;
use super::key_source::{KeyPurpose, KeySource};
use super::values::{Choice, DAY, FromText, Seconds, Secret, TextValue, Whole};
use cuepoint_adapters::security::passwords::BreachedPasswords;

/// The authentication settings.
#[derive(Clone, Debug)]
pub struct Auth {
    /// The signing keys of access tokens. Without any, a key is generated that exists only in this process,
    /// which production refuses.
    pub signing_keys: Option<KeySource>,
    /// The lifetime of an access token.
    pub access_token_ttl: Duration,
    /// The lifetime of a refresh token.
    pub refresh_token_ttl: Duration,
    /// The lifetime of a browser's session after its last use.
    pub cookie_session: Duration,
    /// The cost parameters of password hashing.
    pub password_cost: Params,
    /// The treatment of passwords known from breaches.
    pub breached_passwords: BreachedPasswords,
}

/// The first operator, created at start unless one was created before or the e-mail address belongs to a user.
#[derive(Clone, Debug)]
pub struct Bootstrap {
    /// The e-mail address of the operator.
    pub email: Email,
    /// The password of the operator.
    pub password: Password,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AuthSection {
    signing_key_file: Option<TextValue>,
    signing_keys: Option<Secret<TextValue<SecretString>>>,
    access_token_ttl_seconds: Seconds<1, DAY>,
    refresh_token_ttl_seconds: Seconds<1, { DAY.saturating_mul(366) }>,
    cookie_session_days: Whole<u16, 1, 366>,
    argon2_memory_kib: Whole<u32, 7_168, 1_048_576>,
    argon2_iterations: Whole<u32, 1, 16>,
    argon2_parallelism: Whole<u32, 1, 16>,
    breached_passwords: Choice<BreachedPasswords>,
}

impl AuthSection {
    /// Returns the settings. Keys that are not configured are in `data_directory`, if there is one.
    pub(super) fn check(self, data_directory: Option<&Path>) -> Result<Auth, ConfigError> {
        let (memory, iterations) = (self.argon2_memory_kib.0, self.argon2_iterations.0);
        let cost = Params::new(memory, iterations, self.argon2_parallelism.0, None);
        let (file, text) = (self.signing_key_file, self.signing_keys);
        let signing_keys = KeySource::of(KeyPurpose::Signing, file, text, data_directory)?;
        Ok(Auth {
            signing_keys,
            access_token_ttl: self.access_token_ttl_seconds.to_time(),
            refresh_token_ttl: self.refresh_token_ttl_seconds.to_time(),
            cookie_session: Duration::days(self.cookie_session_days.0.into()),
            password_cost: cost.map_err(|error| {
                ConfigError::new("auth.argon2_memory_kib", format!("cannot be used: {error}"))
            })?,
            breached_passwords: self.breached_passwords.0,
        })
    }
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BootstrapSection {
    operator_email: Option<TextValue<Email>>,
    operator_password: Option<Secret<TextValue<Password>>>,
}

impl FromText for Email {
    fn from_text(text: &str) -> Result<Self, String> {
        Self::new(text.trim()).map_err(|error| format!("is not an e-mail address: {error}"))
    }
}

impl FromText for Password {
    fn from_text(text: &str) -> Result<Self, String> {
        Self::new(text).map_err(|error| format!("is not a valid password: {error}"))
    }
}

impl BootstrapSection {
    /// Returns the operator if both keys are set.
    pub(super) fn check(self) -> Result<Option<Bootstrap>, ConfigError> {
        match (self.operator_email, self.operator_password) {
            (None, None) => Ok(None),
            (Some(TextValue(email)), Some(Secret(TextValue(password)))) => {
                Ok(Some(Bootstrap { email, password }))
            }
            (Some(_), None) => Err(ConfigError::missing("bootstrap.operator_password")),
            (None, Some(_)) => Err(ConfigError::missing("bootstrap.operator_email")),
        }
    }
}
