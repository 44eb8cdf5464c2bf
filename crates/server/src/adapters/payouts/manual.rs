//! Operators send by hand, and say so through the API.

use async_trait::async_trait;
use cuepoint_domain::ports::{PayoutAnswer, PayoutProvider, Unavailable};
use cuepoint_domain::withdrawal::Withdrawal;

/// Sends nothing by itself.
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
