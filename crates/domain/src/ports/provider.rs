//! Whoever takes the guests' money, and whoever sends it out.

use async_trait::async_trait;

use crate::ports::Unavailable;
use crate::text::Line;
use crate::topup::{OrderReply, Topup};
use crate::withdrawal::{PayoutUpdate, Withdrawal};

/// How a provider takes a new top-up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Intake {
    /// This deployment takes no top-ups.
    NotOffered,
    /// It has the money at once.
    Confirmed,
    /// It learns of the top-up by other means, and reports later whether the money came.
    Announced,
    /// It needs an order, and reports later whether the money came.
    Ordered,
}

/// The outcome of an order of a top-up.
#[derive(Debug)]
pub enum OrderAnswer {
    /// The provider said so.
    Said(OrderReply),
    /// There is no answer, or none that can be read: the provider may have the order or not.
    Unknown(Unavailable),
}

/// Takes money from guests.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait TopupProvider: Send + Sync {
    /// How it takes a new top-up.
    fn intake(&self) -> Intake;

    /// Orders a top-up, once for each [`Topup::reference`] however often it is called; within a bounded time.
    async fn order(&self, topup: &Topup) -> OrderAnswer;
}

/// What became of giving a withdrawal to the payout provider.
#[derive(Debug)]
pub enum PayoutAnswer {
    /// The provider said so, perhaps for a reason.
    Said(PayoutUpdate, Option<Line>),
    /// There is no answer, or none that can be read: it may have been sent or not.
    Unknown(Unavailable),
}

/// Sends money out.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait PayoutProvider: Send + Sync {
    /// Whether it sends by itself; otherwise operators do it by hand.
    fn sends(&self) -> bool;

    /// Sends a withdrawal, once for each [`Withdrawal::reference`] however often it is called; within a bounded time.
    async fn send(&self, withdrawal: &Withdrawal) -> PayoutAnswer;
}
