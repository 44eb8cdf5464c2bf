//! Whom a DJ takes no requests from.

use std::sync::Arc;

use crate::access::{Action, Caller, Whose};
use crate::ids::UserId;
use crate::page::{PageRequest, Rows};
use crate::ports::{Block, Blocks as BlockList, Clock, MusicRequests};
use crate::service::profiles::FindError;

/// Why a guest is not blocked.
#[derive(Debug)]
pub enum BlockError {
    /// It is the DJ.
    Oneself,
    /// See [`FindError`].
    Find(FindError),
}

impl<E: Into<FindError>> From<E> for BlockError {
    fn from(error: E) -> Self {
        Self::Find(error.into())
    }
}

/// The use cases of blocks.
#[derive(Clone)]
pub struct Blocks {
    pub(super) requests: Arc<dyn MusicRequests>,
    pub(super) blocks: Arc<dyn BlockList>,
    pub(super) clock: Arc<dyn Clock>,
}

impl Blocks {
    /// A page of whom the caller blocks, those blocked last first.
    ///
    /// # Errors
    /// [`FindError`]; denied is who is no DJ.
    pub async fn list(&self, caller: &Caller, page: PageRequest) -> Result<Rows<Block>, FindError> {
        caller.may(Action::BlockGuest, Whose::Own)?;
        Ok(self.blocks.blocks(caller.user, page).await?)
    }

    /// Takes no more requests from this person; those that are open stay. Who is blocked already stays so since then.
    ///
    /// Only people who made a request to the caller can be blocked, since the answer names them: otherwise the names
    /// of all people could be read, and erased people be told from ids that never existed.
    ///
    /// # Errors
    /// [`BlockError`].
    pub async fn block(&self, caller: &Caller, guest: UserId) -> Result<Block, BlockError> {
        caller.may(Action::BlockGuest, Whose::Own)?;
        if guest == caller.user {
            return Err(BlockError::Oneself);
        }
        let known = self.requests.has_requested(guest, caller.user).await?
            || self.blocks.is_blocked(caller.user, guest).await?;
        if !known {
            return Err(FindError::NotFound.into());
        }
        let blocked = self.blocks.block(caller.user, guest, self.clock.now()).await?;
        Ok(blocked.ok_or(FindError::NotFound)?)
    }

    /// Takes requests from this person again, whether they were blocked or not.
    ///
    /// # Errors
    /// [`FindError`].
    pub async fn unblock(&self, caller: &Caller, guest: UserId) -> Result<(), FindError> {
        caller.may(Action::BlockGuest, Whose::Own)?;
        self.blocks.unblock(caller.user, guest).await?;
        Ok(())
    }
}
