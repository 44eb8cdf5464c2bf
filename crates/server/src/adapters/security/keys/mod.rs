//! The keys of access tokens: several verify, one signs, and each can be replaced without logging anybody out.
//!
//! Reading order: [`Key`] (what it is, how long it counts), [`line`] (a key as text), [`KeyRing`] (several of them),
//! [`rotate`] (a ring as it is with a new key), [`file`] (where the text is kept), [`SigningKeys`] (those in force).

mod file;
mod in_force;
mod key;
mod line;
mod ring;
mod rotation;

pub use file::rotate_file;
pub use in_force::SigningKeys;
pub use key::{Algorithm, Key, PublicKey};
pub use ring::KeyRing;
pub use rotation::{OlderKeys, Rotated, Rotation, rotate};
