//! Operations of users: their logins, profiles, requests, wallets, withdrawals, events and webhook endpoints.

pub mod auth;
pub mod blocks;
pub mod djs;
pub mod email_changes;
pub mod event_streams;
pub mod events;
pub mod passwords;
pub mod personal_data;
pub mod profile;
pub mod ratings;
pub mod requests;
pub mod sessions;
pub mod topups;
pub mod verifications;
pub mod wallet;
pub mod webhook_endpoints;
pub mod withdrawals;
