//! A simulated provider, for trying the service without money.

use async_trait::async_trait;
use cuepoint_domain::ports::{Intake, OrderAnswer, TopupProvider, Unavailable};
use cuepoint_domain::topup::Topup;

/// A provider that confirms every top-up immediately.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sandbox;

#[async_trait]
impl TopupProvider for Sandbox {
    fn intake(&self) -> Intake {
        Intake::Confirmed
    }

    async fn order(&self, _: &Topup) -> OrderAnswer {
        OrderAnswer::Unknown(Unavailable::new("topups.provider is sandbox, which takes no payment requests"))
    }
}
