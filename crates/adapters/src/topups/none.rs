//! Deployments without top-ups.

use async_trait::async_trait;
use cuepoint_domain::ports::{Intake, OrderAnswer, TopupProvider, Unavailable};
use cuepoint_domain::topup::Topup;

/// A provider that offers no top-ups.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoProvider;

#[async_trait]
impl TopupProvider for NoProvider {
    fn intake(&self) -> Intake {
        Intake::NotOffered
    }

    async fn order(&self, _: &Topup) -> OrderAnswer {
        OrderAnswer::Unknown(Unavailable::new("topups.provider is none"))
    }
}
