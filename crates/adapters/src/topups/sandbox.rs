//! Simulated providers, for trying the service without money.

use async_trait::async_trait;
use cuepoint_domain::ports::{Intake, OrderAnswer, TopupProvider, Unavailable};
use cuepoint_domain::text::PaymentUrl;
use cuepoint_domain::topup::{OrderReply, Topup};

use crate::link_template::LinkTemplate;

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

/// A provider with a payment page of this service, on which a tester ends each payment.
#[derive(Clone, Debug)]
pub struct SandboxWithPage {
    page: LinkTemplate,
}

impl SandboxWithPage {
    /// The provider with a payment page at this address, with a place for the reference of the top-up.
    #[must_use]
    pub const fn new(page: LinkTemplate) -> Self {
        Self { page }
    }
}

#[async_trait]
impl TopupProvider for SandboxWithPage {
    fn intake(&self) -> Intake {
        Intake::Ordered
    }

    async fn order(&self, topup: &Topup) -> OrderAnswer {
        match PaymentUrl::new(&self.page.link(&topup.reference().to_string())) {
            Ok(page) => OrderAnswer::Replied(OrderReply::Taken { page: Some(page) }),
            Err(error) => OrderAnswer::Unknown(Unavailable::new(error)),
        }
    }
}
