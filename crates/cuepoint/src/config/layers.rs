//! The layers of the configuration and their precedence.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use config::{Config, File, FileFormat};
use serde_json::Value;

use super::environment::{DeploymentEnvironment, ENVIRONMENT_VARIABLE};
use super::keys::{ConfigKey, keys_of};
use super::options::{OptionValue, Options};
use super::problems::Collector;
use super::settings::Sections;
use super::storage::{self, DIRECTORY, STATE_DIRECTORY};
use super::variables::{Variable, similar, variable, variable_of};
use super::{ConfigError, Problems, Settings};

const DEFAULT: &str = include_str!("../../../../config/default.toml");

/// The maximum size of a file with a secret.
const LARGEST_SECRET: u64 = 65_536;

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
    /// The keys that the command line sets.
    pub options: Options,
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
    value: Cow<'v, str>,
    /// Where the value is; `None` for a variable, which an error names by its key.
    place: Option<String>,
}

impl Layers {
    /// Layers for a test: the compiled-in files and the given keys instead of variables.
    #[must_use]
    pub fn test(keys: &[(&str, &str)]) -> Self {
        let variables = keys.iter().map(|(key, value)| (variable(key).into(), value.into())).collect();
        let environment = DeploymentEnvironment::Test;
        Self { environment, file: None, variables, options: Options::default() }
    }

    /// Reads the layers from the environment of the process and the options of its command line.
    ///
    /// # Errors
    /// [`ConfigError`] when `CUEPOINT_ENV` names no known environment.
    pub fn of_process(options: Options) -> Result<Self, ConfigError> {
        let variables = std::env::vars_os().collect();
        let layers = Self { environment: DeploymentEnvironment::Development, file: None, variables, options };
        let environment = match layers.given(ENVIRONMENT_VARIABLE) {
            Some(name) => name.to_string_lossy().parse()?,
            None => layers.environment,
        };
        let file = layers.options.file.clone().or_else(|| layers.given(FILE_VARIABLE).map(PathBuf::from));
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
    /// [`Problems`] for all keys that are unknown, missing or invalid.
    pub fn settings(&self) -> Result<Settings, Problems> {
        self.checked(&keys_of::<Sections>()).map(|(settings, _)| settings)
    }

    /// Returns the effective configuration: a line `key = value` per key, or a comment if it has no value.
    /// Secrets are redacted.
    ///
    /// # Errors
    /// Same as [`Layers::settings`].
    pub fn effective(&self) -> Result<String, Problems> {
        let keys = keys_of::<Sections>();
        let (_, merged) = self.checked(&keys)?;
        Ok(keys.iter().map(|key| line(key, at(&merged, &key.name))).collect())
    }

    /// Returns the settings, and the merged values from which they result.
    fn checked(&self, keys: &[ConfigKey]) -> Result<(Settings, Value), Problems> {
        let file = self.file.as_deref().map(read).transpose()?;
        let mut collector = Collector::default();
        let overrides = self.overrides(keys, &mut collector);
        let merged = self.merge(file.as_ref(), &overrides)?;
        let defaults = self.merge(None, &[])?;
        let named = collector.errors.len();
        let sections = sections(&merged, &defaults, keys, &mut collector);
        let values = collector.errors.len();
        let settings = sections.and_then(|sections| sections.check(self.environment, &mut collector));
        collector.drop_consequences(values);
        let mut errors = collector.errors;
        for error in errors.iter_mut().skip(named) {
            add_source(error, file.as_ref(), &overrides);
        }
        // Values are read in no particular order.
        errors.sort_by_cached_key(|error| (place(keys, &error.key), error.key.clone()));
        let Some(mut settings) = settings.filter(|_| errors.is_empty()) else {
            return Err(Problems::from(errors));
        };
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
                layers = layers.set_override(key, value.as_ref())?;
            }
            layers.build()?.try_deserialize()
        };
        build().map_err(|error| ConfigError::new("configuration", one_line(&error)))
    }

    /// Returns the values of all non-empty `CUEPOINT__` variables, each of which must be known and UTF-8, and
    /// after them those of the command line.
    fn overrides(&self, keys: &[ConfigKey], errors: &mut Collector) -> Vec<Override<'_>> {
        let mut overrides = Vec::new();
        for (name, value) in &self.variables {
            let name = name.to_string_lossy();
            let given = variable_of(&name, value, keys).and_then(|variable| given(&name, value, variable));
            let Some(Some(given)) = errors.keep(given) else { continue };
            let is_twice = overrides.iter().any(|other: &Override<'_>| {
                other.key == given.key && other.place.is_some() != given.place.is_some()
            });
            if is_twice {
                let name = variable(&given.key);
                errors.push(ConfigError::new(
                    &given.key,
                    format!("{name} and {name}_FILE must not be set together"),
                ));
            }
            overrides.push(given);
        }
        overrides.extend(self.options.values.iter().map(|OptionValue { option, key, value }| Override {
            key: (*key).to_owned(),
            value: Cow::Borrowed(value),
            place: Some((*option).to_owned()),
        }));
        overrides
    }
}

