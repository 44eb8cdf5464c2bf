//! Nobody takes money.

use async_trait::async_trait;
use cuepoint_domain::ids::TopupId;
use cuepoint_domain::money::Amount;
use cuepoint_domain::ports::{TopupProvider, Unavailable};
use cuepoint_domain::topup::Charge;

/// Refuses every top-up.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoProvider;

#[async_trait]
impl TopupProvider for NoProvider {
    async fn charge(&self, _: TopupId, _: Amount) -> Result<Charge, Unavailable> {
        Err(Unavailable::new("topups.provider is none"))
    }
}
