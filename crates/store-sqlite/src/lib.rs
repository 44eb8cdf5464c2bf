//! Embedded storage for Cuepoint in a SQLite file.
//!
//! One server uses a data directory at a time. No rule is written in SQL: the tables' constraints are a
//! backstop, and a violation is a bug, not an expected refusal.

#[cfg(all(feature = "testing", not(debug_assertions)))]
compile_error!("the feature `testing` can end the process on purpose, and is not for release builds");

#[allow(dead_code, reason = "the ports do not use all of it yet")]
mod connect;
#[allow(dead_code, unused_imports, reason = "the ports do not use all of it yet")]
mod rows;
#[allow(dead_code, reason = "the ports do not use all of it yet")]
mod schema;
mod statements;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
#[allow(dead_code, unused_imports, reason = "the ports do not use all of it yet")]
mod writer;
