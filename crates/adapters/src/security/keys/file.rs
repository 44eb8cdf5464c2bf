//! The key file: read by every server, replaced atomically by a rotation.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use cuepoint_domain::ports::Clock;
use secrecy::zeroize::Zeroizing;
use secrecy::{ExposeSecret, SecretString};
use time::Duration;

use super::rotation::{OlderKeys, Rotation, rotate};
use crate::security::random::RandomSecrets;

/// Reads a file that only its owner can read.
///
/// # Errors
/// When it cannot be read, or others may read it.
pub(super) fn read(path: &Path) -> anyhow::Result<SecretString> {
    let cannot = || format!("{} cannot be read", path.display());
    let file = File::open(path).with_context(cannot)?;
    let metadata = file.metadata().with_context(cannot)?;
    only_for_its_owner(&metadata).with_context(|| path.display().to_string())?;
    text(file).with_context(cannot)
}

/// Creates a key file with a key that signs or encrypts immediately, unless there is a file; returns whether it did.
/// Concurrent calls may each add a key; every one of them verifies.
///
/// # Errors
/// When the file cannot be created.
pub fn create_file(path: &Path, clock: &dyn Clock, secrets: RandomSecrets) -> anyhow::Result<bool> {
    if path.try_exists().with_context(|| format!("{} cannot be read", path.display()))? {
        return Ok(false);
    }
    let first = Rotation {
        algorithm: None,
        signs_in: Duration::ZERO,
        access_token_ttl: Duration::ZERO,
        older: OlderKeys::Verify,
    };
    rotate_file(path, first, clock, secrets).map(|_| true)
}

/// Adds a new key to a key file, creating the file if necessary, and reports the outcome for each key.
/// Concurrent rotations are serialized.
///
/// # Errors
/// When [`super::KeyRing::parse`] rejects the file, others may read it, or it cannot be replaced with its
/// owner preserved. The file is then unchanged.
pub fn rotate_file(
    path: &Path,
    asked: Rotation,
    clock: &dyn Clock,
    secrets: RandomSecrets,
) -> anyhow::Result<String> {
    // A symbolic link is followed, so that its target is replaced and not the link.
    let path = match fs::canonicalize(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => path.to_owned(),
        found => found.with_context(|| format!("{} cannot be read", path.display()))?,
    };
    let shown = || path.display().to_string();
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let lock = File::open(folder).with_context(|| format!("{} cannot be opened", folder.display()))?;
    lock.lock().with_context(|| format!("{} cannot be locked", folder.display()))?;
    let old = match fs::metadata(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        found => Some(found.with_context(|| format!("{} cannot be read", path.display()))?),
    };
    let text = if old.is_some() { read(&path)? } else { SecretString::default() };
    let rotated = rotate(&text, asked, clock.now(), secrets).with_context(shown)?;
    replace(&path, &rotated.text, old.as_ref()).with_context(|| format!("{} cannot be replaced", shown()))?;
    lock.sync_all().with_context(|| format!("{} cannot be written", folder.display()))?;
    Ok(rotated.report)
}

fn text(mut file: File) -> io::Result<SecretString> {
    let mut text = Zeroizing::new(String::new());
    file.read_to_string(&mut text)?;
    Ok(SecretString::from(text.as_str()))
}

fn only_for_its_owner(metadata: &Metadata) -> anyhow::Result<()> {
    ensure!(metadata.is_file(), "it is not a file");
    let mode = metadata.permissions().mode() & 0o777;
    ensure!(mode & 0o177 == 0, "its mode is {mode:04o}: run `chmod 600` on it");
    Ok(())
}

/// Replaces a file atomically, so that readers see either version in full. The folder must be locked.
fn replace(path: &Path, text: &SecretString, old: Option<&Metadata>) -> io::Result<()> {
    let beside = beside(path);
    // Remains of an interrupted rotation.
    match fs::remove_file(&beside) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let written = write(&beside, text, old).and_then(|()| fs::rename(&beside, path));
    if written.is_err() {
        // The first error is the one to report.
        let _ = fs::remove_file(&beside);
    }
    written
}

fn write(path: &Path, text: &SecretString, old: Option<&Metadata>) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    if let Some(old) = old {
        let new = file.metadata()?;
        if new.uid() != old.uid() {
            fchown(&file, Some(old.uid()), Some(old.gid()))?;
        } else if new.gid() != old.gid() {
            // The mode grants nothing to the group, so that a different one does no harm.
            let _ = fchown(&file, None, Some(old.gid()));
        }
    }
    file.write_all(text.expose_secret().as_bytes())?;
    file.sync_all()
}

