//! Keys in a file: the signing keys of access tokens, of which one signs and several verify, and the keys of webhook
//! secrets, of which one encrypts and all decrypt. Each can be rotated: no user is logged out, and no secret is lost.
//!
//! Reading order: [`Key`] (algorithm and validity), [`line`] (text format of a key), [`KeyRing`] (the keys of
//! a file), [`rotate`] (adding a new key), [`file`] (the key file), [`KeysInForce`] (the keys in force).

mod file;
mod in_force;
mod key;
mod line;
mod ring;
mod rotation;

pub use file::{create_file, rotate_file};
pub use in_force::KeysInForce;
pub use key::{Algorithm, Key, PublicKey};
pub use ring::KeyRing;
pub use rotation::{OlderKeys, Rotated, Rotation, rotate};
