//! People: who they are, what DJs charge, and which of it they may change.

mod profile;
mod user;

pub use profile::{Field, Locate, ProfileChange, ProfileRefusal, change_profile};
pub use user::{ArtistType, Coordinates, DjProfile, Kilometres, Rating, Role, User};
