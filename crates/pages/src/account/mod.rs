//! The account of a user: profile, sessions, password, export and erasure.
//!
//! [`page`] is the page `/account`; [`password`] is the page that asks for the password again.

pub mod page;
pub mod password;

pub use page::{AccountPage, EmailChange, ErasureProblem, PasswordFields};
pub use password::PasswordPage;
