//! SHA-256.

use ring::digest::{SHA256, digest};

/// Returns the SHA-256 of a text.
#[expect(clippy::expect_used, reason = "a SHA-256 has 32 bytes")]
pub(crate) fn sha256(text: &[u8]) -> [u8; 32] {
    digest(&SHA256, text).as_ref().try_into().expect("32 bytes")
}

/// Fields, each prefixed with its length in bytes, so that distinct fields never have the same checksum.
pub(crate) struct ChecksumFields(Vec<u8>);

impl ChecksumFields {
    /// No fields, with room for this many bytes.
    pub(crate) fn with_capacity(bytes: usize) -> Self {
        Self(Vec::with_capacity(bytes))
    }

    /// Adds a field.
    pub(crate) fn push(&mut self, field: &[u8]) {
        let length = u64::try_from(field.len()).unwrap_or(u64::MAX);
        self.0.extend_from_slice(&length.to_be_bytes());
        self.0.extend_from_slice(field);
    }

    /// The SHA-256 of all fields.
    pub(crate) fn sha256(&self) -> [u8; 32] {
        sha256(&self.0)
    }
}
