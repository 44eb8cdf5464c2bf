//! A signing key, bound to one algorithm regardless of the header of a token.

use std::fmt;
use std::sync::Arc;

use anyhow::{Context, bail, ensure};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use biscuit::jwa::SignatureAlgorithm;
use biscuit::jws::Secret;
use cuepoint_domain::timestamp::Timestamp;
use hmac::{Hmac, KeyInit, Mac};
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair};
use secrecy::SecretString;
use secrecy::zeroize::{Zeroize, Zeroizing};
use sha2::Sha256;
use time::Date;
use time::format_description::StaticFormatDescription;
use time::macros::format_description;

use crate::security::random::{RandomSecrets, random};

/// The minimum length of an HS256 key in bytes.
const MIN_SECRET_BYTES: usize = 32;

/// The label under which refresh token keys are derived, so that no key serves two purposes.
const DERIVATION_LABEL: &[u8] = b"cuepoint refresh token derivation key v1";

/// The date at the beginning of a generated id.
const DATE: StaticFormatDescription = format_description!("[year]-[month]-[day]");

/// A signature algorithm.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Algorithm {
    /// HMAC with SHA-256: verifiers hold the key and could sign.
    Hs256,
    /// ECDSA on P-256 with SHA-256: anyone can verify with the public key.
    Es256,
}

impl Algorithm {
    /// Returns the name in key files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Hs256 => "hs256",
            Self::Es256 => "es256",
        }
    }

    /// Returns the algorithm with a name from a key file.
    pub(super) fn named(name: &str) -> Option<Self> {
        [Self::Hs256, Self::Es256].into_iter().find(|algorithm| algorithm.name() == name)
    }

    /// Returns the algorithm as defined by the token library.
    pub(in crate::security) const fn of_token(self) -> SignatureAlgorithm {
        match self {
            Self::Hs256 => SignatureAlgorithm::HS256,
            Self::Es256 => SignatureAlgorithm::ES256,
        }
    }

    /// Generates the material of a new key, in base64.
    ///
    /// # Errors
    /// When the operating system provides no randomness.
    pub(super) fn generate(self, secrets: RandomSecrets) -> anyhow::Result<SecretString> {
        let bytes = Zeroizing::new(match self {
            Self::Hs256 => random::<MIN_SECRET_BYTES>(secrets).to_vec(),
            Self::Es256 => {
                let made =
                    EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &SystemRandom::new());
                made.ok().context("a key cannot be generated")?.as_ref().to_vec()
            }
        });
        Ok(STANDARD.encode(bytes.as_slice()).into())
    }
}

/// A key with its id and validity.
pub struct Key {
    pub(super) id: String,
    pub(super) material: Material,
    pub(super) derivation: DerivationKey,
    /// The time from which the key signs; `None` means immediately.
    pub(super) signs_from: Option<Timestamp>,
    /// The time at which the key stops signing and verifying; `None` means never.
    pub(super) verifies_until: Option<Timestamp>,
}

/// The key material of an algorithm.
pub(super) enum Material {
    Hs256(Secret),
    Es256 { pair: Secret, point: Secret, x: String, y: String },
}

/// A secret, derived from the bytes of a key, from which refresh tokens and hashes of verification codes are
/// derived, each under a separate label.
pub(in crate::security) struct DerivationKey(Zeroizing<[u8; 32]>);

impl DerivationKey {
    /// Derives the secret from the bytes of a key.
    pub(super) fn new(secret: &[u8]) -> Self {
        Self(Zeroizing::new(mac(secret, &[DERIVATION_LABEL])))
    }

    /// Derives 256 bits from the concatenation of the parts.
    pub(in crate::security) fn derive(&self, parts: &[&[u8]]) -> [u8; 32] {
        mac(&*self.0, parts)
    }

    /// Returns whether this base64url text is what is derived from the parts, in a time that does not depend on it.
    pub(in crate::security) fn verifies(&self, parts: &[&[u8]], text: &str) -> bool {
        let mut mac = keyed(&*self.0);
        parts.iter().for_each(|part| mac.update(part));
        URL_SAFE_NO_PAD.decode(text).is_ok_and(|bytes| mac.verify_slice(&bytes).is_ok())
    }
}

#[expect(clippy::expect_used, reason = "HMAC takes a key of any length")]
fn keyed(key: &[u8]) -> Hmac<Sha256> {
    Hmac::<Sha256>::new_from_slice(key).expect("a key of any length")
}

/// Returns the HMAC-SHA256 of the concatenation of the parts.
fn mac(key: &[u8], parts: &[&[u8]]) -> [u8; 32] {
    let mut mac = keyed(key);
    parts.iter().for_each(|part| mac.update(part));
    mac.finalize().into_bytes().into()
}

