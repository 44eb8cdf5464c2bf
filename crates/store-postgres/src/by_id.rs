//! Reads of single rows by their ids, which most requests need: those of one moment share a statement.

use cuepoint_domain::ids::UserId;
use cuepoint_domain::ports::{Profile, Unavailable};

use crate::PostgresStore;
use crate::reads::ProfileRow;

impl PostgresStore {
    /// A user and their balance.
    pub(crate) async fn profile_by_id(&self, id: UserId) -> Result<Option<Profile>, Unavailable> {
        let Some(ProfileRow { user, wallet }) = self.together().profiles.find(id.get()).await? else {
            return Ok(None);
        };
        let balance = wallet.balance(&self.currency).map_err(Unavailable::new)?;
        let user = user.user(&self.currency).map_err(Unavailable::new)?;
        Ok(Some(Profile { user, balance }))
    }
}
