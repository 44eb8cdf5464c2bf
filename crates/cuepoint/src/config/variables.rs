//! The names of environment variables.

use std::ffi::OsStr;

use super::ConfigError;
use super::keys::ConfigKey;

/// The beginning of the name of each variable of a key.
const PREFIX: &str = "CUEPOINT__";
const SEPARATOR: &str = "__";
/// The beginning of the name of each variable of the program.
const NAMESPACE: &str = "CUEPOINT_";
/// The variables that set no key: those of the program, of its tests and of the developer commands.
const OTHERS: &[&str] = &[
    "CUEPOINT_CONFIG",
    "CUEPOINT_ENV",
    "CUEPOINT_LOG",
    "CUEPOINT_AUDIT_ENTRIES",
    "CUEPOINT_CALLER",
    "CUEPOINT_CLOCK_SHIFT_FILE",
    "CUEPOINT_COPY_TO",
    "CUEPOINT_CRASH_AT",
    "CUEPOINT_CRASH_BY",
    "CUEPOINT_CRASH_ON",
    "CUEPOINT_DB_PORT",
    "CUEPOINT_FAILOVER",
    "CUEPOINT_FUZZ_TARGET",
    "CUEPOINT_HISTORIES",
    "CUEPOINT_OPERATOR_PASSWORD",
    "CUEPOINT_SOAK",
    "CUEPOINT_URL",
    "CUEPOINT_WEBHOOK_SECRET",
];
/// The beginning of the names of further variables of tests.
const TESTS: &str = "CUEPOINT_TEST_";

/// Returns the variable of a key.
pub(super) fn variable(key: &str) -> String {
    format!("{PREFIX}{}", key.replace('.', SEPARATOR).to_uppercase())
}

/// Returns the key that a variable sets; `None` if it sets none.
///
/// # Errors
/// [`ConfigError`] when the variable belongs to this program and does not exist, since it would be ignored.
pub(super) fn key_of(name: &str, value: &OsStr, keys: &[ConfigKey]) -> Result<Option<String>, ConfigError> {
    let Some(path) = name.strip_prefix(PREFIX) else {
        return if is_foreign(name, value) { Ok(None) } else { Err(no_variable(name, keys)) };
    };
    let key = path.to_lowercase().replace(SEPARATOR, ".");
    if keys.iter().any(|known| known.name == key) {
        return Ok(Some(key));
    }
    let intended = intended(name, keys).map(|intended| format!("; write {intended}")).unwrap_or_default();
    Err(ConfigError::new(key, format!("there is no such key ({name}{intended})")))
}

/// Returns whether a variable is another program's, or sets no key.
fn is_foreign(name: &str, value: &OsStr) -> bool {
    !name.starts_with(NAMESPACE)
        || name.starts_with(TESTS)
        || OTHERS.contains(&name)
        || is_service_link(name, value)
}

/// Returns whether Kubernetes sets the variable, as it does in each container for a service whose name begins
/// with `cuepoint`.
fn is_service_link(name: &str, value: &OsStr) -> bool {
    let has_port =
        name.split("_PORT_").skip(1).any(|rest| rest.starts_with(|first: char| first.is_ascii_digit()));
    let value = value.to_string_lossy();
    let is_url = ["tcp://", "udp://", "sctp://"].iter().any(|scheme| value.starts_with(scheme));
    is_url || has_port || name.ends_with("_SERVICE_HOST") || name.contains("_SERVICE_PORT")
}

fn no_variable(name: &str, keys: &[ConfigKey]) -> ConfigError {
    let intended = intended(name, keys).unwrap_or_else(|| format!("keys as {PREFIX}SECTION{SEPARATOR}KEY"));
    ConfigError::new(name, format!("there is no such variable; write {intended}"))
}

/// Returns the variable of the key that differs from a name by underscores only.
fn intended(name: &str, keys: &[ConfigKey]) -> Option<String> {
    let written = letters(name.strip_prefix(NAMESPACE)?);
    keys.iter().find(|key| letters(&key.name) == written).map(|key| variable(&key.name))
}

/// Returns a name without its separators, in capitals.
fn letters(name: &str) -> String {
    name.chars().filter(|letter| !matches!(letter, '_' | '.')).collect::<String>().to_uppercase()
}