/// Returns a name in the same folder, because only there is a rename atomic.
fn beside(path: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(".new");
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use tempfile::TempDir;

    use super::*;
    use crate::clock::SystemClock;
    use crate::security::keys::{KeyRing, KeysInForce};

    const KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
    const ASKED: Rotation = Rotation {
        algorithm: None,
        signs_in: Duration::MINUTE,
        access_token_ttl: Duration::MINUTE,
        older: OlderKeys::Verify,
    };

    fn names_in(folder: &TempDir) -> Vec<String> {
        let names = fs::read_dir(folder.path()).unwrap();
        let mut names: Vec<String> =
            names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort_unstable();
        names
    }

    fn rotated(path: &Path) -> anyhow::Result<String> {
        rotate_file(path, ASKED, &SystemClock, RandomSecrets::new().unwrap())
    }

    fn mode(path: &Path) -> u32 {
        fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777
    }

    fn keys(path: &Path) -> usize {
        let text = read(path).unwrap();
        KeyRing::parse(&text).unwrap();
        text.expose_secret().lines().count()
    }

    #[test]
    fn key_files_are_accepted_only_with_mode_0600_or_0400() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("keys");
        fs::write(&path, format!("a:{KEY}\n")).unwrap();
        for (mode, accepted) in [(0o600, true), (0o400, true), (0o640, false), (0o644, false), (0o700, false)]
        {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            let read = KeysInForce::read(&path, SystemClock.now());
            assert_eq!(read.is_ok(), accepted, "{mode:o}: {read:?}");
            if !accepted {
                assert!(rotated(&path).is_err(), "{mode:o}");
                assert_eq!(fs::read_to_string(&path).unwrap(), format!("a:{KEY}\n"));
            }
        }
        fs::remove_file(&path).unwrap();
        let error = KeysInForce::read(&path, SystemClock.now()).unwrap_err();
        assert!(format!("{error:#}").contains("cannot be read"), "{error:#}");
    }

    #[test]
    fn rotation_creates_the_key_file_and_leaves_no_other_files() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("keys");
        let report = rotated(&path).unwrap();
        assert!(report.contains(" hs256 signs from 2"), "{report}");
        assert_eq!((mode(&path), keys(&path)), (0o600, 1));
        assert!(KeysInForce::read(&path, SystemClock.now()).is_ok());
        // The remains of an interrupted rotation do not prevent the next one.
        fs::write(folder.path().join(".keys.new"), "half").unwrap();
        rotated(&path).unwrap();
        assert_eq!((mode(&path), keys(&path)), (0o600, 2));
        assert_eq!(names_in(&folder), ["keys"]);
    }

    #[test]
    fn an_existing_key_file_is_not_replaced() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("keys");
        let create = || create_file(&path, &SystemClock, RandomSecrets::new().unwrap());
        assert!(create().unwrap());
        let text = read(&path).unwrap();
        assert!(!create().unwrap());
        assert_eq!(read(&path).unwrap().expose_secret(), text.expose_secret());
        assert_eq!((mode(&path), keys(&path)), (0o600, 1));
        assert!(KeysInForce::read(&path, SystemClock.now()).is_ok());
        assert!(
            create_file(&folder.path().join("nowhere/keys"), &SystemClock, RandomSecrets::new().unwrap())
                .is_err()
        );
    }

    #[test]
    fn rotation_keeps_a_symbolic_link_to_the_key_file() {
        let folder = TempDir::new().unwrap();
        let (path, link) = (folder.path().join("keys"), folder.path().join("link"));
        rotated(&path).unwrap();
        symlink("keys", &link).unwrap();
        rotated(&link).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(keys(&path), 2);
    }

    #[test]
    fn a_failed_rotation_changes_nothing() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("keys");
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path).unwrap();
        writeln!(file, "a:{KEY}\n{KEY}").unwrap();
        let error = format!("{:#}", rotated(&path).unwrap_err());
        assert!(error.contains("line 2") && !error.contains(KEY), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), format!("a:{KEY}\n{KEY}\n"));
        assert!(rotated(&folder.path().join("nowhere/keys")).is_err());
        assert_eq!(names_in(&folder), ["keys"]);
    }

    #[test]
    fn concurrent_rotations_all_take_effect() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("keys");
        std::thread::scope(|scope| {
            for _ in 0..16 {
                scope.spawn(|| rotated(&path).unwrap());
            }
        });
        assert_eq!(keys(&path), 16);
    }
}
