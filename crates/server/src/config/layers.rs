//! Where the configuration comes from, and which layer wins.

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

/// The layers of a configuration beyond what is compiled in.
#[derive(Clone, Debug)]
pub struct Layers {
    /// Which of the compiled-in files counts.
    pub environment: DeploymentEnvironment,
    /// The operator's own file.
    pub file: Option<PathBuf>,
    /// Variables by name; only those that begin with `CUEPOINT__` count.
    pub variables: Vec<(OsString, OsString)>,
}

impl Layers {
    /// The layers of a test: what is compiled in, and these keys in place of variables.
    #[must_use]
    pub fn test(keys: &[(&str, &str)]) -> Self {
        let variable = |key: &str| format!("{PREFIX}{}", key.replace('.', SEPARATOR).to_uppercase());
        let variables = keys.iter().map(|(key, value)| (variable(key).into(), value.into())).collect();
        Self { environment: DeploymentEnvironment::Test, file: None, variables }
    }

    /// The layers that the process was started with.
    ///
    /// # Errors
    /// [`ConfigError`] when `CUEPOINT_ENV` names no environment.
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

    /// The settings that the layers come to.
    ///
    /// # Errors
    /// [`ConfigError`] for the first key that is unknown, missing, or has a value that cannot be.
    pub fn settings(&self) -> Result<Settings, ConfigError> {
        let keys = keys_of::<Sections>();
        sections(&self.merge(&keys)?, &keys)?.check(self.environment)
    }

    /// A line `key = value` for each key, or a comment where it has no value; secrets are hidden.
    ///
    /// # Errors
    /// As [`Layers::settings`].
    pub fn effective(&self) -> Result<String, ConfigError> {
        let keys = keys_of::<Sections>();
        let merged = self.merge(&keys)?;
        sections(&merged, &keys)?.check(self.environment)?;
        Ok(keys.iter().map(|key| line(key, at(&merged, &key.name))).collect())
    }

    /// The layers as one tree of values.
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
            // The lines between show the file, and perhaps a secret in it.
            let first = whole.lines().next().unwrap_or_default();
            let last = whole.lines().last().filter(|last| *last != first).unwrap_or_default();
            ConfigError::new(FILE_VARIABLE, format!("{first} {last}").trim_end())
        })
    }

    /// The keys and values of the variables that configure and are not empty, each known and in UTF-8.
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

/// Reads the sections; the error names the path at which reading ended.
fn sections(merged: &Value, keys: &[ConfigKey]) -> Result<Sections, ConfigError> {
    // TOML's `nan` and `inf` become null, which an optional key would take for not set.
    if let Some(key) = keys.iter().find(|key| at(merged, &key.name).is_some_and(Value::is_null)) {
        return Err(ConfigError::new(&key.name, "must not be nan or inf"));
    }
    serde_path_to_error::deserialize(merged).map_err(|error| {
        let key = error.path().to_string();
        let is_section = at(merged, &key).is_none_or(Value::is_object);
        // A value in place of a section is not quoted, because it may be a secret.
        let told = is_section || is_known(keys, &key);
        let reason = if told { error.inner().to_string() } else { "there is no such key".to_owned() };
        ConfigError::new(key, reason)
    })
}

/// The value at a dotted path.
fn at<'v>(merged: &'v Value, key: &str) -> Option<&'v Value> {
    key.split('.').try_fold(merged, |value, name| value.get(name))
}

/// A line of the effective configuration.
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
