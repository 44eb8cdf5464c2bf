//! Reads of single rows by their ids and of lists of music requests, which most requests need: concurrent reads
//! share a statement.

use cuepoint_domain::ids::{RequestId, TopupId, UserId, WithdrawalId};
use cuepoint_domain::ledger::Balance;
use cuepoint_domain::music_request::{MusicRequest, RequestFilter};
use cuepoint_domain::page::{PageRequest, Rows};
use cuepoint_domain::ports::{Profile, Unavailable};
use cuepoint_domain::topup::Topup;
use cuepoint_domain::withdrawal::Withdrawal;

use crate::PostgresStore;
use crate::reads::ProfileRow;
use crate::reads::request_lists::RequestList;

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

    /// The balance of a user's wallet.
    pub(crate) async fn balance_by_id(&self, user: UserId) -> Result<Option<Balance>, Unavailable> {
        let row = self.together().wallets.find(user.get()).await?;
        row.map(|row| row.balance(&self.currency)).transpose().map_err(Unavailable::new)
    }

    /// A music request.
    pub(crate) async fn request_by_id(&self, id: RequestId) -> Result<Option<MusicRequest>, Unavailable> {
        let row = self.together().requests.find(id.get()).await?;
        row.map(|row| row.request(&self.currency)).transpose().map_err(Unavailable::new)
    }

    /// A page of the music requests that match a filter.
    pub(crate) async fn request_list(
        &self,
        filter: &RequestFilter,
        asked: PageRequest,
    ) -> Result<Rows<MusicRequest>, Unavailable> {
        let list = RequestList { filter: *filter, page: asked };
        let counted = self.together().request_lists.read(list).await?;
        counted.page(|row| row.request(&self.currency)).map_err(Unavailable::new)
    }

    /// A withdrawal.
    pub(crate) async fn withdrawal_by_id(&self, id: WithdrawalId) -> Result<Option<Withdrawal>, Unavailable> {
        let row = self.together().withdrawals.find(id.get()).await?;
        row.map(|row| row.withdrawal(&self.currency)).transpose().map_err(Unavailable::new)
    }

    /// A top-up.
    pub(crate) async fn topup_by_id(&self, id: TopupId) -> Result<Option<Topup>, Unavailable> {
        let row = self.together().topups.find(id.get()).await?;
        row.map(|row| row.topup(&self.currency)).transpose().map_err(Unavailable::new)
    }
}
