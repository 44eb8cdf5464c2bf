//! Tips in the wallet.

use cuepoint_domain::tip::{Tip, TipDirection};

use crate::frame::Frame;
use crate::texts::Text;

/// A tip that the owner gave or received. Neither side sees the other one here.
#[derive(Clone, Copy, Debug)]
pub struct TipRow<'a> {
    pub tip: &'a Tip,
    pub direction: TipDirection,
}

impl TipRow<'_> {
    pub(crate) fn label(&self, frame: &Frame<'_>) -> Text {
        match self.direction {
            TipDirection::Given => frame.t.tip_given(),
            TipDirection::Received => frame.t.tip_received(),
        }
    }

    /// Whether the part of the platform is shown: the receiver gets the rest.
    pub(crate) fn shows_share(&self) -> bool {
        self.direction == TipDirection::Received && !self.tip.commission.is_zero()
    }
}
