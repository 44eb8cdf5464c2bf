//! The wire format: JSON bodies, fields and their messages, queries, pages, the envelope and error codes.
//!
//! This module knows no operation and no connection.

pub mod body;
pub mod code_names;
pub mod envelope;
pub mod error;
pub mod fields;
pub mod filters;
pub mod headers;
pub mod kinds;
pub mod page;
pub mod query;
pub mod read_only;
pub mod rules;
pub mod server_sent_events;
pub mod validation_texts;
pub mod values;
