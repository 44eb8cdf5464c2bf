//! Nobody takes money.

use async_trait::async_trait;
use cuepoint_domain::ports::{Intake, OrderAnswer, TopupProvider, Unavailable};
use cuepoint_domain::topup::Topup;
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
    fn intake(&self) -> Result<Intake, Unavailable> {
        Err(Unavailable::new(NoTopups))
    }

    async fn order(&self, _: &Topup) -> OrderAnswer {
        OrderAnswer::Unknown(Unavailable::new(NoTopups))
    }
}
