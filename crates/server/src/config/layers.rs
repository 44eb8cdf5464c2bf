//! Where the configuration comes from, and which layer wins.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use config::{Config, File, FileFormat};

use super::values::Values;
use super::{ConfigError, Settings, keys};
use crate::observability::telemetry::LogFormat;

const DEFAULT: &str = include_str!("../../../../config/default.toml");
const DEVELOPMENT: &str = include_str!("../../../../config/development.toml");
const TEST: &str = include_str!("../../../../config/test.toml");
const PRODUCTION: &str = include_str!("../../../../config/production.toml");

const ENVIRONMENT_VARIABLE: &str = "CUEPOINT_ENV";
const FILE_VARIABLE: &str = "CUEPOINT_CONFIG";
const PREFIX: &str = "CUEPOINT";
const SEPARATOR: &str = "__";

/// What a process is run for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Environment {
    /// Trying and changing it.
    Development,
    /// Automatic tests.
    Test,
    /// Real people and their money.
    Production,
}

impl Environment {
    /// The name, as `CUEPOINT_ENV` gives it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Development => "development",
            Self::Test => "test",
            Self::Production => "production",
        }
    }

    /// The format of its log lines: JSON where a program reads them.
    #[must_use]
    pub const fn log_format(self) -> LogFormat {
        match self {
            Self::Development | Self::Test => LogFormat::Text,
            Self::Production => LogFormat::Json,
        }
    }

    const fn defaults(self) -> &'static str {
        match self {
            Self::Development => DEVELOPMENT,
            Self::Test => TEST,
            Self::Production => PRODUCTION,
        }
    }
}

impl FromStr for Environment {
    type Err = ConfigError;

    fn from_str(name: &str) -> Result<Self, ConfigError> {
        [Self::Development, Self::Test, Self::Production]
            .into_iter()
            .find(|environment| environment.name() == name)
            .ok_or_else(|| ConfigError::new(ENVIRONMENT_VARIABLE, "must be development, test or production"))
    }
}

/// The layers of a configuration beyond what is compiled in.
#[derive(Clone, Debug)]
pub struct Layers {
    /// Which of the compiled-in files counts.
    pub environment: Environment,
    /// The operator's own file.
    pub file: Option<PathBuf>,
    /// Variables by name; only those that begin with `CUEPOINT__` count.
    pub variables: Vec<(OsString, OsString)>,
}

impl Layers {
    /// The layers of a test: what is compiled in, and these keys in place of variables.
    #[must_use]
    pub fn test(keys: &[(&str, &str)]) -> Self {
        let variable =
            |key: &str| format!("{PREFIX}{SEPARATOR}{}", key.replace('.', SEPARATOR).to_uppercase());
        let variables = keys.iter().map(|(key, value)| (variable(key).into(), value.into())).collect();
        Self { environment: Environment::Test, file: None, variables }
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
            None => Environment::Development,
        };
        let file = given(FILE_VARIABLE).map(PathBuf::from);
        Ok(Self { environment, file, variables })
    }

    /// The settings that the layers come to.
    ///
    /// # Errors
    /// [`ConfigError`] for the first key that is unknown, missing, or has a value that cannot be.
    pub fn settings(&self) -> Result<Settings, ConfigError> {
        Settings::read(self.environment, &self.values()?)
    }

    /// Every key that has a value, one `key = value` a line, secrets hidden.
    ///
    /// # Errors
    /// As [`Layers::settings`].
    pub fn effective(&self) -> Result<String, ConfigError> {
        self.settings()?;
        Ok(self.values()?.to_string())
    }

    fn values(&self) -> Result<Values, ConfigError> {
        let compiled_in = Config::builder()
            .add_source(File::from_str(DEFAULT, FileFormat::Toml))
            .add_source(File::from_str(self.environment.defaults(), FileFormat::Toml));
        let files = match &self.file {
            Some(path) => compiled_in.add_source(File::from_str(&read(path)?, FileFormat::Toml)),
            None => compiled_in,
        };
        let variables = config::Environment::with_prefix(PREFIX)
            .prefix_separator(SEPARATOR)
            .separator(SEPARATOR)
            .ignore_empty(true)
            .source(Some(self.known_variables()?.into_iter().collect()));
        let merged = files.add_source(variables).build().map_err(|error| {
            let whole = error.to_string();
            // The lines between show the file, and perhaps a secret in it.
            let first = whole.lines().next().unwrap_or_default();
            let last = whole.lines().last().filter(|last| *last != first).unwrap_or_default();
            ConfigError::new(FILE_VARIABLE, format!("{first} {last}").trim_end())
        })?;
        Values::new(merged)
    }

    /// The variables that configure, each known and in UTF-8.
    fn known_variables(&self) -> Result<Vec<(String, String)>, ConfigError> {
        let mut known = Vec::new();
        for (name, value) in &self.variables {
            let name = name.to_string_lossy();
            let Some(path) = name.strip_prefix(PREFIX).and_then(|rest| rest.strip_prefix(SEPARATOR)) else {
                continue;
            };
            let key = path.to_lowercase().replace(SEPARATOR, ".");
            if !keys::is_known(&key) {
                return Err(ConfigError::new(key, format!("there is no such key ({name})")));
            }
            let value =
                value.to_str().ok_or_else(|| ConfigError::new(key, format!("{name} is not UTF-8")))?;
            known.push((name.to_string(), value.to_owned()));
        }
        Ok(known)
    }
}

fn read(path: &Path) -> Result<String, ConfigError> {
    std::fs::read_to_string(path).map_err(|error| {
        ConfigError::new(FILE_VARIABLE, format!("{} cannot be read: {error}", path.display()))
    })
}
