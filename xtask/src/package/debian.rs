//! Bare Debian systems in temporary folders. Nothing is mounted in them, so a killed test leaves only files.

use std::path::{Path, PathBuf};
use std::process::{self, Command, Stdio};
use std::{env, fs};

use anyhow::{Context, ensure};

use crate::postgres_binaries::{can_install, install, on_path};
use crate::server_user;
use crate::workspace::output_of;

/// The release of Debian.
const SUITE: &str = "bookworm";

/// Programs that the test needs, each with its package.
const PROGRAMS: &[(&str, &str)] =
    &[("mmdebstrap", "mmdebstrap"), ("dpkg-shlibdeps", "dpkg-dev"), ("strip", "binutils")];

const PATH: &str = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Forbids starting services, for maintainer scripts that would.
const POLICY: &str = "#!/bin/sh\nexit 101\n";

/// Runs its arguments with the environment file, as the guide for operators says.
pub(super) const CONFIGURED: &str = r#"set -a; . /etc/cuepoint/environment; exec "$@""#;

/// Makes sure that Debian systems with each of these packages can be made here: installs missing programs, and downloads
/// the systems into `cache`.
///
/// # Errors
/// The reason why they cannot be made.
pub(super) fn prepare(systems: &[&str], cache: &Path) -> anyhow::Result<()> {
    ensure!(server_user::id("-u", None) == Some(0), "only root can install a package");
    let missing = PROGRAMS.iter().filter(|(program, _)| on_path(program).is_none());
    let missing: Vec<&str> = missing.map(|(_, package)| *package).collect();
    if !missing.is_empty() {
        ensure!(can_install(), "{} is missing", missing.join(", "));
        install(&missing)?;
    }
    for packages in systems {
        let tarball = tarball(packages, cache);
        if !tarball.is_file() {
            download(packages, &tarball).context("a bare Debian cannot be downloaded")?;
        }
    }
    Ok(())
}

/// The place of the tarball of a system with these packages.
fn tarball(packages: &str, cache: &Path) -> PathBuf {
    cache.join(format!("{SUITE}-{}.tar", packages.replace(',', "-")))
}

/// A Debian system, deleted on drop.
pub(super) struct Debian(PathBuf);

impl Debian {
    /// Makes a minimal system with these packages, which were downloaded into `cache`.
    pub(super) fn with(packages: &str, cache: &Path) -> anyhow::Result<Self> {
        let tarball = tarball(packages, cache);
        let folder = env::temp_dir().join(format!("cuepoint-package-{}-{packages}", process::id()));
        fs::create_dir(&folder).with_context(|| format!("{} cannot be created", folder.display()))?;
        let debian = Self(folder);
        output_of(Command::new("tar").arg("-xf").arg(&tarball).arg("-C").arg(&debian.0))?;
        fs::write(debian.path("/usr/sbin/policy-rc.d"), POLICY)?;
        debian.run("chmod 755 /usr/sbin/policy-rc.d")?;
        Ok(debian)
    }

    /// A path of the system, seen from outside.
    pub(super) fn path(&self, inside: &str) -> PathBuf {
        self.0.join(inside.trim_start_matches('/'))
    }

    /// Reads a file.
    pub(super) fn read(&self, inside: &str) -> anyhow::Result<String> {
        fs::read_to_string(self.path(inside)).with_context(|| format!("{inside} cannot be read"))
    }

    /// Runs a script as root; returns all that it printed.
    pub(super) fn run(&self, script: &str) -> anyhow::Result<String> {
        output_of(&mut self.shell(script)).with_context(|| script.to_owned())
    }

    /// Runs a script that must fail; returns all that it printed.
    pub(super) fn fails(&self, script: &str) -> anyhow::Result<String> {
        let output = self.shell(script).output()?;
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        ensure!(!output.status.success(), "{script} succeeded: {printed}");
        Ok(printed)
    }

    fn shell(&self, script: &str) -> Command {
        let mut command = Command::new("chroot");
        command.arg(&self.0).args(["env", "-i", PATH, "LC_ALL=C", "DEBIAN_FRONTEND=noninteractive"]);
        command.args(["sh", "-ec", &format!("exec 2>&1\n{script}")]).stdin(Stdio::null());
        command
    }

    /// A command line with the configuration of the package, as this user, whose process is the program itself.
    pub(super) fn configured(&self, user: &str, line: &str) -> Command {
        let mut command = Command::new("chroot");
        command.arg(format!("--userspec={user}:{user}")).arg(&self.0).args(["env", "-i", PATH]);
        command.args(["sh", "-c", CONFIGURED, "sh"]).args(line.split_whitespace());
        command
    }
}

impl Drop for Debian {
    fn drop(&mut self) {
        // The folder is temporary, and a failed test has something better to report.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Makes a tarball of a minimal system.
fn download(packages: &str, tarball: &Path) -> anyhow::Result<()> {
    let partial = tarball.with_extension("partial");
    let mut mmdebstrap = Command::new("mmdebstrap");
    mmdebstrap.args(["--quiet", "--variant=minbase", "--format=tar"]).arg(format!("--include={packages}"));
    output_of(mmdebstrap.arg(SUITE).arg(&partial))?;
    fs::rename(&partial, tarball).with_context(|| format!("{} cannot be written", tarball.display()))
}
