//! The keys in force, as last read.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use anyhow::{Context, ensure};
use cuepoint_domain::timestamp::Timestamp;
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};

use super::{KeyRing, file};

/// The current keys, cached in memory; only [`KeysInForce::reload`] reads the file again. Clones
/// share their keys.
#[derive(Clone)]
pub struct KeysInForce {
    ring: Arc<RwLock<Arc<KeyRing>>>,
    file: Option<Arc<KeyFile>>,
}

/// A key file and its last known content.
struct KeyFile {
    path: PathBuf,
    seen: Mutex<Seen>,
}

/// The SHA-256 of the content, or the error that prevented reading it.
type Seen = Result<[u8; 32], String>;

impl fmt::Debug for KeysInForce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.file.as_ref().map(|file| &file.path);
        f.debug_struct("KeysInForce").field("ring", &self.ring()).field("file", &path).finish()
    }
}

impl KeysInForce {
    /// Creates keys that never change.
    #[must_use]
    pub fn fixed(ring: KeyRing) -> Self {
        Self { ring: Arc::new(RwLock::new(Arc::new(ring))), file: None }
    }

    /// Parses keys that never change.
    ///
    /// # Errors
    /// When [`KeyRing::parse`] rejects the text, or none of the keys signs now.
    pub fn parse(text: &SecretString, now: Timestamp) -> anyhow::Result<Self> {
        signing(text, now).map(Self::fixed)
    }

    /// Reads keys from a file that only its owner can read.
    ///
    /// # Errors
    /// When the file cannot be read or others may read it, and as [`KeysInForce::parse`].
    pub fn read(path: &Path, now: Timestamp) -> anyhow::Result<Self> {
        let text = file::read(path)?;
        let ring = signing(&text, now).with_context(|| path.display().to_string())?;
        let seen = Mutex::new(Ok(fingerprint(&text)));
        let file = Some(Arc::new(KeyFile { path: path.to_owned(), seen }));
        Ok(Self { file, ..Self::fixed(ring) })
    }

    /// Returns the current key ring.
    #[must_use]
    pub fn ring(&self) -> Arc<KeyRing> {
        // A poisoned lock still holds a complete ring.
        Arc::clone(&self.ring.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns whether the keys come from a file, which may change.
    #[must_use]
    pub const fn may_change(&self) -> bool {
        self.file.is_some()
    }

    /// Reloads the file and puts its keys into force if it changed; `None` if it did not.
    ///
    /// # Errors
    /// As [`KeysInForce::read`], once per change; the previous keys stay in force.
    pub fn reload(&self, now: Timestamp) -> Option<anyhow::Result<()>> {
        let KeyFile { path, seen } = self.file.as_deref()?;
        let read = file::read(path);
        let found: Seen = read.as_ref().map(fingerprint).map_err(|error| format!("{error:#}"));
        {
            let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
            if *seen == found {
                return None;
            }
            *seen = found;
        }
        let ring = read.and_then(|text| signing(&text, now).with_context(|| path.display().to_string()));
        Some(ring.map(|ring| {
            *self.ring.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(ring);
        }))
    }
}

fn signing(text: &SecretString, now: Timestamp) -> anyhow::Result<KeyRing> {
    let ring = KeyRing::parse(text)?;
    ensure!(ring.signing(now).is_some(), "none of its keys signs now");
    Ok(ring)
}

fn fingerprint(text: &SecretString) -> [u8; 32] {
    Sha256::digest(text.expose_secret().as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use std::fs::{self, OpenOptions};
    use std::io::Write;
    use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};

    use tempfile::TempDir;

    use super::*;

    const KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
    const NOW: Timestamp = Timestamp::EPOCH;

    fn write(path: &Path, text: &str) {
        let mut file =
            OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }

    fn signs(keys: &KeysInForce) -> String {
        keys.ring().signing(NOW).unwrap().id().to_owned()
    }

    #[test]
    fn a_changed_key_file_is_reloaded_once() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("keys");
        write(&path, &format!("a:{KEY}\n"));
        let keys = KeysInForce::read(&path, NOW).unwrap();
        let shared = keys.clone();
        assert!(keys.reload(NOW).is_none());
        write(&path, &format!("b:{KEY}\n"));
        assert!(keys.reload(NOW).unwrap().is_ok());
        assert!(keys.reload(NOW).is_none());
        assert_eq!((signs(&keys), signs(&shared)), ("b".to_owned(), "b".to_owned()));
        fs::remove_file(&path).unwrap();
        assert!(keys.reload(NOW).unwrap().is_err());
        write(&path, &format!("b:{KEY}\n"));
        assert!(keys.reload(NOW).unwrap().is_ok());
    }

    #[test]
    fn an_invalid_key_file_is_reported_once_and_the_old_keys_stay_in_force() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("keys");
        write(&path, &format!("a:{KEY}\n"));
        let keys = KeysInForce::read(&path, NOW).unwrap();
        for text in ["", KEY, &format!("c:{KEY} from=2026-11-20T12:00:00Z")] {
            write(&path, text);
            let message = format!("{:#}", keys.reload(NOW).unwrap().unwrap_err());
            assert!(!message.contains(KEY), "{message}");
            assert!(keys.reload(NOW).is_none(), "{text}");
            assert_eq!(signs(&keys), "a");
        }
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(keys.reload(NOW).unwrap().is_err());
        assert!(keys.reload(NOW).is_none());
        fs::remove_file(&path).unwrap();
        assert!(keys.reload(NOW).unwrap().is_err());
        assert!(keys.reload(NOW).is_none());
        assert_eq!(signs(&keys), "a");
    }

    #[test]
    fn keys_from_the_environment_do_not_change() {
        let keys = KeysInForce::parse(&SecretString::from(format!("a:{KEY}")), NOW).unwrap();
        assert!(!keys.may_change() && keys.reload(NOW).is_none());
        let later = SecretString::from(format!("a:{KEY} from=2026-11-20T12:00:00Z"));
        let refused = KeysInForce::parse(&later, NOW).unwrap_err();
        assert_eq!(refused.to_string(), "none of its keys signs now");
    }
}
