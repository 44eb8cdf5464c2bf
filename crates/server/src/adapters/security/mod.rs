//! Passwords, refresh tokens and access tokens.

pub mod authentication;
pub mod keys;
pub mod passwords;
pub mod random;
pub mod revocations;
pub mod secrets;
pub mod tokens;
mod verified;
