//! The layers of the configuration and their precedence.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use config::{Config, File, FileFormat};
use serde_json::Value;

use super::environment::{DeploymentEnvironment, ENVIRONMENT_VARIABLE};
use super::keys::{ConfigKey, keys_of};
use super::settings::Sections;
use super::storage::{self, DIRECTORY, STATE_DIRECTORY, StorageOption};
use super::variables::{key_of, variable};
use super::{ConfigError, Settings};

const DEFAULT: &str = include_str!("../../../../config/default.toml");

const FILE_VARIABLE: &str = "CUEPOINT_CONFIG";

/// The layers of a configuration, in addition to the compiled-in files.
#[derive(Clone, Debug)]
pub struct Layers {
    /// The environment, which selects a compiled-in file.
    pub environment: DeploymentEnvironment,
    /// The file provided by the operator.
    pub file: Option<PathBuf>,
    /// The variables by name; those without the prefix `CUEPOINT_` are ignored, except `STATE_DIRECTORY`.
    pub variables: Vec<(OsString, OsString)>,
    /// The storage that the command line selects.
    pub storage: Option<StorageOption>,
}

/// The file provided by the operator, as read.
struct FileLayer<'p> {
    path: &'p Path,
    source: Config,
    values: Value,
}

/// The value of a key that overrides those of files.
struct Override<'v> {
    key: String,
    value: &'v str,
    /// The option of the command line; `None` for a variable, which an error names by its key.
    option: Option<&'static str>,
}

impl Layers {
    /// Layers for a test: the compiled-in files and the given keys instead of variables.
    #[must_use]
    pub fn test(keys: &[(&str, &str)]) -> Self {
        let variables = keys.iter().map(|(key, value)| (variable(key).into(), value.into())).collect();
        Self { environment: DeploymentEnvironment::Test, file: None, variables, storage: None }
    }

    /// Reads the layers from the environment of the process; `storage` is selected by its command line.
    ///
    /// # Errors
    /// [`ConfigError`] when `CUEPOINT_ENV` names no known environment.
    pub fn of_process(storage: Option<StorageOption>) -> Result<Self, ConfigError> {
        let variables = std::env::vars_os().collect();
        let layers = Self { environment: DeploymentEnvironment::Development, file: None, variables, storage };
        let environment = match layers.given(ENVIRONMENT_VARIABLE) {
            Some(name) => name.to_string_lossy().parse()?,
            None => layers.environment,
        };
        let file = layers.given(FILE_VARIABLE).map(PathBuf::from);
        Ok(Self { environment, file, ..layers })
    }

    /// Returns the value of a variable that is not empty.
    fn given(&self, name: &str) -> Option<&OsStr> {
        let found = self.variables.iter().find(|(key, value)| key == name && !value.is_empty());
        found.map(|(_, value)| value.as_os_str())
    }

    /// Returns the settings that result from the layers.
    ///
    /// # Errors
    /// [`ConfigError`] for the first key that is unknown, missing or invalid.
    pub fn settings(&self) -> Result<Settings, ConfigError> {
        self.checked(&keys_of::<Sections>()).map(|(settings, _)| settings)
    }

    /// Returns the effective configuration: a line `key = value` per key, or a comment if it has no value.
    /// Secrets are redacted.
    ///
    /// # Errors
    /// Same as [`Layers::settings`].
    pub fn effective(&self) -> Result<String, ConfigError> {
        let keys = keys_of::<Sections>();
        let (_, merged) = self.checked(&keys)?;
        Ok(keys.iter().map(|key| line(key, at(&merged, &key.name))).collect())
    }

