//! The environment of a deployment, which selects the defaults.

use std::str::FromStr;

use super::ConfigError;
use cuepoint_adapters::observability::telemetry::LogFormat;

/// The variable that selects the environment.
pub(super) const ENVIRONMENT_VARIABLE: &str = "CUEPOINT_ENV";

const DEVELOPMENT: &str = include_str!("../../../../config/development.toml");
const TEST: &str = include_str!("../../../../config/test.toml");
const PRODUCTION: &str = include_str!("../../../../config/production.toml");

/// The environment of a deployment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DeploymentEnvironment {
    /// Development and manual testing.
    Development,
    /// Automated tests.
    Test,
    /// Real users and real money.
    Production,
}

impl DeploymentEnvironment {
    /// Returns the name used in `CUEPOINT_ENV`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Development => "development",
            Self::Test => "test",
            Self::Production => "production",
        }
    }

    /// Returns the log format: JSON in production, where programs read the log.
    #[must_use]
    pub const fn log_format(self) -> LogFormat {
        match self {
            Self::Development | Self::Test => LogFormat::Text,
            Self::Production => LogFormat::Json,
        }
    }

    pub(super) const fn defaults(self) -> &'static str {
        match self {
            Self::Development => DEVELOPMENT,
            Self::Test => TEST,
            Self::Production => PRODUCTION,
        }
    }
}

impl FromStr for DeploymentEnvironment {
    type Err = ConfigError;

    fn from_str(name: &str) -> Result<Self, ConfigError> {
        [Self::Development, Self::Test, Self::Production]
            .into_iter()
            .find(|environment| environment.name() == name)
            .ok_or_else(|| ConfigError::new(ENVIRONMENT_VARIABLE, "must be development, test or production"))
    }
}
