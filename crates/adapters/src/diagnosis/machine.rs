//! The disk and the limits of the machine.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use nix::sys::resource::{Resource, getrlimit};
use nix::sys::statvfs::statvfs;

/// The number of measured syncs.
const SYNCS: usize = 32;
/// The bytes that each of them makes durable: a page.
const PAGE: [u8; 4_096] = [0; 4_096];
/// The file with the longest queue of connections that wait to be accepted.
const SOMAXCONN: &str = "/proc/sys/net/core/somaxconn";

/// The space of a file system, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Space {
    /// What users other than root can still write.
    pub free: u64,
    /// Its size.
    pub total: u64,
}

/// Returns the space of the file system of a directory.
///
/// # Errors
/// When it cannot be read.
#[allow(clippy::useless_conversion, reason = "the types are shorter on some systems")]
pub fn space(directory: &Path) -> io::Result<Space> {
    let found = statvfs(directory)?;
    let bytes = |blocks: u64| blocks.saturating_mul(u64::from(found.fragment_size()));
    Ok(Space { free: bytes(u64::from(found.blocks_available())), total: bytes(u64::from(found.blocks())) })
}

/// Measures how long a directory's disk takes to make a page durable: the median of 32 syncs of a file that is removed
/// afterwards.
///
/// # Errors
/// When the file cannot be written.
pub fn sync_time(directory: &Path) -> io::Result<Duration> {
    let path = directory.join(".doctor");
    // The remains of a killed process, or a link at its place.
    remove_if_present(&path)?;
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
    let measured = measure(file);
    let removed = remove_if_present(&path);
    let measured = measured?;
    removed.map(|()| measured)
}

fn remove_if_present(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn measure(mut file: File) -> io::Result<Duration> {
    let mut times = Vec::with_capacity(SYNCS);
    for _ in 0..SYNCS {
        file.write_all(&PAGE)?;
        let began = Instant::now();
        file.sync_data()?;
        times.push(began.elapsed());
    }
    times.sort_unstable();
    Ok(times.get(SYNCS / 2).copied().unwrap_or_default())
}

/// Returns the number of files that this process may open; `None` if the system does not say.
#[must_use]
pub fn open_files() -> Option<u64> {
    getrlimit(Resource::RLIMIT_NOFILE).ok().map(|(soft, _)| soft)
}

/// Returns the longest queue of connections that wait to be accepted; `None` if the system does not say.
#[must_use]
pub fn longest_queue() -> Option<u64> {
    fs::read_to_string(SOMAXCONN).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_measurement_of_the_disk_leaves_no_file() {
        let folder = tempfile::TempDir::new().unwrap();
        // A doctor that was killed left its file.
        fs::write(folder.path().join(".doctor"), "").unwrap();
        sync_time(folder.path()).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        let Space { free, total } = space(folder.path()).unwrap();
        assert!(0 < free && free <= total);
        assert!(sync_time(&folder.path().join("absent")).is_err());
    }
}
