//! Tests of the HTTP contract against the real binary over a real socket, on the default store, and on every store
//! where the store matters.
//!
//! Every test starts its own servers on free ports, with its own database or data directory, and stops them
//! at its end.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::as_conversions,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    clippy::unwrap_used,
    reason = "a test may fail loudly, and reads nothing that a stranger sent"
)]

#[macro_use]
mod harness;

mod access;
mod addresses;
mod api_commands;
mod approvals;
mod attacks;
mod auth;
mod backup;
mod becoming_a_dj;
mod blocks;
mod boards;
mod bodies;
mod bootstrap;
mod bounds;
mod browser_sessions;
mod chargebacks;
mod clearing;
mod clocks;
mod codes;
mod corrections;
mod crashes;
mod data_directory;
mod declared_fields;
mod doctor;
mod email_change;
mod endpoint_security;
mod evening;
mod event_streams;
mod events;
mod expiry;
mod exported_columns;
mod failures;
mod fields;
mod first_operator;
mod full_queues;
mod gig_endings;
mod gigs;
mod growing_letters;
mod guest_accounts;
mod guest_drafts;
mod guest_evening;
mod guest_forms;
mod guest_payments;
mod guest_tips;
mod guest_wallet_keys;
mod guides;
mod head_requests;
mod headers;
mod idempotency;
mod keys;
mod known_browsers;
mod ledger_audit;
mod lifecycle;
mod long_work;
mod lost_events;
mod mail;
mod matrix;
mod migrations;
mod money;
mod names_beside_ids;
mod networks;
mod operator_command;
mod operators;
mod order;
mod outage;
mod page_booth;
mod page_forms;
mod page_limits;
mod page_matrix;
mod page_notices;
mod page_responses;
mod pages;
mod passwords;
mod payout_rules;
mod personal_data;
mod personal_tokens;
mod positions;
mod process;
mod production_pages;
mod provider_messages;
mod provider_references;
mod providers_guide;
mod public_reads;
mod query_parameters;
mod races;
mod rate_limits;
mod ratings;
mod read_only_fields;
mod receiving_events;
mod recipes;
mod refusals;
mod reliance;
mod repetitions;
mod restore;
mod restored_wallets;
mod reverse_proxy;
mod sandbox_payments;
mod security_log;
mod service;
mod service_manager;
mod sessions;
mod soak;
mod staff;
mod start_page;
mod starts;
mod storage_copy;
mod strange_cookies;
mod stream_ends;
mod suggested_songs;
mod suspended_browsers;
mod suspense;
mod suspensions;
mod tips;
mod topup_orders;
mod tour;
mod unknown_names;
mod unread_log;
mod upgrades;
mod venues;
mod verifications;
mod wallet_links;
mod wallet_page;
mod webhook_deliveries;
mod webhook_endpoints;
mod webhook_keys;
mod webhook_names;
mod webhooks;
mod withdrawal_reviews;
