//! The layers of the configuration and their precedence.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use config::{Config, File, FileFormat};
use serde_json::Value;

use super::environment::{DeploymentEnvironment, ENVIRONMENT_VARIABLE};
use super::keys::{ConfigKey, keys_of};
use super::settings::Sections;
use super::{ConfigError, Settings};

const DEFAULT: &str = include_str!("../../../../config/default.toml");

const FILE_VARIABLE: &str = "CUEPOINT_CONFIG";
const PREFIX: &str = "CUEPOINT__";
const SEPARATOR: &str = "__";

/// The layers of a configuration, in addition to the compiled-in files.
#[derive(Clone, Debug)]
pub struct Layers {
    /// The environment, which selects a compiled-in file.
    pub environment: DeploymentEnvironment,
    /// The file provided by the operator.
    pub file: Option<PathBuf>,
    /// The variables by name; those without the prefix `CUEPOINT__` are ignored.
    pub variables: Vec<(OsString, OsString)>,
}

impl Layers {
    /// Layers for a test: the compiled-in files and the given keys instead of variables.
    #[must_use]
    pub fn test(keys: &[(&str, &str)]) -> Self {
        let variable = |key: &str| format!("{PREFIX}{}", key.replace('.', SEPARATOR).to_uppercase());
        let variables = keys.iter().map(|(key, value)| (variable(key).into(), value.into())).collect();
        Self { environment: DeploymentEnvironment::Test, file: None, variables }
    }

    /// Reads the layers from the environment of the process.
    ///
    /// # Errors
    /// [`ConfigError`] when `CUEPOINT_ENV` names no known environment.
    pub fn of_process() -> Result<Self, ConfigError> {
        let variables: Vec<(OsString, OsString)> = std::env::vars_os().collect();
        let given = |name: &str| {
            variables.iter().find(|(key, value)| key == name && !value.is_empty()).map(|(_, value)| value)
        };
        let environment = match given(ENVIRONMENT_VARIABLE) {
            Some(name) => name.to_string_lossy().parse()?,
            None => DeploymentEnvironment::Development,
        };
        let file = given(FILE_VARIABLE).map(PathBuf::from);
        Ok(Self { environment, file, variables })
    }

    /// Returns the settings that result from the layers.
    ///
    /// # Errors
    /// [`ConfigError`] for the first key that is unknown, missing or invalid.
    pub fn settings(&self) -> Result<Settings, ConfigError> {
        let keys = keys_of::<Sections>();
        sections(&self.merge(&keys)?, &keys)?.check(self.environment)
    }

    /// Returns the effective configuration: a line `key = value` per key, or a comment if it has no value.
    /// Secrets are redacted.
    ///
    /// # Errors
    /// Same as [`Layers::settings`].
    pub fn effective(&self) -> Result<String, ConfigError> {
        let keys = keys_of::<Sections>();
        let merged = self.merge(&keys)?;
        sections(&merged, &keys)?.check(self.environment)?;
        Ok(keys.iter().map(|key| line(key, at(&merged, &key.name))).collect())
    }

    /// Merges the layers into one tree of values.
    fn merge(&self, keys: &[ConfigKey]) -> Result<Value, ConfigError> {
        let mut layers = Config::builder()
            .add_source(File::from_str(DEFAULT, FileFormat::Toml))
            .add_source(File::from_str(self.environment.defaults(), FileFormat::Toml));
        if let Some(path) = &self.file {
            layers = layers.add_source(File::from_str(&read(path)?, FileFormat::Toml));
        }
        for (key, value) in self.known_variables(keys)? {
            layers = layers
                .set_override(&key, value)
                .map_err(|error| ConfigError::new(&key, error.to_string()))?;
        }
        layers.build().and_then(Config::try_deserialize).map_err(|error| {
            let whole = error.to_string();
            // The lines in between quote the file, which may contain a secret.
            let first = whole.lines().next().unwrap_or_default();
            let last = whole.lines().last().filter(|last| *last != first).unwrap_or_default();
            ConfigError::new(FILE_VARIABLE, format!("{first} {last}").trim_end())
        })
    }

    /// Returns the keys and values of all non-empty `CUEPOINT__` variables, each of which must be known and
    /// UTF-8.
    fn known_variables(&self, keys: &[ConfigKey]) -> Result<Vec<(String, &str)>, ConfigError> {
        let mut known = Vec::new();
        for (name, value) in &self.variables {
            let name = name.to_string_lossy();
            let Some(path) = name.strip_prefix(PREFIX) else { continue };
            let key = path.to_lowercase().replace(SEPARATOR, ".");
            if !is_known(keys, &key) {
                return Err(ConfigError::new(key, format!("there is no such key ({name})")));
            }
            let text =
                value.to_str().ok_or_else(|| ConfigError::new(&key, format!("{name} is not UTF-8")))?;
            if !text.is_empty() {
                known.push((key, text));
            }
        }
        Ok(known)
    }
}

fn is_known(keys: &[ConfigKey], name: &str) -> bool {
    keys.iter().any(|key| key.name == name)
}

/// Deserializes the sections; the error names the path at which deserialization failed.
fn sections(merged: &Value, keys: &[ConfigKey]) -> Result<Sections, ConfigError> {
    // TOML's `nan` and `inf` become null, which an optional key would treat as not set.
    if let Some(key) = keys.iter().find(|key| at(merged, &key.name).is_some_and(Value::is_null)) {
        return Err(ConfigError::new(&key.name, "must not be nan or inf"));
    }
    serde_path_to_error::deserialize(merged).map_err(|error| {
        let key = error.path().to_string();
        let is_section = at(merged, &key).is_none_or(Value::is_object);
        // A value in place of a section is not quoted, because it may be a secret.
        let is_declared = is_section || is_known(keys, &key);
        let reason = if is_declared { error.inner().to_string() } else { "there is no such key".to_owned() };
        ConfigError::new(key, reason)
    })
}

/// Returns the value at a dotted path.
fn at<'v>(merged: &'v Value, key: &str) -> Option<&'v Value> {
    key.split('.').try_fold(merged, |value, name| value.get(name))
}

/// Formats a line of the effective configuration.
fn line(key: &ConfigKey, value: Option<&Value>) -> String {
    let ConfigKey { name, secret } = key;
    match value {
        None => format!("# {name} is not set\n"),
        Some(_) if *secret => format!("{name} = [REDACTED]\n"),
        Some(Value::Array(items)) => {
            let items: Vec<String> = items.iter().map(Value::to_string).collect();
            format!("{name} = [{}]\n", items.join(", "))
        }
        Some(value) => format!("{name} = {value}\n"),
    }
}

fn read(path: &Path) -> Result<String, ConfigError> {
    std::fs::read_to_string(path).map_err(|error| {
        ConfigError::new(FILE_VARIABLE, format!("{} cannot be read: {error}", path.display()))
    })
}
