//! Cuepoint's core: the rules of wallets and song requests, with no I/O, no runtime, no SQL and no wire format.
//!
//! Reading order: the values ([`money`], [`ids`], [`text`], [`timestamp`]), the things that live
//! ([`people`] with their [`session`]s, the [`network`]s that these come from, and [`challenge`]s, [`music_request`],
//! [`withdrawal`] with its [`address`], [`topup`]), the [`ledger`] that moves money as atomic
//! plans, who may do what ([`authorization`]), what is remembered of it ([`security_log`]), which messages of providers
//! contradict the ledger ([`provider_message`]), what is kept about a person ([`personal_data`]), the [`ports`] that
//! adapters implement, and the use cases in [`application`].

pub mod address;
pub mod adjustment;
pub mod application;
pub mod authorization;
pub mod challenge;
pub mod code_quotas;
pub mod feature_level;
pub mod ids;
pub mod ledger;
pub mod money;
pub mod music_request;
mod names;
pub mod network;
pub mod page;
pub mod people;
pub mod personal_data;
pub mod plans;
pub mod ports;
pub mod provider_message;
pub mod provider_reference;
pub mod security_log;
pub mod session;
pub mod text;
pub mod timestamp;
pub mod topup;
pub mod unknown;
pub mod withdrawal;
