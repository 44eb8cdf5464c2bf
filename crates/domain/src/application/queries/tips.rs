//! Tips, as the guests who gave them and the DJs who received them see them.

use std::sync::Arc;

use crate::application::environment::Environment;
use crate::application::error::Failure;
use crate::application::executor::Authorized;
use crate::application::queries::gig_of_code::present_user;
use crate::authorization::{Principal, permission};
use crate::ids::{GigId, TipId};
use crate::money::Money;
use crate::page::{PageRequest, Rows};
use crate::text::Line;
use crate::tip::{self, Tip, TipDirection, TipFilter};

/// Reads tips.
#[derive(Clone)]
pub struct TipQueries {
    pub(in crate::application) env: Arc<Environment>,
}

impl TipQueries {
    /// A page of the tips that the principal gave or received, newest first.
    pub async fn list(
        &self,
        principal: &Principal,
        direction: TipDirection,
        page: PageRequest,
    ) -> Result<Rows<Tip>, Failure> {
        let user = *Authorized::<_, permission::TipDj>::own(principal)?;
        Ok(self.env.tips.tips(&TipFilter { user, direction }, page).await?)
    }

    /// The name of the DJ to whom the principal gave this tip.
    ///
    /// # Errors
    /// [`Failure::NotFound`] unless the principal gave it, and if the DJ was erased.
    pub async fn dj_of(&self, principal: &Principal, id: TipId) -> Result<Line, Failure> {
        let guest = *Authorized::<_, permission::TipDj>::own(principal)?;
        let tip = self.env.ledger.stored(id).await?.filter(|tip| tip.guest == guest);
        let dj = present_user(&self.env, tip.ok_or(Failure::NotFound)?.dj).await?;
        Ok(dj.ok_or(Failure::NotFound)?.name)
    }
}

/// The sum of the tips in a gig, before the commission.
pub(super) async fn tips_in(env: &Environment, gig: GigId) -> Result<Money, Failure> {
    tip::sum(env.tips.tips_in_gig(gig).await?).ok_or(Failure::OutOfRange)
}
