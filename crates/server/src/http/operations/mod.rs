//! The operations of the API: a file for each subject, with the views that it answers with.

pub mod audit;
pub mod auth;
pub mod blocks;
pub mod djs;
pub mod docs;
pub mod health;
pub mod jwks;
pub mod operator_topups;
pub mod operator_withdrawals;
pub mod operators;
pub mod passwords;
pub mod personal_data;
pub mod profile;
pub mod proofs;
pub mod provider_messages;
pub mod requests;
pub mod sessions;
pub mod staff;
pub mod topups;
pub mod views;
pub mod wallet;
pub mod webhooks;
pub mod withdrawals;
