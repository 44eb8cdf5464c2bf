//! The signing keys of access tokens: one signs, several verify, and each can be rotated without logging
//! users out.
//!
//! Reading order: [`Key`] (algorithm and validity), [`line`] (text format of a key), [`KeyRing`] (the keys of
//! a file), [`rotate`] (adding a new key), [`file`] (the key file), [`SigningKeys`] (the keys in force).

mod file;
mod in_force;
mod key;
mod line;
mod ring;
mod rotation;

pub use file::{create_file, rotate_file};
pub use in_force::SigningKeys;
pub use key::{Algorithm, Key, PublicKey};
pub use ring::KeyRing;
pub use rotation::{OlderKeys, Rotated, Rotation, rotate};