/// Returns the value that a variable gives to a key; `None` if it is empty or sets no key.
fn given<'v>(
    name: &str,
    value: &'v OsStr,
    variable: Option<Variable>,
) -> Result<Option<Override<'v>>, ConfigError> {
    let Some(variable) = variable else { return Ok(None) };
    let (Variable::Value(key) | Variable::SecretFile(key)) = &variable;
    let text = value.to_str().ok_or_else(|| ConfigError::new(key, format!("{name} is not UTF-8")))?;
    if text.is_empty() {
        return Ok(None);
    }
    let given = match variable {
        Variable::Value(key) => Override { key, value: Cow::Borrowed(text), place: None },
        Variable::SecretFile(key) => {
            // The path is not shown, because it may be the secret itself.
            let refused = |reason: &str| ConfigError::new(&key, format!("the file of {name} {reason}"));
            let secret = secret_in(Path::new(text)).map_err(|reason| refused(&reason))?;
            if secret.is_empty() {
                return Err(refused("is empty"));
            }
            Override { key, value: Cow::Owned(secret), place: Some(format!("in the file of {name}")) }
        }
    };
    Ok(Some(given))
}

/// Reads a secret from a file, without the end of its line.
///
/// # Errors
/// The reason why it is not read.
fn secret_in(path: &Path) -> Result<String, String> {
    let unreadable = |error: std::io::Error| format!("cannot be read: {error}");
    let found = std::fs::metadata(path).map_err(unreadable)?;
    if !found.is_file() || found.len() > LARGEST_SECRET {
        return Err(format!("is not a file of at most {LARGEST_SECRET} bytes"));
    }
    let text = std::fs::read_to_string(path).map_err(unreadable)?;
    let line = text.strip_suffix('\n').unwrap_or(&text);
    Ok(line.strip_suffix('\r').unwrap_or(line).to_owned())
}

/// Adds the option or the file that sets the key of an error; a variable is evident from the key.
fn add_source(error: &mut ConfigError, file: Option<&FileLayer<'_>>, overrides: &[Override<'_>]) {
    let source = match overrides.iter().rfind(|given| given.key == error.key) {
        Some(Override { place, .. }) => place.clone(),
        None => file
            .filter(|file| at(&file.values, &error.key).is_some())
            .map(|file| format!("in {}", file.path.display())),
    };
    if let Some(source) = source {
        error.reason = format!("{} ({source})", error.reason);
    }
}

