//! One key: its algorithm is its own, whatever a token says.

use std::fmt;
use std::sync::Arc;

use anyhow::{Context, bail, ensure};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use biscuit::jwa::SignatureAlgorithm;
use biscuit::jws::Secret;
use clap::ValueEnum;
use cuepoint_domain::timestamp::Timestamp;
use hmac::{Hmac, KeyInit, Mac};
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair};
use secrecy::SecretString;
use secrecy::zeroize::{Zeroize, Zeroizing};
use sha2::Sha256;

use crate::adapters::security::random::{RandomSecrets, random};

/// The fewest bytes of an HS256 key.
const MIN_SECRET_BYTES: usize = 32;

/// What a key of refresh tokens is derived with, so that no key is used for two purposes.
const DERIVATION_LABEL: &[u8] = b"cuepoint refresh token derivation key v1";

/// What a key signs with.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Algorithm {
    /// HMAC with SHA-256: who verifies could sign as well.
    Hs256,
    /// ECDSA on P-256 with SHA-256: anybody may verify.
    Es256,
}

impl Algorithm {
    /// The name in a file of keys.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Hs256 => "hs256",
            Self::Es256 => "es256",
        }
    }

    /// The algorithm of this name in a file of keys.
    pub(super) fn named(name: &str) -> Option<Self> {
        [Self::Hs256, Self::Es256].into_iter().find(|algorithm| algorithm.name() == name)
    }

    /// The algorithm, as the library of tokens knows it.
    pub(in crate::adapters::security) const fn of_token(self) -> SignatureAlgorithm {
        match self {
            Self::Hs256 => SignatureAlgorithm::HS256,
            Self::Es256 => SignatureAlgorithm::ES256,
        }
    }

    /// A new key's material, in base64.
    ///
    /// # Errors
    /// When the operating system gives no randomness.
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

/// A key with its id, and when it signs and verifies.
pub struct Key {
    pub(super) id: String,
    pub(super) material: Material,
    pub(super) derivation: DerivationKey,
    /// When it begins to sign; at once without.
    pub(super) signs_from: Option<Timestamp>,
    /// When it ends to sign and to verify; never without.
    pub(super) verifies_until: Option<Timestamp>,
}

/// What a key signs and verifies with, as its algorithm has it.
pub(super) enum Material {
    Hs256(Secret),
    Es256 { pair: Secret, point: Secret, x: String, y: String },
}

/// The secret that refresh tokens and hashes of verification codes are derived with, each under a label of its own; itself
/// derived from the secret bytes of a key.
pub(in crate::adapters::security) struct DerivationKey(Zeroizing<[u8; 32]>);

impl DerivationKey {
    /// The derivation key of the secret bytes of a key.
    pub(super) fn new(secret: &[u8]) -> Self {
        Self(Zeroizing::new(mac(secret, &[DERIVATION_LABEL])))
    }

    /// The 256 bits that this key derives from the concatenation of these parts.
    pub(in crate::adapters::security) fn derive(&self, parts: &[&[u8]]) -> [u8; 32] {
        mac(&*self.0, parts)
    }
}

/// HMAC-SHA256 over the concatenation of these parts.
#[expect(clippy::expect_used, reason = "HMAC takes a key of any length")]
fn mac(key: &[u8], parts: &[&[u8]]) -> [u8; 32] {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("a key of any length");
    parts.iter().for_each(|part| mac.update(part));
    mac.finalize().into_bytes().into()
}

/// What third parties verify with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PublicKey {
    /// The key's id.
    pub id: String,
    /// The first coordinate of the point on P-256: 32 bytes, big-endian, in base64url.
    pub x: String,
    /// The second one.
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
    /// Its id, which names no secret.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The one algorithm that it is used with.
    #[must_use]
    pub const fn algorithm(&self) -> Algorithm {
        match self.material {
            Material::Hs256(_) => Algorithm::Hs256,
            Material::Es256 { .. } => Algorithm::Es256,
        }
    }

    /// What it signs with.
    pub(in crate::adapters::security) const fn signing(&self) -> &Secret {
        match &self.material {
            Material::Hs256(secret) | Material::Es256 { pair: secret, .. } => secret,
        }
    }

    /// What it verifies with.
    pub(in crate::adapters::security) const fn verifying(&self) -> &Secret {
        match &self.material {
            Material::Hs256(secret) | Material::Es256 { point: secret, .. } => secret,
        }
    }

    /// What refresh tokens and hashes of verification codes are derived with.
    pub(in crate::adapters::security) const fn derivation(&self) -> &DerivationKey {
        &self.derivation
    }

    /// When what it signed ends to count; never where there is none.
    pub(in crate::adapters::security) const fn verifies_until(&self) -> Option<Timestamp> {
        self.verifies_until
    }

    /// Whether it may sign at this moment.
    pub(super) fn signs(&self, now: Timestamp) -> bool {
        self.signs_from.is_none_or(|from| now >= from) && self.verifies(now)
    }

    /// Whether what it signed counts at this moment. It does before the key begins to sign: the clock of another server
    /// may be ahead.
    pub(super) fn verifies(&self, now: Timestamp) -> bool {
        self.verifies_until.is_none_or(|until| now < until)
    }

    /// What others verify with, where they can.
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
    /// A secret of 32 bytes or more, or PKCS #8 of a P-256 key with its public key.
    ///
    /// # Errors
    /// When it is something else, in words that show nothing of it.
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
        // An uncompressed point is the byte 4 and two coordinates of 32 bytes.
        let (Some((4, coordinates)), 65) = (point.split_first(), point.len()) else {
            bail!("the key's public key is no uncompressed point");
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
