//! Cuepoint's core: the rules of wallets and song requests, without I/O, runtime, SQL or wire format.
//!
//! Reading order: the values at the root ([`money`], [`ids`], [`text`], [`timestamp`], [`page`], [`network`],
//! [`address`]), then the modules:
//!
//! - [`account`]: users with their sessions, challenges, personal data and security log;
//! - [`music_request`], [`withdrawal`], [`topup`]: the life cycle of each entity, decided by pure functions;
//! - [`ledger`]: plans, the only way to move money, and how they are applied and audited;
//! - [`event`]: operations as they are shown to the users whom they concern;
//! - [`webhook`]: endpoints to which events are sent, and the schedule of their deliveries;
//! - [`authorization`]: the roles and permissions of principals;
//! - [`ports`]: the traits that adapters implement;
//! - [`application`]: the use cases.
//!
//! [`provider_message`] and [`provider_reference`] deal with messages of payment and payout providers.

pub mod account;
pub mod address;
pub mod application;
pub mod authorization;
pub mod event;
pub mod ids;
pub mod ledger;
pub mod money;
pub mod music_request;
mod names;
pub mod network;
pub mod page;
pub mod ports;
pub mod provider_message;
pub mod provider_reference;
pub mod text;
pub mod timestamp;
pub mod topup;
pub mod unknown;
pub mod webhook;
pub mod withdrawal;
