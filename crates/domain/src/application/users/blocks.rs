//! Guests blocked by DJs.

use std::sync::Arc;

use thiserror::Error;

use crate::application::environment::Environment;
use crate::application::error::{CommandError, Failure};
use crate::application::executor::{Authorized, Context, Executor};
use crate::authorization::{Principal, permission::BlockGuest};
use crate::ids::UserId;
use crate::page::{PageRequest, Rows};
use crate::user::Block;

/// Why a guest is not blocked.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum BlockRefusal {
    /// The guest is the DJ.
    #[error("DJs cannot block themselves")]
    Oneself,
}

/// Lists, blocks and unblocks guests.
#[derive(Clone)]
pub struct GuestBlocks {
    pub(in crate::application) env: Arc<Environment>,
    pub(in crate::application) executor: Executor,
}

impl GuestBlocks {
    /// A page of the guests that the principal blocks, the last blocked first.
    ///
    /// # Errors
    /// [`Failure::Denied`] if the principal is not a DJ.
    pub async fn list(&self, principal: &Principal, page: PageRequest) -> Result<Rows<Block>, Failure> {
        let dj = Authorized::<_, BlockGuest>::own(principal)?;
        Ok(self.env.blocks.blocks(*dj, page).await?)
    }

    /// Blocks a guest: the principal no longer accepts requests and tips from them. Open requests stay open, and
    /// an existing block keeps its time.
    ///
    /// Only guests who made a request to the principal, or gave the principal a tip, can be blocked, since the
    /// answer contains their name: otherwise the names of all users could be read, and erased users be distinguished
    /// from ids that never existed.
    ///
    /// # Errors
    /// [`BlockRefusal`], and [`Failure::NotFound`] for all other users.
    pub async fn block(&self, context: &Context, guest: UserId) -> Result<Block, CommandError<BlockRefusal>> {
        let env = &self.env;
        self.executor
            .perform::<BlockGuest, _, _>(context, async |dj, _, _| {
                if guest == *dj {
                    return Err(CommandError::Refused(BlockRefusal::Oneself));
                }
                let known = env.requests.has_requested(guest, *dj).await?
                    || env.tips.has_tipped(guest, *dj).await?
                    || env.blocks.is_blocked(*dj, guest).await?;
                if !known {
                    return Err(Failure::NotFound.into());
                }
                let blocked = env.blocks.block(*dj, guest, env.now()).await?;
                Ok(blocked.ok_or(Failure::NotFound)?)
            })
            .await
    }

    /// Unblocks this guest, whether they were blocked or not.
    pub async fn unblock(&self, context: &Context, guest: UserId) -> Result<(), Failure> {
        let env = &self.env;
        self.executor
            .perform::<BlockGuest, _, _>(context, async |dj, _, _| {
                env.blocks.unblock(*dj, guest).await?;
                Ok(())
            })
            .await
    }
}
