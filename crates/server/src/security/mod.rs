//! Passwords, refresh tokens and access tokens.

pub mod key_ring;
pub mod passwords;
pub mod secrets;
pub mod tokens;
