//! The keys in force: those that were read last.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use anyhow::{Context, ensure};
use cuepoint_domain::timestamp::Timestamp;
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};

use super::{KeyRing, file};

/// The keys that sign and verify now. They are kept in memory; a file is read by [`SigningKeys::reload`] alone. Clones
/// share their keys.
#[derive(Clone)]
pub struct SigningKeys {
    ring: Arc<RwLock<Arc<KeyRing>>>,
    file: Option<Arc<KeyFile>>,
}

/// A file of keys, and what it was when it was looked at last.
struct KeyFile {
    path: PathBuf,
    seen: Mutex<Seen>,
}

/// The SHA-256 of its text, or why there is none.
type Seen = Result<[u8; 32], String>;

impl fmt::Debug for SigningKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.file.as_ref().map(|file| &file.path);
        f.debug_struct("SigningKeys").field("ring", &self.ring()).field("file", &path).finish()
    }
}

impl SigningKeys {
    /// Keys that stay as they are.
    #[must_use]
    pub fn fixed(ring: KeyRing) -> Self {
        Self { ring: Arc::new(RwLock::new(Arc::new(ring))), file: None }
    }

    /// The keys of a text, which stay as they are.
    ///
    /// # Errors
    /// When it is not as [`KeyRing::parse`] expects, or none of its keys signs now.
    pub fn parse(text: &SecretString, now: Timestamp) -> anyhow::Result<Self> {
        signing(text, now).map(Self::fixed)
    }

    /// The keys of a file that nobody but its owner can read.
    ///
    /// # Errors
    /// When it cannot be read, others may read it, or as [`SigningKeys::parse`].
    pub fn read(path: &Path, now: Timestamp) -> anyhow::Result<Self> {
        let text = file::read(path)?;
        let ring = signing(&text, now).with_context(|| path.display().to_string())?;
        let seen = Mutex::new(Ok(fingerprint(&text)));
        let file = Some(Arc::new(KeyFile { path: path.to_owned(), seen }));
        Ok(Self { file, ..Self::fixed(ring) })
    }

    /// The ring of this moment.
    #[must_use]
    pub fn ring(&self) -> Arc<KeyRing> {
        // Whoever held the lock put a whole ring in place, or none.
        Arc::clone(&self.ring.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether there is a file, which may change.
    #[must_use]
    pub const fn may_change(&self) -> bool {
        self.file.is_some()
    }

    /// Reads the file anew and puts its keys into force if it changed. `None` where it is as it was seen last.
    ///
    /// # Errors
    /// As [`SigningKeys::read`], once for each change; the keys before stay in force.
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

    use super::*;

    const KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
    const NOW: Timestamp = Timestamp::EPOCH;

    fn write(path: &Path, text: &str) {
        let mut file =
            OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }

    fn signs(keys: &SigningKeys) -> String {
        keys.ring().signing(NOW).unwrap().id().to_owned()
    }

    #[test]
    fn a_changed_file_is_put_into_force_once() {
        let path = std::env::temp_dir().join(format!("cuepoint-keys-in-force-{}", std::process::id()));
        write(&path, &format!("a:{KEY}\n"));
        let keys = SigningKeys::read(&path, NOW).unwrap();
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
        fs::remove_file(&path).unwrap();
    }

    #[test]
    fn a_bad_file_leaves_the_keys_before_and_is_told_once() {
        let path = std::env::temp_dir().join(format!("cuepoint-keys-bad-{}", std::process::id()));
        write(&path, &format!("a:{KEY}\n"));
        let keys = SigningKeys::read(&path, NOW).unwrap();
        for text in ["", KEY, &format!("c:{KEY} from=2026-11-20T12:00:00Z")] {
            write(&path, text);
            let told = format!("{:#}", keys.reload(NOW).unwrap().unwrap_err());
            assert!(!told.contains(KEY), "{told}");
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
    fn keys_that_are_no_file_do_not_change() {
        let keys = SigningKeys::parse(&SecretString::from(format!("a:{KEY}")), NOW).unwrap();
        assert!(!keys.may_change() && keys.reload(NOW).is_none());
        let later = SecretString::from(format!("a:{KEY} from=2026-11-20T12:00:00Z"));
        let refused = SigningKeys::parse(&later, NOW).unwrap_err();
        assert_eq!(refused.to_string(), "none of its keys signs now");
    }
}
