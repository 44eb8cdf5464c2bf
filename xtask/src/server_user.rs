//! The operating system user of PostgreSQL, whose programs refuse to run as root.

use std::env;
use std::ffi::OsStr;
use std::fs::{self, DirBuilder};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, bail, ensure};

use crate::workspace::remove_variables;

/// The current user, or an unprivileged user if the current one is root.
pub(crate) struct ServerUser {
    uid: u32,
    gid: u32,
    /// Whether the current user is root and starts programs as another user.
    switches: bool,
}

impl ServerUser {
    /// Returns the current user; for root, the user in `PG_TEST_USER`, else `postgres`, else `nobody`.
    pub(crate) fn choose() -> anyhow::Result<Self> {
        let uid = id("-u", None).context("our own user id is unknown")?;
        if uid != 0 {
            let gid = id("-g", None).context("our own group id is unknown")?;
            return Ok(Self { uid, gid, switches: false });
        }
        let asked = env::var_os("PG_TEST_USER");
        let names: Vec<&OsStr> = match &asked {
            Some(name) => vec![name.as_os_str()],
            None => vec![OsStr::new("postgres"), OsStr::new("nobody")],
        };
        for name in &names {
            if let (Some(uid), Some(gid)) = (id("-u", Some(name)), id("-g", Some(name))) {
                ensure!(uid != 0, "PG_TEST_USER is root, and PostgreSQL refuses to run as root");
                return Ok(Self { uid, gid, switches: true });
            }
        }
        bail!("PostgreSQL refuses to run as root, and there is no user {names:?}; name one in PG_TEST_USER")
    }

    /// Returns a program to run as this user, without the `PG…` variables that would affect it.
    pub(crate) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        if self.switches {
            command.uid(self.uid).gid(self.gid);
        }
        remove_variables(&mut command, "PG");
        command
    }

    /// The user and group ids as `uid:gid`, if programs are started as another user.
    pub(crate) fn to_switch_to(&self) -> Option<String> {
        self.switches.then(|| format!("{}:{}", self.uid, self.gid))
    }

    /// Creates a folder that only this user (and root) can enter; fails if it already exists.
    pub(crate) fn create_dir(&self, path: &Path) -> std::io::Result<()> {
        DirBuilder::new().mode(0o700).create(path)?;
        if self.switches {
            chown(path, Some(self.uid), Some(self.gid))?;
        }
        Ok(())
    }

    /// Whether `path` is a folder owned by this user, and not a link or another user's folder.
    pub(crate) fn owns_dir(&self, path: &Path) -> bool {
        fs::symlink_metadata(path).is_ok_and(|found| found.is_dir() && found.uid() == self.uid)
    }

    /// Whether this user can enter the folder.
    pub(crate) fn can_enter(&self, path: &Path) -> bool {
        let mut test = self.command("test");
        test.arg("-x").arg(path).current_dir("/").stdin(Stdio::null());
        test.status().is_ok_and(|status| status.success())
    }
}

/// Returns an id that `id` prints, for the current user or a named user; `None` if there is no such user.
pub(crate) fn id(flag: &str, name: Option<&OsStr>) -> Option<u32> {
    let output = Command::new("id").arg(flag).args(name).stderr(Stdio::null()).output().ok()?;
    String::from_utf8(output.stdout).ok()?.trim().parse().ok()
}