/// A public key, with which third parties verify tokens.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PublicKey {
    /// The key's id.
    pub id: String,
    /// The x-coordinate of the point on P-256: 32 bytes, big-endian, in base64url.
    pub x: String,
    /// The y-coordinate, in the same format.
    pub y: String,
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Key")
            .field("id", &self.id)
            .field("algorithm", &self.algorithm())
            .field("signs_from", &self.signs_from)
            .field("verifies_until", &self.verifies_until)
            .finish_non_exhaustive()
    }
}

impl Key {
    /// Returns the id, which is not secret.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the only algorithm of the key.
    #[must_use]
    pub const fn algorithm(&self) -> Algorithm {
        match self.material {
            Material::Hs256(_) => Algorithm::Hs256,
            Material::Es256 { .. } => Algorithm::Es256,
        }
    }

    /// Returns the time since which the key signs, as its line or the date in its id says; `None` if neither does.
    #[must_use]
    pub fn signs_since(&self) -> Option<Timestamp> {
        let date = self.id.get(..10).and_then(|date| Date::parse(date, DATE).ok());
        self.signs_from.or_else(|| date.map(|date| Timestamp::new(date.midnight().assume_utc())))
    }

    /// Returns the secret that signs.
    pub(in crate::security) const fn signing(&self) -> &Secret {
        match &self.material {
            Material::Hs256(secret) | Material::Es256 { pair: secret, .. } => secret,
        }
    }

    /// Returns the secret that verifies.
    pub(in crate::security) const fn verifying(&self) -> &Secret {
        match &self.material {
            Material::Hs256(secret) | Material::Es256 { point: secret, .. } => secret,
        }
    }

    /// Returns the key from which refresh tokens and hashes of verification codes are derived.
    pub(in crate::security) const fn derivation(&self) -> &DerivationKey {
        &self.derivation
    }

    /// Returns the time at which signatures of the key expire; `None` means never.
    pub(in crate::security) const fn verifies_until(&self) -> Option<Timestamp> {
        self.verifies_until
    }

    /// Returns whether the key may sign at `now`.
    pub(super) fn signs(&self, now: Timestamp) -> bool {
        self.signs_from.is_none_or(|from| now >= from) && self.verifies(now)
    }

    /// Returns whether signatures of the key are valid at `now`. This includes the time before it signs,
    /// because the clock of another server may be ahead.
    pub(super) fn verifies(&self, now: Timestamp) -> bool {
        self.verifies_until.is_none_or(|until| now < until)
    }

    /// Returns the public key of an asymmetric key.
    pub(super) fn public(&self) -> Option<PublicKey> {
        match &self.material {
            Material::Hs256(_) => None,
            Material::Es256 { x, y, .. } => {
                Some(PublicKey { id: self.id.clone(), x: x.clone(), y: y.clone() })
            }
        }
    }
}

impl Material {
    /// Parses a secret of 32 bytes or more, or a P-256 key in PKCS #8 with its public key.
    ///
    /// # Errors
    /// When the bytes are neither; the error does not contain them.
    pub(super) fn new(algorithm: Algorithm, mut bytes: Zeroizing<Vec<u8>>) -> anyhow::Result<Self> {
        match algorithm {
            Algorithm::Hs256 => {
                ensure!(bytes.len() >= MIN_SECRET_BYTES, "the key is shorter than {MIN_SECRET_BYTES} bytes");
                Ok(Self::Hs256(Secret::Bytes(std::mem::take(&mut *bytes))))
            }
            Algorithm::Es256 => Self::es256(&bytes),
        }
    }

    fn es256(pkcs8: &[u8]) -> anyhow::Result<Self> {
        let read = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8, &SystemRandom::new());
        let Ok(pair) = read else { bail!("the key is not PKCS #8 of a P-256 key with its public key") };
        let point = pair.public_key().as_ref().to_vec();
        // An uncompressed point is the byte 4 followed by two coordinates of 32 bytes.
        let (Some((4, coordinates)), 65) = (point.split_first(), point.len()) else {
            bail!("the key's public key is not an uncompressed point");
        };
        let (x, y) = coordinates.split_at(32);
        let (x, y) = (URL_SAFE_NO_PAD.encode(x), URL_SAFE_NO_PAD.encode(y));
        Ok(Self::Es256 { pair: Secret::EcdsaKeyPair(Arc::new(pair)), point: Secret::PublicKey(point), x, y })
    }
}

impl Drop for Material {
    fn drop(&mut self) {
        if let Self::Hs256(Secret::Bytes(bytes)) = self {
            bytes.zeroize();
        }
    }
}
