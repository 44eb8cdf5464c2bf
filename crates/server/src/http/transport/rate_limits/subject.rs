//! The subjects of rate limits; requests of one subject are counted together.

use std::hash::BuildHasher;
use std::net::IpAddr;

use cuepoint_domain::ids::{SessionId, UserId};
use cuepoint_domain::network::ClientNetwork;

/// The subject of a count.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RateLimitSubject {
    /// An authenticated principal.
    Principal(UserId),
    /// A session of a principal.
    Session(SessionId),
    /// A client's network; all clients of unknown networks share one.
    Network(Option<ClientNetwork>),
    /// An account name, hashed.
    Account(u64),
    /// An account name, hashed, and the network of the client.
    AccountFrom(u64, Option<ClientNetwork>),
}

impl RateLimitSubject {
    /// The client at this address; all clients of unknown addresses share one.
    #[must_use]
    pub fn address(address: Option<IpAddr>) -> Self {
        Self::Network(address.map(ClientNetwork::of))
    }

    /// The account of this name, alone and together with this network.
    pub(super) fn account(
        names: &impl BuildHasher,
        folded_name: &str,
        network: Option<ClientNetwork>,
    ) -> (Self, Self) {
        let number = names.hash_one(folded_name);
        (Self::Account(number), Self::AccountFrom(number, network))
    }
}
