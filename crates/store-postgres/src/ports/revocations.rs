//! The revocation list.

use cuepoint_domain::authorization::RevocationList;
use cuepoint_domain::ports::Unavailable;
use cuepoint_domain::timestamp::Timestamp;

use crate::PostgresStore;

impl PostgresStore {
    /// The revocation list since a time.
    pub(crate) async fn revocations(&self, since: Timestamp) -> Result<RevocationList, Unavailable> {
        Ok(self.sentinel.revoked_since(&self.database, since).await?)
    }
}
