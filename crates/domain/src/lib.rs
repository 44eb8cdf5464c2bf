//! Cuepoint's core: the rules of wallets and song requests, without I/O, runtime, SQL or wire format.
//!
//! Reading order: the values at the root ([`money`], [`ids`], [`entity_ref`], [`text`], [`timestamp`], [`page`],
//! [`network`], [`address`]) and the list of entities in `entities.rs` with [`entity_facts`], then the modules:
//!
//! - [`user`]: users with their sessions, challenges, and changes of profile and status;
//! - [`authorization`]: the roles and permissions of principals;
//! - [`security_log`]: the record of authentication and of changes to users;
//! - [`ledger`]: accounts, transfers, and the permanent records of money;
//! - [`music_request`], [`withdrawal`], [`topup`]: the life cycle of each entity, decided by pure functions;
//! - [`gig`]: the evenings of DJs, and the order of their queues; [`tip`]: money for a DJ apart from requests;
//! - [`operation`]: plans, the only way to change money and entities, and how they are applied;
//! - [`audit`]: the audit of the whole ledger;
//! - [`event`]: operations as they are shown to the involved users;
//! - [`webhook`]: endpoints to which events are sent, and the schedule of their deliveries;
//! - [`privacy`]: the export and the erasure of personal data;
//! - [`ports`]: the traits that adapters implement;
//! - [`application`]: the use cases.
//!
//! [`provider_message`] and [`provider_reference`] deal with messages of payment and payout providers.

pub mod address;
pub mod application;
pub mod audit;
pub mod authorization;
mod checksum;
mod entities;
pub mod entity_facts;
pub mod entity_ref;
pub mod event;
pub mod gig;
pub mod ids;
pub mod ledger;
pub mod money;
pub mod music_request;
mod names;
pub mod network;
pub mod operation;
pub mod page;
pub mod ports;
pub mod privacy;
pub mod provider_message;
pub mod provider_reference;
pub mod security_log;
pub mod text;
pub mod timestamp;
pub mod tip;
pub mod topup;
pub mod unknown;
pub mod user;
pub mod webhook;
pub mod withdrawal;
