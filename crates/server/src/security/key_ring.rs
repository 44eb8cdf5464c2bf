//! The keys of access tokens: several verify, so that one can be replaced; the first signs.

use std::fs::{self, Metadata};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use anyhow::{Context, bail, ensure};
use base64::Engine;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use biscuit::Empty;
use biscuit::jwa::{Algorithm, SignatureAlgorithm};
use biscuit::jwk::{JWK, JWKSet};
use biscuit::jws::Secret;

use super::secrets::{RandomSecrets, random};

/// The one algorithm of access tokens.
pub(super) const ALGORITHM: SignatureAlgorithm = SignatureAlgorithm::HS256;

/// The fewest bytes of a key.
const MIN_KEY_BYTES: usize = 32;

const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Keys by id.
pub struct KeyRing {
    pub(super) keys: JWKSet<Empty>,
    pub(super) signing_id: String,
    pub(super) signing_key: Secret,
}

impl std::fmt::Debug for KeyRing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "KeyRing({} keys, {:?} signs)", self.keys.keys.len(), self.signing_id)
    }
}

impl KeyRing {
    /// A ring with one random key, which nobody else has and which ends with the process.
    #[must_use]
    pub fn random(secrets: RandomSecrets) -> Self {
        Self::new("process".to_owned(), random::<MIN_KEY_BYTES>(secrets).to_vec(), Vec::new())
    }

    /// The ring in a file that nobody but its owner can read.
    ///
    /// # Errors
    /// When it cannot be read, others may read it, or it is not as [`KeyRing::parse`] expects.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let cannot = || format!("{} cannot be read", path.display());
        let metadata = fs::metadata(path).with_context(cannot)?;
        only_for_its_owner(&metadata).with_context(|| path.display().to_string())?;
        let text = fs::read_to_string(path).with_context(cannot)?;
        Self::parse(&text).with_context(|| path.display().to_string())
    }

    /// The ring in a text of one `kid:key` a line, the key in base64; empty lines and those after a `#` do not count.
    ///
    /// # Errors
    /// When a line is something else, a key is shorter than 32 bytes, an id comes twice, or there is no key at all.
    pub fn parse(text: &str) -> anyhow::Result<Self> {
        let mut keys: Vec<(String, Vec<u8>)> = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let number = index.saturating_add(1);
            let (id, key) = parse_line(line).with_context(|| format!("line {number}"))?;
            ensure!(keys.iter().all(|(other, _)| *other != id), "line {number}: the key id {id} comes twice");
            keys.push((id, key));
        }
        let mut keys = keys.into_iter();
        match keys.next() {
            Some((id, key)) => Ok(Self::new(id, key, keys.collect())),
            None => bail!("it holds no key"),
        }
    }

    fn new(signing_id: String, signing_key: Vec<u8>, others: Vec<(String, Vec<u8>)>) -> Self {
        let first = (signing_id.clone(), signing_key.clone());
        let keys = std::iter::once(first).chain(others).map(|(id, key)| jwk(id, &key)).collect();
        Self { keys: JWKSet { keys }, signing_id, signing_key: Secret::Bytes(signing_key) }
    }
}

fn parse_line(line: &str) -> anyhow::Result<(String, Vec<u8>)> {
    // Neither message shows the line, which may be a key.
    let (id, key) = line.split_once(':').context("is not `kid:key`")?;
    let fits = (1..=64).contains(&id.len())
        && id.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'));
    ensure!(fits, "a key id has 1 to 64 letters, digits, dots, dashes or underscores");
    let Ok(key) = BASE64.decode(key.trim()) else { bail!("the key {id} is not base64") };
    ensure!(key.len() >= MIN_KEY_BYTES, "the key {id} is shorter than {MIN_KEY_BYTES} bytes");
    Ok((id.to_owned(), key))
}

fn jwk(id: String, key: &[u8]) -> JWK<Empty> {
    let mut jwk = JWK::new_octet_key(key, Empty {});
    jwk.common.key_id = Some(id);
    jwk.common.algorithm = Some(Algorithm::Signature(ALGORITHM));
    jwk
}

fn only_for_its_owner(metadata: &Metadata) -> anyhow::Result<()> {
    let mode = metadata.permissions().mode() & 0o777;
    ensure!(mode & 0o177 == 0, "its mode is {mode:04o}, and may be 0600 at most");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

    fn refused(text: &str, reason: &str) {
        let error = format!("{:#}", KeyRing::parse(text).unwrap_err());
        assert!(error.contains(reason), "{text:?}: {error}");
        assert!(!error.contains("AAECAwQF"), "{error}");
    }

    #[test]
    fn the_first_key_signs() {
        let ring = KeyRing::parse(&format!("# keys\n\n new:{KEY}\nold: {}\n", KEY.trim_end_matches('=')));
        let ring = ring.unwrap();
        assert_eq!(ring.signing_id, "new");
        assert_eq!(ring.keys.keys.len(), 2);
    }

    #[test]
    fn rings_that_are_none() {
        refused("", "it holds no key");
        refused("# only a remark", "it holds no key");
        refused(KEY, "line 1: is not `kid:key`");
        refused(&format!("a:{KEY}\na:{KEY}"), "line 2: the key id a comes twice");
        refused(&format!(":{KEY}"), "line 1: a key id has");
        refused(&format!("a b:{KEY}"), "line 1: a key id has");
        refused("a:AAECAwQF", "line 1: the key a is shorter than 32 bytes");
        refused(&format!("a:{KEY}!"), "line 1: the key a is not base64");
    }

    #[test]
    fn a_file_that_others_can_read_is_refused() {
        let path = std::env::temp_dir().join(format!("cuepoint-key-ring-{}", std::process::id()));
        fs::write(&path, format!("a:{KEY}\n")).unwrap();
        for (mode, accepted) in [(0o600, true), (0o400, true), (0o640, false), (0o644, false), (0o700, false)]
        {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            let read = KeyRing::read(&path);
            assert_eq!(read.is_ok(), accepted, "{mode:o}: {read:?}");
        }
        fs::remove_file(&path).unwrap();
        let error = KeyRing::read(&path).unwrap_err();
        assert!(format!("{error:#}").contains("cannot be read"), "{error:#}");
    }
}
