//! Calls to URLs that users enter, which never reach this machine or the network of the operator.
//!
//! `address_filter.rs` decides which addresses may be called. It judges IP addresses in URLs, and the addresses of
//! host names whenever a connection is made, so that a name whose addresses change after a check gains nothing.

mod address_filter;
mod calls;
mod lookup_turns;
mod name_servers;
mod names;
mod resolver;
mod url_rules;

pub use calls::{CALL_WITHIN, OutgoingCallError, OutgoingCalls, OutgoingReply};
pub use name_servers::NameServers;
pub use resolver::RefusedAddresses;
pub use url_rules::{UrlRefusal, is_on_this_machine, origin, parse_written};
