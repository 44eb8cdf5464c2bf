//! The commands: every change of the ledger that a principal can make.

mod adjustments;
mod gigs;
mod music_requests;
mod profiles;
mod provider_messages;
mod tips;
mod topups;
mod user_status;
mod withdrawals;

pub use adjustments::*;
pub use gigs::*;
pub use music_requests::*;
pub use profiles::*;
pub use provider_messages::*;
pub use tips::*;
pub use topups::*;
pub use user_status::*;
pub use withdrawals::*;

pub use crate::application::executor::{Adjusted, Tipped, Withdrawn};
