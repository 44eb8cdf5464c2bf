//! Users: profiles, DJs' prices, and the changes that users and operators may make.

mod block;
pub mod challenge;
pub mod code_quotas;
pub mod email_change;
mod erasure;
pub mod personal_data;
mod profile;
pub mod security_log;
pub mod session;
mod status_change;
mod user;

pub use block::Block;
pub use erasure::{ErasureRefusal, erase};
pub use profile::{DjChange, Field, Locate, ProfileChange, ProfileRefusal, change_profile};
pub use status_change::{
    AccountStatusChange, change_account_status, ends_sessions, leaves_an_operator, may_dismiss,
};
pub use user::{ArtistType, Coordinates, DjProfile, Kilometres, Rating, Role, User};
