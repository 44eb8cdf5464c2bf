//! Checks that public keys are points of their curve: without a point, there is no private key.

use curve25519_dalek::edwards::CompressedEdwardsY;
use k256::elliptic_curve::point::DecompactPoint;
use k256::{AffinePoint, FieldBytes};

/// The length of a public key of either curve, in bytes.
pub(super) const KEY_LENGTH: usize = 32;

/// Whether a taproot output key is the x-coordinate of a point of secp256k1: `lift_x` of BIP-340 succeeds.
pub(super) fn is_taproot_key(x: &[u8; KEY_LENGTH]) -> bool {
    AffinePoint::decompact(&FieldBytes::from(*x)).is_some().into()
}

/// Whether these bytes are an ed25519 public key that a private key can produce: the canonical encoding of a
/// point of the prime-order subgroup other than its identity.
///
/// Keys are multiples of the base point (RFC 8032, 5.1.5), which generates that subgroup. Verifiers
/// themselves refuse points of small order and other encodings: Solana's by `verify_strict`, Stellar's by
/// libsodium.
pub(super) fn is_ed25519_key(key: &[u8; KEY_LENGTH]) -> bool {
    CompressedEdwardsY(*key).decompress().is_some_and(|point| {
        point.compress().as_bytes() == key && !point.is_small_order() && point.is_torsion_free()
    })
}
