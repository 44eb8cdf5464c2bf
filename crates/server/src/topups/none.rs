//! Nobody takes money.

use async_trait::async_trait;
use cuepoint_domain::ids::TopupId;
use cuepoint_domain::money::Amount;
use cuepoint_domain::ports::{TopupProvider, Unavailable};
use cuepoint_domain::provider_reference::ProviderReference;
use cuepoint_domain::topup::Charge;
use thiserror::Error;

/// Why: nobody takes money in this deployment.
#[derive(Clone, Copy, Debug, Error)]
#[error("topups.provider is none")]
pub struct NoTopups;

/// Refuses every top-up.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoProvider;

#[async_trait]
impl TopupProvider for NoProvider {
    async fn charge(&self, _: TopupId, _: ProviderReference, _: Amount) -> Result<Charge, Unavailable> {
        Err(Unavailable::new(NoTopups))
    }
}