/// Deserializes the sections and collects an error for each path at which that fails: the value there is replaced by its
/// default, and the rest is checked. Returns `None` if the amounts of the other sections have no valid currency.
fn sections(
    merged: &Value,
    defaults: &Value,
    keys: &[ConfigKey],
    errors: &mut Collector,
) -> Option<Sections> {
    let mut valid = merged.clone();
    // TOML's `nan` and `inf` become null, which an optional key would treat as not set.
    for key in keys.iter().filter(|key| at(merged, &key.name).is_some_and(Value::is_null)) {
        errors.push(ConfigError::new(&key.name, "must not be nan or inf"));
        replace(&mut valid, &key.name, at(defaults, &key.name));
    }
    loop {
        let failed = match serde_path_to_error::deserialize::<_, Sections>(&valid) {
            Ok(sections) => {
                let has_currency = !errors.errors.iter().any(|error| error.key.starts_with("wallet"));
                return Some(sections).filter(|_| has_currency);
            }
            Err(failed) => failed,
        };
        let key = failed.path().to_string();
        let is_known = keys.iter().any(|known| known.name == key);
        let is_section = !is_known && keys.iter().any(|known| is_below(&known.name, &key));
        // A value that no key declares is not quoted, because it may be a secret.
        let reason = match (is_known, is_section) {
            (true, _) => failed.inner().to_string(),
            (false, true) => format!("is a section with keys below [{key}], and has no value of its own"),
            (false, false) => no_such_key(&key, keys),
        };
        errors.push(ConfigError::new(&key, reason));
        if !replace(&mut valid, &key, at(defaults, &key)) {
            return None;
        }
    }
}

/// The place of a key among the declared ones, or that of its section.
fn place(keys: &[ConfigKey], key: &str) -> Option<usize> {
    let section = key.split_once('.').map_or(key, |(section, _)| section);
    let declared = keys.iter().position(|known| known.name == key);
    declared.or_else(|| keys.iter().position(|known| is_below(&known.name, section)))
}

fn is_below(key: &str, section: &str) -> bool {
    key.strip_prefix(section).is_some_and(|rest| rest.starts_with('.'))
}

/// The reason of an error for an unknown key or section, with the most similar known one.
fn no_such_key(key: &str, keys: &[ConfigKey]) -> String {
    let kind = if key.contains('.') { "key" } else { "section" };
    let sections = keys.iter().filter_map(|known| Some(known.name.split_once('.')?.0.to_owned()));
    let known = keys.iter().map(|known| known.name.clone()).chain(sections);
    match similar(key, known) {
        Some(intended) => format!("there is no such {kind}; did you mean {intended}?"),
        None => format!("there is no such {kind}"),
    }
}

/// Replaces the value at a dotted path, or removes it. Returns whether that changed anything.
fn replace(values: &mut Value, key: &str, by: Option<&Value>) -> bool {
    let (parent, name) = match key.rsplit_once('.') {
        Some((parent, name)) => (parent.split('.').try_fold(values, |value, name| value.get_mut(name)), name),
        None => (Some(values), key),
    };
    let Some(fields) = parent.and_then(Value::as_object_mut) else { return false };
    match by {
        Some(value) if fields.get(name) == Some(value) => false,
        Some(value) => {
            fields.insert(name.to_owned(), value.clone());
            true
        }
        None => fields.remove(name).is_some(),
    }
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
    let refused = |reason: String| ConfigError::new(path.display().to_string(), reason);
    let text = std::fs::read_to_string(path).map_err(|error| refused(format!("cannot be read: {error}")))?;
    let parse = || {
        let source = Config::builder().add_source(File::from_str(&text, FileFormat::Toml)).build()?;
        let values = source.clone().try_deserialize()?;
        Ok(FileLayer { path, source, values })
    };
    parse().map_err(|error| refused(format!("is not valid TOML: {}", one_line(&error))))
}

/// Returns the first and the last line of an error. The lines in between quote the file, which may contain a
/// secret.
fn one_line(error: &config::ConfigError) -> String {
    let whole = error.to_string();
    let first = whole.lines().next().unwrap_or_default();
    let last = whole.lines().last().filter(|last| *last != first).unwrap_or_default();
    format!("{first} {last}").trim_end().to_owned()
}
