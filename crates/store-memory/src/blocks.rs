//! Guests blocked by DJs.

use std::collections::HashMap;

use async_trait::async_trait;
use cuepoint_domain::ids::UserId;
use cuepoint_domain::page::{PageRequest, Rows};
use cuepoint_domain::ports::{Blocks, Unavailable};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::Block;

use crate::lists::cut;
use crate::{MemoryStore, State};

/// The start of each block, by DJ and guest.
pub(crate) type Blocked = HashMap<UserId, HashMap<UserId, Timestamp>>;

impl State {
    pub(crate) fn block(&self, guest: UserId, at: Timestamp) -> Option<Block> {
        self.book.get(guest).map(|user| Block { guest, name: user.name.clone(), at })
    }
}

#[async_trait]
impl Blocks for MemoryStore {
    async fn block(&self, dj: UserId, guest: UserId, at: Timestamp) -> Result<Option<Block>, Unavailable> {
        let mut state = self.lock()?;
        if !(state.is_somebody(dj) && state.is_somebody(guest)) {
            return Ok(None);
        }
        let since = *state.blocked.entry(dj).or_default().entry(guest).or_insert(at);
        Ok(state.block(guest, since))
    }

    async fn unblock(&self, dj: UserId, guest: UserId) -> Result<bool, Unavailable> {
        let blocked = &mut self.lock()?.blocked;
        Ok(blocked.get_mut(&dj).is_some_and(|blocked| blocked.remove(&guest).is_some()))
    }

    async fn is_blocked(&self, dj: UserId, guest: UserId) -> Result<bool, Unavailable> {
        Ok(self.lock()?.blocked.get(&dj).is_some_and(|blocked| blocked.contains_key(&guest)))
    }

    async fn blocks(&self, dj: UserId, page: PageRequest) -> Result<Rows<Block>, Unavailable> {
        let state = self.lock()?;
        let blocked = state.blocked.get(&dj).into_iter().flatten();
        let mut blocks: Vec<Block> = blocked.filter_map(|(guest, at)| state.block(*guest, *at)).collect();
        blocks.sort_unstable_by_key(|block| std::cmp::Reverse((block.at, block.guest)));
        Ok(cut(blocks.into_iter(), page))
    }
}
