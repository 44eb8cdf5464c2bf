//! The user that PostgreSQL runs as: its programs refuse root.

use std::env;
use std::ffi::OsStr;
use std::fs::{self, DirBuilder};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, bail, ensure};

use crate::workspace::remove_variables;

/// Ourselves, or, where that is root, somebody without rights.
pub(crate) struct ServerUser {
    uid: u32,
    gid: u32,
    /// Whether we are root and start programs as somebody else.
    switches: bool,
}

impl ServerUser {
    /// Ourselves; for root the user in `PG_TEST_USER`, else `postgres`, else `nobody`.
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

    /// A program run as this user, without the `PG…` variables that would change what it does.
    pub(crate) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        if self.switches {
            command.uid(self.uid).gid(self.gid);
        }
        remove_variables(&mut command, "PG");
        command
    }

    /// The numbers of user and group as `uid:gid`, where programs are started as somebody else.
    pub(crate) fn to_switch_to(&self) -> Option<String> {
        self.switches.then(|| format!("{}:{}", self.uid, self.gid))
    }

    /// Makes a folder that only this user (and root) can enter; an error when it is there already.
    pub(crate) fn create_dir(&self, path: &Path) -> std::io::Result<()> {
        DirBuilder::new().mode(0o700).create(path)?;
        if self.switches {
            chown(path, Some(self.uid), Some(self.gid))?;
        }
        Ok(())
    }

    /// Whether `path` is a folder of this user's own: no link, and no folder that somebody else put there.
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

/// A number that `id` prints, for ourselves or a user by name; none where it knows no such user.
pub(crate) fn id(flag: &str, name: Option<&OsStr>) -> Option<u32> {
    let output = Command::new("id").arg(flag).args(name).stderr(Stdio::null()).output().ok()?;
    String::from_utf8(output.stdout).ok()?.trim().parse().ok()
}
