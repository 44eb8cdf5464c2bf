//! The names of environment variables.

use std::ffi::OsStr;

use super::ConfigError;
use super::keys::ConfigKey;

/// The beginning of the name of each variable of a key.
const PREFIX: &str = "CUEPOINT__";
const SEPARATOR: &str = "__";
/// The end of the key of a variable that names a file.
const FILE_SUFFIX: &str = "_file";
/// The largest number of differing letters of a name that is taken for a misspelled one.
const MOST_TYPOS: usize = 4;
/// The beginning of the name of each variable of the program.
const NAMESPACE: &str = "CUEPOINT_";
/// The variables of the program that set no key.
const OF_THE_PROGRAM: [&str; 3] = ["CUEPOINT_CONFIG", "CUEPOINT_ENV", "CUEPOINT_LOG"];
/// Those of its tests and of the developer commands.
const OTHERS: &[&str] = &[
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

/// What a variable sets.
pub(super) enum Variable {
    /// The key itself.
    Value(String),
    /// A secret, whose value is in the named file.
    SecretFile(String),
}

/// Returns what a variable sets; `None` if it sets no key.
///
/// # Errors
/// [`ConfigError`] when the variable belongs to this program and does not exist, since it would be ignored.
pub(super) fn variable_of(
    name: &str,
    value: &OsStr,
    keys: &[ConfigKey],
) -> Result<Option<Variable>, ConfigError> {
    let Some(path) = name.strip_prefix(PREFIX) else {
        return if is_foreign(name, value) { Ok(None) } else { Err(no_variable(name, keys)) };
    };
    let key = path.to_lowercase().replace(SEPARATOR, ".");
    if keys.iter().any(|known| known.name == key) {
        return Ok(Some(Variable::Value(key)));
    }
    if let Some(secret) = key.strip_suffix(FILE_SUFFIX)
        && let Some(known) = keys.iter().find(|known| known.name == secret)
    {
        let refused = || ConfigError::new(name, "only the value of a secret can be in a file");
        return if known.secret { Ok(Some(Variable::SecretFile(secret.to_owned()))) } else { Err(refused()) };
    }
    let intended =
        intended(name, keys).map(|intended| format!("; did you mean {intended}?")).unwrap_or_default();
    Err(ConfigError::new(key, format!("there is no such key ({name}{intended})")))
}

/// Returns whether a variable is another program's, or sets no key.
fn is_foreign(name: &str, value: &OsStr) -> bool {
    !name.starts_with(NAMESPACE)
        || name.starts_with(TESTS)
        || OF_THE_PROGRAM.contains(&name)
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
    let reason = match intended(name, keys) {
        Some(intended) => format!("there is no such variable; did you mean {intended}?"),
        None => format!("there is no such variable; keys are written as {PREFIX}SECTION{SEPARATOR}KEY"),
    };
    ConfigError::new(name, reason)
}

/// Returns the variable that a misspelled name was meant to be: one that differs by underscores only, or else the most
/// similar one.
fn intended(name: &str, keys: &[ConfigKey]) -> Option<String> {
    let own = name.strip_prefix(NAMESPACE)?;
    let written = letters(own);
    let same = keys.iter().find(|key| letters(&key.name) == written).map(|key| variable(&key.name));
    let known = keys.iter().map(|key| variable(&key.name));
    let known = known.chain(OF_THE_PROGRAM.iter().map(|name| (*name).to_owned()));
    let known = known.filter_map(|name| Some(name.strip_prefix(NAMESPACE)?.to_owned()));
    same.or_else(|| similar(own, known).map(|own| format!("{NAMESPACE}{own}")))
}

/// Returns the most similar of the known names; `None` if none is similar.
pub(super) fn similar(written: &str, known: impl Iterator<Item = String>) -> Option<String> {
    let measured = known.map(|known| (strsim::damerau_levenshtein(written, &known), known));
    let (distance, nearest) = measured.min_by_key(|(distance, _)| *distance)?;
    // A quarter of the letters, as many as a wrong word of a name of four.
    (distance <= MOST_TYPOS && distance.saturating_mul(4) <= nearest.len()).then_some(nearest)
}

/// Returns a name without its separators, in capitals.
fn letters(name: &str) -> String {
    name.chars().filter(|letter| !matches!(letter, '_' | '.')).collect::<String>().to_uppercase()
}
