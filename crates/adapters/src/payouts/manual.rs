//! Manual payouts, which operators send and report through the API.

use async_trait::async_trait;
use cuepoint_domain::ports::{PayoutAnswer, PayoutProvider, Unavailable};
use cuepoint_domain::withdrawal::Withdrawal;

/// A provider that sends nothing by itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct Manual;

#[async_trait]
impl PayoutProvider for Manual {
    fn sends(&self) -> bool {
        false
    }

    async fn send(&self, _: &Withdrawal) -> PayoutAnswer {
        PayoutAnswer::Unknown(Unavailable::new("payouts.provider is manual"))
    }
}
