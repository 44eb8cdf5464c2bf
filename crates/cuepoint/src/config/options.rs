//! The configuration on the command line.

use std::path::PathBuf;

use super::storage::{BACKEND, DIRECTORY};

/// The configuration file and the keys that the command line sets.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Options {
    pub(super) file: Option<PathBuf>,
    pub(super) values: Vec<OptionValue>,
}

/// The value of a key that an option sets.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct OptionValue {
    /// The option, such as `--port`, which errors name.
    pub(super) option: &'static str,
    pub(super) key: &'static str,
    pub(super) value: String,
}

impl Options {
    /// `--config`: the configuration file.
    #[must_use]
    pub fn file(self, file: PathBuf) -> Self {
        Self { file: Some(file), ..self }
    }

    /// `--data`: SQLite in this data directory.
    #[must_use]
    pub fn data(self, directory: String) -> Self {
        self.with("--data", BACKEND, "sqlite".to_owned()).with("--data", DIRECTORY, directory)
    }

    /// `--ephemeral`: the store in memory.
    #[must_use]
    pub fn ephemeral(self) -> Self {
        self.with("--ephemeral", BACKEND, "memory".to_owned())
    }

    /// `--host`: the address to listen on.
    #[must_use]
    pub fn host(self, host: String) -> Self {
        self.with("--host", "server.host", host)
    }

    /// `--port`: the port to listen on.
    #[must_use]
    pub fn port(self, port: String) -> Self {
        self.with("--port", "server.port", port)
    }

    /// `--public-url`: the public origin of the service.
    #[must_use]
    pub fn public_url(self, origin: String) -> Self {
        self.with("--public-url", "server.public_url", origin)
    }

    fn with(mut self, option: &'static str, key: &'static str, value: String) -> Self {
        self.values.push(OptionValue { option, key, value });
        self
    }
}
