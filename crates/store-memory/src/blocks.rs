//! Guests blocked by DJs.

use std::collections::HashMap;

use async_trait::async_trait;
use cuepoint_domain::ids::UserId;
use cuepoint_domain::page::{PageRequest, Rows};
use cuepoint_domain::ports::{Blocks, Unavailable};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::Block;

use crate::lists::{newest_first, page_of};
use crate::{MemoryStore, State};

/// The start of each block, by DJ and guest.
pub(crate) type Blocked = HashMap<(UserId, UserId), Timestamp>;

impl State {
    fn block(&self, guest: UserId, at: Timestamp) -> Option<Block> {
        self.book.get(guest).map(|user| Block { guest, name: user.name.clone(), at })
    }

    /// The blocks of a DJ.
    pub(crate) fn blocks_of(&self, dj: UserId) -> impl Iterator<Item = Block> {
        let own = self.blocked.iter().filter(move |((by, _), _)| *by == dj);
        own.filter_map(|((_, guest), at)| self.block(*guest, *at))
    }
}

#[async_trait]
impl Blocks for MemoryStore {
    async fn block(&self, dj: UserId, guest: UserId, at: Timestamp) -> Result<Option<Block>, Unavailable> {
        let mut state = self.lock()?;
        if !(state.is_somebody(dj) && state.is_somebody(guest)) {
            return Ok(None);
        }
        let since = *state.blocked.entry((dj, guest)).or_insert(at);
        Ok(state.block(guest, since))
    }

    async fn unblock(&self, dj: UserId, guest: UserId) -> Result<bool, Unavailable> {
        Ok(self.lock()?.blocked.remove(&(dj, guest)).is_some())
    }

    async fn is_blocked(&self, dj: UserId, guest: UserId) -> Result<bool, Unavailable> {
        Ok(self.lock()?.blocked.contains_key(&(dj, guest)))
    }

    async fn blocks(&self, dj: UserId, page: PageRequest) -> Result<Rows<Block>, Unavailable> {
        let blocks = newest_first(self.lock()?.blocks_of(dj), |block| (block.at, block.guest));
        Ok(page_of(&blocks, page))
    }
}
