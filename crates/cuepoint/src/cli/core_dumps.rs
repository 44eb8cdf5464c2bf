//! Core dumps, which would contain keys and passwords.

#[cfg(target_os = "linux")]
use anyhow::Context;

use crate::config::DeploymentEnvironment;

/// Keeps the system from writing a core dump of this process in production, and processes of the same user from reading
/// its memory. Elsewhere, profilers and debuggers need it.
///
/// # Errors
/// When the system refuses.
#[cfg(target_os = "linux")]
pub(super) fn prevent(environment: DeploymentEnvironment) -> anyhow::Result<()> {
    if environment == DeploymentEnvironment::Production {
        nix::sys::prctl::set_dumpable(false).context("core dumps cannot be prevented")?;
    }
    Ok(())
}

/// Other systems have limits of their own for core dumps.
#[cfg(not(target_os = "linux"))]
pub(super) fn prevent(_: DeploymentEnvironment) -> anyhow::Result<()> {
    Ok(())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use nix::sys::prctl::{get_dumpable, set_dumpable};

    use super::*;

    #[test]
    fn production_alone_writes_no_core_dump() {
        for (environment, is_dumpable) in [
            (DeploymentEnvironment::Development, true),
            (DeploymentEnvironment::Test, true),
            (DeploymentEnvironment::Production, false),
        ] {
            set_dumpable(true).unwrap();
            prevent(environment).unwrap();
            assert_eq!(get_dumpable(), Ok(is_dumpable), "{}", environment.name());
        }
        set_dumpable(true).unwrap();
    }
}
