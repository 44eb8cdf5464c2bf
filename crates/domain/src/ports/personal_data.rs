//! Everything that is kept about a person, for their export.

use async_trait::async_trait;

use crate::account::personal_data::{Part, Place, Record};
use crate::ids::UserId;
use crate::ports::Unavailable;

/// Reads what is kept about a person.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait PersonalRecords: Send + Sync {
    /// The next records of a part behind this place, in descending order of [`Record::place`], `limit` at most; without a
    /// place, the first ones. Fewer than `limit` are the last ones.
    ///
    /// The place need not be that of a record that is still there, so that no record is missed or comes twice while others
    /// come and go. The time that it takes does not depend on how many records come before.
    ///
    /// # Errors
    /// [`Unavailable`].
    async fn records(
        &self,
        user: UserId,
        part: Part,
        after: Option<Place>,
        limit: u32,
    ) -> Result<Vec<Record>, Unavailable>;
}
