//! The version of SQLite.

use thiserror::Error;

/// The oldest accepted version. Before it, a checkpoint that coincides with a reset of the write-ahead log
/// can lose committed transactions.
const OLDEST: [u32; 3] = [3, 51, 3];

/// The version of the SQLite that is compiled into the program, such as `3.53.2`.
#[must_use]
pub fn sqlite_version() -> &'static str {
    libsqlite3_sys::SQLITE_VERSION.to_str().unwrap_or_default()
}

/// SQLite is too old, or its version is unreadable.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error(
    "SQLite {0} can lose committed transactions: version {major}.{minor}.{patch} or later is required",
    major = OLDEST[0], minor = OLDEST[1], patch = OLDEST[2]
)]
pub(crate) struct UnsafeVersion(String);

/// Refuses versions of SQLite that can lose committed transactions.
///
/// # Errors
/// [`UnsafeVersion`].
pub(crate) fn ensure_safe(version: &str) -> Result<(), UnsafeVersion> {
    let parts: Option<Vec<u32>> = version.split('.').map(|part| part.parse().ok()).collect();
    // Lists are compared part by part.
    let is_safe =
        parts.is_some_and(|parts| parts.len() >= OLDEST.len() && parts.as_slice() >= OLDEST.as_slice());
    if is_safe { Ok(()) } else { Err(UnsafeVersion(version.to_owned())) }
}

#[cfg(test)]
mod tests {
    use diesel::dsl::sql;
    use diesel::prelude::*;
    use diesel::sql_types::Text;

    use super::*;

    #[test]
    fn unreadable_sqlite_versions_and_those_before_3_51_3_are_refused() {
        for version in ["3.40.1", "3.51.2", "3.51", "3.9.99", "2.99.99", "", "3.x.3", "3.51.3-beta"] {
            assert_eq!(ensure_safe(version), Err(UnsafeVersion(version.to_owned())));
        }
        for version in ["3.51.3", "3.51.10", "3.53.2", "3.53.2.1", "4.0.0"] {
            assert_eq!(ensure_safe(version), Ok(()), "{version}");
        }
    }

    #[test]
    fn the_reported_sqlite_version_is_the_version_of_the_linked_library() {
        let mut connection = SqliteConnection::establish(":memory:").unwrap();
        let linked = diesel::select(sql::<Text>("sqlite_version()")).get_result::<String>(&mut connection);
        assert_eq!(linked.unwrap(), sqlite_version());
    }

    #[test]
    fn a_version_refusal_names_the_found_and_the_oldest_accepted_version() {
        let message = ensure_safe("3.40.1").unwrap_err().to_string();
        assert!(message.contains("3.40.1") && message.contains("3.51.3"), "{message}");
    }
}
