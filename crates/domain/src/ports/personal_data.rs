//! Personal data of a user, for their export.

use async_trait::async_trait;

use crate::ids::UserId;
use crate::ports::Unavailable;
use crate::privacy::personal_data::{ExportKey, ExportList, ExportRecord};

/// Reads the personal data of a user.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait PersonalRecords: Send + Sync {
    /// The next records of a list after this key, in descending order of [`ExportRecord::key`], `limit` at
    /// most; without a key, the first ones. Fewer than `limit` records mean the end.
    ///
    /// The key need not belong to an existing record: keyset pagination neither skips nor repeats a record
    /// while others are added and deleted, and its cost does not depend on the number of preceding records.
    async fn records(
        &self,
        user: UserId,
        list: ExportList,
        after: Option<ExportKey>,
        limit: u32,
    ) -> Result<Vec<ExportRecord>, Unavailable>;
}
