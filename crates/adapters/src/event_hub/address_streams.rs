//! The streams that count for a client address: those of boards and of guest accounts, which cost nothing.

use std::collections::{HashMap, HashSet};

use cuepoint_domain::network::ClientNetwork;

use super::StreamKey;

/// The maximum number of streams that count for a client address on this server.
const PER_ADDRESS: usize = 1_500;

/// The open streams that count for addresses.
#[derive(Default)]
pub(super) struct AddressStreams {
    by_network: HashMap<Option<ClientNetwork>, HashSet<StreamKey>>,
    networks: HashMap<StreamKey, Option<ClientNetwork>>,
}

impl AddressStreams {
    /// Whether an address has room for a further stream.
    pub(super) fn has_room(&self, network: Option<ClientNetwork>) -> bool {
        self.by_network.get(&network).is_none_or(|open| open.len() < PER_ADDRESS)
    }

    /// The streams of an address.
    pub(super) fn of(&self, network: Option<ClientNetwork>) -> impl Iterator<Item = StreamKey> {
        self.by_network.get(&network).into_iter().flatten().copied()
    }

    pub(super) fn add(&mut self, key: StreamKey, network: Option<ClientNetwork>) {
        self.by_network.entry(network).or_default().insert(key);
        self.networks.insert(key, network);
    }

    /// Removes a stream, if it counts for an address.
    pub(super) fn remove(&mut self, key: StreamKey) {
        let Some(network) = self.networks.remove(&key) else { return };
        if let Some(open) = self.by_network.get_mut(&network) {
            open.remove(&key);
            if open.is_empty() {
                self.by_network.remove(&network);
            }
        }
    }
}
