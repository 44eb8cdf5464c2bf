//! Passwords, refresh tokens, access tokens, and the encryption of stored secrets.

pub mod authentication;
pub mod echo_nonces;
pub mod kept_credentials;
pub mod keys;
pub mod known_browsers;
pub mod login_log;
pub mod password_proofs;
pub mod password_queue;
pub mod passwords;
pub mod random;
pub mod reliance;
pub mod revocations;
pub mod sealing;
pub mod secrets;
pub mod tokens;
mod unknown_cookies;
mod verified;
