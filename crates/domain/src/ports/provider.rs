//! The payment provider and the payout provider.

use async_trait::async_trait;

use crate::ports::Unavailable;
use crate::text::Line;
use crate::topup::{OrderReply, Topup};
use crate::withdrawal::{PayoutUpdate, Withdrawal};

/// How a provider handles a new top-up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Intake {
    /// This deployment takes no top-ups.
    NotOffered,
    /// It has the money immediately.
    Confirmed,
    /// It learns of the top-up through another channel, and reports the payment later.
    Announced,
    /// It needs an order, and reports the payment later.
    Ordered,
}

/// The outcome of ordering a top-up.
#[derive(Debug)]
pub enum OrderAnswer {
    /// The provider's reply.
    Replied(OrderReply),
    /// There is no readable reply: the provider may have the order or not.
    Unknown(Unavailable),
}

/// Takes money from guests.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait TopupProvider: Send + Sync {
    /// How it handles a new top-up.
    fn intake(&self) -> Intake;

    /// Orders a top-up within a bounded time. The provider executes repeated orders with one
    /// [`Topup::reference`] once.
    async fn order(&self, topup: &Topup) -> OrderAnswer;
}

/// The outcome of sending a withdrawal to the payout provider.
#[derive(Debug)]
pub enum PayoutAnswer {
    /// The provider's reply, with its reason if it gave one.
    Replied(PayoutUpdate, Option<Line>),
    /// There is no readable reply: the withdrawal may have been sent or not.
    Unknown(Unavailable),
}

/// Sends payouts.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait PayoutProvider: Send + Sync {
    /// Whether payouts are automatic; otherwise operators send them by hand.
    fn sends(&self) -> bool;

    /// Sends a withdrawal within a bounded time. The provider executes repeated orders with one
    /// [`Withdrawal::reference`] once.
    async fn send(&self, withdrawal: &Withdrawal) -> PayoutAnswer;
}
