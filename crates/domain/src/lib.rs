//! Cuepoint's core: the rules of wallets and song requests, with no I/O, no runtime, no SQL and no wire format.
//!
//! Reading order: the values ([`money`], [`ids`], [`text`], [`timestamp`]), the things that live
//! ([`people`], [`music_request`], [`withdrawal`] with its [`address`], [`topup`]), the [`ledger`] that moves money as atomic
//! plans, the [`ports`] that adapters implement, and the use cases in [`service`].

pub mod address;
pub mod adjustment;
pub mod ids;
pub mod ledger;
pub mod money;
pub mod music_request;
pub mod page;
pub mod people;
pub mod plans;
pub mod ports;
pub mod service;
pub mod session;
pub mod text;
pub mod timestamp;
pub mod topup;
pub mod withdrawal;
