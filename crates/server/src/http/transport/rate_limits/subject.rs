//! The subjects of rate limits: requests of the same subject are counted together.

use std::hash::BuildHasher;
use std::net::IpAddr;

use cuepoint_domain::ids::UserId;
use cuepoint_domain::network::ClientNetwork;

/// Who calls, or what is called.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Subject {
    /// Who has a token.
    Caller(UserId),
    /// A client's network; all clients whose network is unknown are one.
    Network(Option<ClientNetwork>),
    /// The name of an account, as a number.
    Account(u64),
    /// The name of an account, as a number, and the network from which it is called.
    AccountFrom(u64, Option<ClientNetwork>),
}

impl Subject {
    /// The client at this address; all whose address is unknown are one.
    #[must_use]
    pub fn address(address: Option<IpAddr>) -> Self {
        Self::Network(address.map(ClientNetwork::of))
    }

    /// The account of this name, and the same seen from this network.
    pub(super) fn account(
        names: &impl BuildHasher,
        folded_name: &str,
        network: Option<ClientNetwork>,
    ) -> (Self, Self) {
        let number = names.hash_one(folded_name);
        (Self::Account(number), Self::AccountFrom(number, network))
    }
}
