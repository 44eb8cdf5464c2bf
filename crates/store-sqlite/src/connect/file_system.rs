//! The file system of the data directory: the write-ahead log needs shared memory and locks between
//! processes, which network file systems do not provide reliably.

use std::path::Path;

use anyhow::{Context, bail};

/// The reliability of a file system.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FileSystem {
    /// No network file system is known under this type.
    Local,
    /// A file system of a user process, which may be local or not.
    Uncertain(&'static str),
    /// A network file system, by name.
    Network(&'static str),
}

/// The types of network file systems, as in `statfs(2)` and Linux's `magic.h`.
const NETWORK: &[(u32, &str)] = &[
    (0x6969, "NFS"),
    (0x517B, "SMB"),
    (0xFF53_4D42, "CIFS"),
    (0xFE53_4D42, "SMB"),
    (0x564C, "NCP"),
    (0x7375_7245, "Coda"),
    (0x5346_414F, "AFS"),
    (0x6B41_4653, "AFS"),
    (0x0102_1997, "9P"),
    (0x00C3_6400, "Ceph"),
    (0x0BD0_0BD0, "Lustre"),
    (0x4750_4653, "GPFS"),
    (0x1983_0326, "BeeGFS"),
    (0x0116_1970, "GFS2"),
    (0x7461_636F, "OCFS2"),
    (0x786F_4256, "a shared folder of VirtualBox"),
];
/// The type of every file system of a user process.
const FUSE: u32 = 0x6573_5546;

impl FileSystem {
    /// The file system with this type, as `statfs(2)` returns it.
    pub(crate) fn of_type(kind: i64) -> Self {
        // Types have 32 bits, and some systems sign-extend them.
        let Ok(kind) = u32::try_from(kind & 0xFFFF_FFFF) else { return Self::Local };
        if kind == FUSE {
            return Self::Uncertain("FUSE");
        }
        let known = NETWORK.iter().find(|(magic, _)| *magic == kind);
        known.map_or(Self::Local, |(_, name)| Self::Network(name))
    }
}

/// Refuses a directory on a network file system.
///
/// # Errors
/// When it is on one, or its file system cannot be determined.
pub(crate) fn ensure_local(directory: &Path) -> anyhow::Result<()> {
    match type_of(directory)?.map(FileSystem::of_type) {
        Some(FileSystem::Network(name)) => bail!(
            "{} is on a network file system ({name}), on which SQLite can lose or corrupt data: use a local disk, or \
             storage.backend = \"postgres\"",
            directory.display()
        ),
        Some(FileSystem::Uncertain(name)) => tracing::warn!(
            directory = %directory.display(),
            "the data directory is on a {name} file system: its data is only safe if it supports locks and shared memory"
        ),
        Some(FileSystem::Local) | None => {}
    }
    Ok(())
}

/// The free space below which a failure is put down to a full disk, in bytes: a start writes less.
const ALMOST_NOTHING: u64 = 1 << 20;

/// Adds to a failure that the disk of a directory is full, if it is: SQLite may only report an I/O error.
pub(crate) fn explain(failure: anyhow::Error, directory: &Path) -> anyhow::Error {
    // File systems of the kernel itself have no size.
    let found = nix::sys::statvfs::statvfs(directory).ok().filter(|found| found.blocks() > 0);
    let free = found.map(|found| found.blocks_available().saturating_mul(found.fragment_size()));
    if free.is_some_and(|free| free < ALMOST_NOTHING) {
        return failure.context(format!("the disk of the data directory {} is full", directory.display()));
    }
    failure
}

/// The type of a directory's file system; `None` where the system has no such numbers.
#[cfg(target_os = "linux")]
#[allow(clippy::useless_conversion, reason = "the type is shorter on some architectures")]
pub(crate) fn type_of(directory: &Path) -> anyhow::Result<Option<i64>> {
    let found = nix::sys::statfs::statfs(directory);
    let found = found.with_context(|| format!("the file system of {} is unknown", directory.display()))?;
    Ok(Some(i64::from(found.filesystem_type().0)))
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn type_of(_: &Path) -> anyhow::Result<Option<i64>> {
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestDirectory;

    #[test]
    fn network_file_systems_are_recognized_by_type() {
        for (kind, name) in [
            (0x6969, "NFS"),
            (0x517B, "SMB"),
            (0xFF53_4D42, "CIFS"),
            (0xFE53_4D42, "SMB"),
            (0x0102_1997, "9P"),
            (0x00C3_6400, "Ceph"),
        ] {
            assert_eq!(FileSystem::of_type(kind), FileSystem::Network(name));
        }
        assert_eq!(FileSystem::of_type(0x6573_5546), FileSystem::Uncertain("FUSE"));
        // ext4, XFS, Btrfs, tmpfs, overlayfs, ZFS, and an unknown one.
        for kind in [0xEF53, 0x5846_5342, 0x9123_683E, 0x0102_1994, 0x794C_7630, 0x2FC1_2FC1, 0x7] {
            assert_eq!(FileSystem::of_type(kind), FileSystem::Local);
        }
    }

    #[test]
    fn a_sign_extended_file_system_type_is_recognized() {
        let extended = i64::from(0xFF53_4D42_u32.cast_signed());
        assert!(extended < 0);
        assert_eq!(FileSystem::of_type(extended), FileSystem::Network("CIFS"));
    }

    #[test]
    fn a_local_directory_is_accepted() {
        let directory = TestDirectory::create();
        ensure_local(directory.path()).unwrap();
        let error = ensure_local(&directory.path().join("absent"));
        assert!(!cfg!(target_os = "linux") || error.is_err());
    }
}
