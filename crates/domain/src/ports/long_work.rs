//! Threads for work whose size users choose.

use async_trait::async_trait;
use thiserror::Error;

use crate::ids::UserId;
use crate::ports::Task;

/// Why long work was not done.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum LongWorkRefusal {
    /// The work waited too long for its turn.
    #[error("long work waited too long for its turn")]
    Busy,
    /// The work was interrupted.
    #[error("long work was interrupted")]
    Interrupted,
}

/// Does work whose size users choose, on threads that answer no requests.
#[async_trait]
pub trait LongWork: Send + Sync {
    /// Does work in the turn of a DJ. Each DJ has one piece of work at a time. The server has a few, because everybody can
    /// become a DJ. Work may continue after its caller has left.
    ///
    /// # Errors
    /// [`LongWorkRefusal::Busy`] after a wait of a few seconds.
    async fn in_turn_of(&self, dj: UserId, work: Task) -> Result<(), LongWorkRefusal>;
}
