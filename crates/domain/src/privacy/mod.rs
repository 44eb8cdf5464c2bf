//! Privacy: the rights of users over the data that is stored about them.
//!
//! - [`personal_data`]: everything stored about a user, as it is exported;
//! - [`erase`]: the removal of what identifies a user, and why it may be refused.

mod erasure;
pub mod personal_data;

pub use erasure::{ErasureRefusal, erase};