    /// Returns the settings, and the merged values from which they result.
    fn checked(&self, keys: &[ConfigKey]) -> Result<(Settings, Value), ConfigError> {
        let file = self.file.as_deref().map(read).transpose()?;
        let overrides = self.overrides(keys)?;
        let merged = self.merge(file.as_ref(), &overrides)?;
        let settings = sections(&merged, keys).and_then(|sections| sections.check(self.environment));
        let mut settings = settings.map_err(|error| with_source(error, file.as_ref(), &overrides))?;
        // The merged values always have the directory, by default.
        let in_file = file.as_ref().is_some_and(|file| at(&file.values, DIRECTORY).is_some());
        settings.storage_keys.directory = in_file || overrides.iter().any(|given| given.key == DIRECTORY);
        Ok((settings, merged))
    }

    /// Merges the layers into one tree of values.
    fn merge(&self, file: Option<&FileLayer<'_>>, overrides: &[Override<'_>]) -> Result<Value, ConfigError> {
        let directory = storage::default_directory(self.given(STATE_DIRECTORY), self.environment)?;
        let build = || {
            let mut layers = Config::builder();
            if let Some(directory) = directory {
                layers = layers.set_default(DIRECTORY, directory)?;
            }
            layers = layers
                .add_source(File::from_str(DEFAULT, FileFormat::Toml))
                .add_source(File::from_str(self.environment.defaults(), FileFormat::Toml));
            if let Some(file) = file {
                layers = layers.add_source(file.source.clone());
            }
            for Override { key, value, .. } in overrides {
                layers = layers.set_override(key, *value)?;
            }
            layers.build()?.try_deserialize()
        };
        build().map_err(|error| ConfigError::new(FILE_VARIABLE, one_line(&error)))
    }

    /// Returns the values of all non-empty `CUEPOINT__` variables, each of which must be known and UTF-8, and
    /// after them those of the command line.
    fn overrides(&self, keys: &[ConfigKey]) -> Result<Vec<Override<'_>>, ConfigError> {
        let mut overrides = Vec::new();
        for (name, value) in &self.variables {
            let name = name.to_string_lossy();
            let Some(key) = key_of(&name, value, keys)? else { continue };
            let text =
                value.to_str().ok_or_else(|| ConfigError::new(&key, format!("{name} is not UTF-8")))?;
            if !text.is_empty() {
                overrides.push(Override { key, value: text, option: None });
            }
        }
        if let Some(option) = &self.storage {
            let given = option.keys().into_iter();
            let named = Some(option.name());
            overrides.extend(given.map(|(key, value)| Override {
                key: key.to_owned(),
                value,
                option: named,
            }));
        }
        Ok(overrides)
    }
}

/// Adds the option or the file that sets the key of an error; a variable is evident from the key.
fn with_source(error: ConfigError, file: Option<&FileLayer<'_>>, overrides: &[Override<'_>]) -> ConfigError {
    let source = match overrides.iter().rfind(|given| given.key == error.key) {
        Some(Override { option, .. }) => option.map(str::to_owned),
        None => file
            .filter(|file| at(&file.values, &error.key).is_some())
            .map(|file| format!("in {}", file.path.display())),
    };
    match source {
        Some(source) => ConfigError { reason: format!("{} ({source})", error.reason), ..error },
        None => error,
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

fn read(path: &Path) -> Result<FileLayer<'_>, ConfigError> {
    let refused = |reason: String| ConfigError::new(FILE_VARIABLE, format!("{} {reason}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| refused(format!("cannot be read: {error}")))?;
    let parse = || {
        let source = Config::builder().add_source(File::from_str(&text, FileFormat::Toml)).build()?;
        let values = source.clone().try_deserialize()?;
        Ok(FileLayer { path, source, values })
    };
    parse().map_err(|error| refused(format!("is invalid: {}", one_line(&error))))
}

/// Returns the first and the last line of an error. The lines in between quote the file, which may contain a
/// secret.
fn one_line(error: &config::ConfigError) -> String {
    let whole = error.to_string();
    let first = whole.lines().next().unwrap_or_default();
    let last = whole.lines().last().filter(|last| *last != first).unwrap_or_default();
    format!("{first} {last}").trim_end().to_owned()
}
