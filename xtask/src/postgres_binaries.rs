//! Location and installation of PostgreSQL's server programs.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs, io};

use anyhow::{Context, bail, ensure};

use crate::server_user;
use crate::workspace::exit_code;

/// Folders of versions (`parent`, `prefix` of the version, `suffix` below it) in the layout of distributions.
const USUAL_PLACES: &[(&str, &str, &str)] = &[
    ("/usr/lib/postgresql", "", "bin"),          // Debian, Ubuntu
    ("/usr", "pgsql-", "bin"),                   // Red Hat, from postgresql.org
    ("/usr/lib", "postgresql", "bin"),           // SUSE
    ("/usr/libexec", "postgresql", ""),          // Alpine
    ("/opt/homebrew/opt", "postgresql@", "bin"), // Homebrew on ARM
    ("/usr/local/opt", "postgresql@", "bin"),    // Homebrew on Intel
    ("/Applications/Postgres.app/Contents/Versions", "", "bin"), // Postgres.app
];

/// Package managers, and the command of each that installs PostgreSQL.
const INSTALLERS: &[(&str, &str)] = &[
    ("apt-get", "sudo apt-get install -y postgresql"),
    ("dnf", "sudo dnf install -y postgresql-server postgresql"),
    ("zypper", "sudo zypper install -y postgresql-server postgresql"),
    ("pacman", "sudo pacman -S --needed postgresql"),
    ("apk", "sudo apk add postgresql"),
    ("brew", "brew install postgresql@17"),
];

/// Prevents Debian's package from creating and starting a cluster of its own during installation.
const NO_MAIN_CLUSTER: &str = "/etc/postgresql-common/createcluster.d/zz-cuepoint.conf";

/// Returns the folder with `initdb`, `pg_ctl` and `psql`; as root on Debian, installs the package if it is
/// missing.
///
/// # Errors
/// The command that installs them, if this process may not do it itself.
pub(crate) fn find_or_install() -> anyhow::Result<PathBuf> {
    if let Some(found) = find()? {
        return Ok(found);
    }
    if can_install() {
        install_without(NO_MAIN_CLUSTER, "create_main_cluster = false\n", &["postgresql"])?;
        return find()?
            .context("PostgreSQL was installed, but its programs are not where they should be; set PG_BIN");
    }
    let known = INSTALLERS.iter().find(|(manager, _)| on_path(manager).is_some());
    let how = known.map_or_else(String::new, |(_, command)| format!(":\n\n    {command}\n"));
    bail!("PostgreSQL's server programs are missing; install them, or name their folder in PG_BIN{how}")
}

/// Whether this process may install Debian's packages.
pub(crate) fn can_install() -> bool {
    server_user::id("-u", None) == Some(0) && on_path("apt-get").is_some()
}

/// Returns a program next to the server's programs or their link targets, else on `PATH`: some distributions
/// have the clients in another package, such as this one.
///
/// # Errors
/// If it is not found.
pub(crate) fn client(program: &str, package: &str) -> anyhow::Result<PathBuf> {
    let server = find_or_install()?;
    let folders = [behind_links(&server), server];
    let beside = folders.into_iter().map(|folder| folder.join(program)).find(|file| file.is_file());
    let found = beside.or_else(|| on_path(program));
    found.with_context(|| format!("{program} is missing; it may be in the package {package}"))
}

/// Resolves links to the folder that holds all of the server's programs.
pub(crate) fn behind_links(server: &Path) -> PathBuf {
    let initdb = fs::canonicalize(server.join("initdb")).unwrap_or_default();
    initdb.parent().unwrap_or(server).to_path_buf()
}

/// Searches `PG_BIN`, then `PATH`, then the usual folders, the highest version first.
fn find() -> anyhow::Result<Option<PathBuf>> {
    if let Some(asked) = env::var_os("PG_BIN") {
        let asked = std::path::absolute(asked).context("PG_BIN is not a path")?;
        ensure!(is_server(&asked), "PG_BIN is {}, which holds no initdb and pg_ctl", asked.display());
        return Ok(Some(asked));
    }
    if let Some(initdb) = on_path("initdb")
        && let Some(folder) = initdb.parent().filter(|folder| is_server(folder))
    {
        return Ok(Some(folder.to_path_buf()));
    }
    let versions = USUAL_PLACES.iter().flat_map(|(parent, prefix, suffix)| {
        let names = newest_first(names_in(Path::new(parent)), prefix);
        names.into_iter().map(move |name| Path::new(parent).join(name).join(suffix))
    });
    Ok(versions.into_iter().find(|folder| is_server(folder)))
}

/// Returns the names that consist of `prefix` and a version, the highest version first.
fn newest_first(names: Vec<String>, prefix: &str) -> Vec<String> {
    let version = |name: &String| -> Option<Vec<u32>> {
        name.strip_prefix(prefix)?.split('.').map(|part| part.parse().ok()).collect()
    };
    let mut found: Vec<_> = names.into_iter().filter(|name| version(name).is_some()).collect();
    found.sort_by_key(|name| std::cmp::Reverse(version(name)));
    found
}

fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
}

fn is_server(folder: &Path) -> bool {
    folder.join("initdb").is_file() && folder.join("pg_ctl").is_file()
}

/// Returns the path of a program in one of the folders of `PATH`.
pub(crate) fn on_path(program: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|folder| folder.join(program)).find(|file| file.is_file())
}

/// Installs packages of Debian while this file prevents what they would do on their own, unless it is there anyway.
///
/// # Errors
/// If the file cannot be written or removed, or a package not installed.
pub(crate) fn install_without(prevented_by: &str, content: &str, packages: &[&str]) -> anyhow::Result<()> {
    let file = Path::new(prevented_by);
    let is_ours = !file.exists();
    if is_ours {
        fs::create_dir_all(file.parent().unwrap_or(file))?;
        fs::write(file, content).with_context(|| format!("{prevented_by} cannot be written"))?;
        fs::set_permissions(file, fs::Permissions::from_mode(0o755))?;
    }
    let installed = install(packages);
    if is_ours {
        // Packages that are installed later must behave as their distribution intends.
        fs::remove_file(file).with_context(|| format!("{prevented_by} cannot be removed"))?;
    }
    installed
}

/// Installs packages of Debian.
///
/// # Errors
/// If one cannot be installed.
pub(crate) fn install(packages: &[&str]) -> anyhow::Result<()> {
    eprintln!("xtask: installing Debian's packages that are missing: {}", packages.join(", "));
    for arguments in
        [&["update"][..], &[&["install", "-y", "--no-install-recommends"], packages].concat()[..]]
    {
        let mut apt = Command::new("apt-get");
        // Standard output is reserved for the tests.
        apt.args(arguments)
            .env("DEBIAN_FRONTEND", "noninteractive")
            .stdin(Stdio::null())
            .stdout(io::stderr());
        ensure!(exit_code(&mut apt)? == 0, "apt-get {} failed", arguments.join(" "));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(prefix: &str, names: &[&str], expected: &[&str]) {
        let names = names.iter().map(|name| name.to_string()).collect();
        assert_eq!(newest_first(names, prefix), expected);
    }

    #[test]
    fn the_highest_version_is_preferred() {
        check("", &["9.6", "15", "17", "common"], &["17", "15", "9.6"]);
        check(
            "postgresql@",
            &["postgresql@9", "mysql@8", "postgresql@16", "postgresql"],
            &["postgresql@16", "postgresql@9"],
        );
        check("pgsql-", &[], &[]);
    }
}
