//! The life of a package: it is installed, configured, used, upgraded, removed and purged.

use std::fs::{self, File};
use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use anyhow::{Context, ensure};

use super::debian::Debian;
use super::{folder, pack};
use crate::cluster::free_port;
use crate::service::Process;
use crate::workspace::output_of;

/// A server with a TLS proxy, and a container.
const SERVER: &str = "systemd,ca-certificates,caddy";
const CONTAINER: &str = "systemd-standalone-sysusers,ca-certificates";
/// The packages of the systems of the test.
pub(super) const SYSTEMS: [&str; 2] = [SERVER, CONTAINER];

/// Modes and owners of files and folders. All other files of the package have `644 root:root`.
const OWNERS: &[(&str, &str)] = &[
    ("/etc/cuepoint/environment", "640 root:cuepoint"),
    ("/etc/cuepoint/keys", "700 cuepoint:cuepoint"),
    ("/etc/cuepoint/keys/signing-keys", "600 cuepoint:cuepoint"),
    ("/etc/cuepoint/keys/webhook-keys", "600 cuepoint:cuepoint"),
    ("/usr/bin/cuepoint", "755 root:root"),
    ("/var/backups/cuepoint", "700 cuepoint:cuepoint"),
    ("/var/lib/cuepoint", "700 cuepoint:cuepoint"),
];

/// Other files that must exist.
const FILES: &[&str] = &[
    "/lib/systemd/system/cuepoint.service",
    "/lib/systemd/system/cuepoint-backup.service",
    "/lib/systemd/system/cuepoint-backup.timer",
    "/usr/lib/sysusers.d/cuepoint.conf",
    "/usr/lib/tmpfiles.d/cuepoint.conf",
    "/usr/share/bash-completion/completions/cuepoint",
    "/usr/share/doc/cuepoint/CHANGELOG.md",
    "/usr/share/doc/cuepoint/README.md",
    "/usr/share/doc/cuepoint/copyright",
    "/usr/share/doc/cuepoint/docs/guide/operator.md",
    "/usr/share/doc/cuepoint/docs/storage.md",
    "/usr/share/doc/cuepoint/ops/caddy/Caddyfile",
    "/usr/share/doc/cuepoint/ops/fail2ban/filter.d/cuepoint.conf",
    "/usr/share/doc/cuepoint/ops/nginx/cuepoint.conf",
    "/usr/share/fish/vendor_completions.d/cuepoint.fish",
    "/usr/share/man/man1/cuepoint.1.gz",
    "/usr/share/zsh/vendor-completions/_cuepoint",
];

/// What a purge keeps.
const KEPT: &[&str] = &[
    "/etc/cuepoint/keys/signing-keys",
    "/etc/cuepoint/keys/webhook-keys",
    "/var/backups/cuepoint",
    "/var/lib/cuepoint/cuepoint.db",
];

const ENVIRONMENT: &str = "/etc/cuepoint/environment";
const PORT: &str = "CUEPOINT__SERVER__PORT=";
const PUBLIC_URL: &str = "CUEPOINT__SERVER__PUBLIC_URL=";
const PASSWORD: &str = "correct horse battery";
/// The secret of the payment provider.
const SECRET: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
/// The configuration of the proxy, and the certificate of its own authority.
const CADDYFILE: &str = "/etc/caddy/Caddyfile";
const AUTHORITY: &str = "/root/.local/share/caddy/pki/authorities/local/root.crt";

/// Stands in for systemctl, which needs a running systemd: records each call, and restarts fail while a file exists.
const SYSTEMCTL: &str = r#"#!/bin/sh
echo "$*" >>/run/calls
case "$*" in
is-active*) echo active;;
*restart*) test ! -e /run/restart-fails;;
esac
"#;

/// A heading and its step.
type Step = (&'static str, fn(&Debian) -> anyhow::Result<()>);

const STEPS: &[Step] = &[
    ("an installation", installs),
    ("the units", verifies_units),
    ("the configuration", configures),
    ("an operator, a proxy and song requests", serves),
    ("an upgrade", upgrades),
    ("an upgrade whose backup fails", keeps_the_version_without_a_backup),
    ("an upgrade of a running service", restarts),
    ("removing and purging", removes),
];

/// Runs every step; prints how long each took.
///
/// # Errors
/// The first deviation.
pub(super) fn run() -> anyhow::Result<()> {
    let package = pack(&["--fast"], None)?;
    let version = output_of(Command::new("dpkg-deb").arg("-f").arg(&package).arg("Version"))?;
    let upgrade = pack(&["--fast", "--deb-version", &format!("{}+upgrade", version.trim())], None)?;
    let debian = |packages| -> anyhow::Result<Debian> {
        let debian = Debian::with(packages, &folder()?)?;
        fs::copy(&package, debian.path("/package.deb"))?;
        fs::copy(&upgrade, debian.path("/upgrade.deb"))?;
        Ok(debian)
    };
    let server = debian(SERVER)?;
    for (heading, step) in STEPS {
        let start = Instant::now();
        step(&server).with_context(|| (*heading).to_owned())?;
        println!("{:>5.1} s  {heading}", start.elapsed().as_secs_f64());
    }
    installs(&debian(CONTAINER)?).context("an installation in a container")?;
    println!("package: {} can be installed, upgraded and removed", package.display());
    Ok(())
}

/// Installs the package: files, user, keys, enabled units, and what to do next.
fn installs(debian: &Debian) -> anyhow::Result<()> {
    let printed = debian.run("dpkg -i /package.deb")?;
    ensure!(printed.contains("systemctl start cuepoint"), "it does not say what to do next: {printed}");
    let user = debian.run("getent passwd cuepoint")?;
    ensure!(user.trim().ends_with(":/var/lib/cuepoint:/usr/sbin/nologin"), "the user is {user}");

    let paths = OWNERS.iter().map(|(path, _)| *path).chain(FILES.iter().copied());
    // Follows links, because /lib is one.
    let stat = "xargs stat -L -c '%n %F %a %U:%G'";
    let listed = debian.run(&format!("{{ dpkg -L cuepoint; echo {}; }} | {stat}", join(paths)))?;
    for line in listed.lines() {
        let (path, found) = line.split_once(' ').context("stat printed no path")?;
        let default = if found.starts_with("directory") { "755 root:root" } else { "644 root:root" };
        let expected = OWNERS.iter().find(|(owned, _)| *owned == path).map_or(default, |(_, owner)| owner);
        ensure!(found.ends_with(expected), "{path} is a {found} instead of {expected}");
    }
    debian.run("gzip -t /usr/share/man/man1/cuepoint.1.gz")?;
    debian.run("test -L /etc/systemd/system/multi-user.target.wants/cuepoint.service")?;
    debian.run("test -L /etc/systemd/system/timers.target.wants/cuepoint-backup.timer")?;
    Ok(())
}

/// Checks the units as systemd reads them.
fn verifies_units(debian: &Debian) -> anyhow::Result<()> {
    // The system has no `man`, which would look for the page.
    debian.run(
        "systemd-analyze verify --man=no cuepoint.service cuepoint-backup.service cuepoint-backup.timer",
    )?;
    for unit in ["cuepoint.service", "cuepoint-backup.service"] {
        debian.run(&format!("systemd-analyze security --offline=true --threshold=15 {unit}"))?;
    }
    Ok(())
}

/// Fills in the empty lines of the environment file, and adds the payment provider: five lines in all. A proxy and a port
/// are added, because other servers may use the default ports.
fn configures(debian: &Debian) -> anyhow::Result<()> {
    let mut text = debian.read(ENVIRONMENT)?;
    let [port, tls] = [free_port()?, free_port()?];
    let public_url = format!("PUBLIC_URL={}\n", public_url(tls));
    for (empty, filled) in [
        ("PUBLIC_URL=\n", public_url.as_str()),
        ("SMTP_URL=\n", "SMTP_URL=smtp://127.0.0.1:9\n"),
        ("FROM=\n", "FROM='Cuepoint <no-reply@example.com>'\n"),
    ] {
        ensure!(text.contains(empty), "the environment file has no line with {empty}");
        text = text.replace(empty, filled);
    }
    text.push_str("CUEPOINT__TOPUPS__PROVIDER=webhook\n");
    text.push_str(&format!("CUEPOINT__TOPUPS__WEBHOOK_SECRETS={SECRET}\n"));
    text.push_str(&format!("{PORT}{port}\n"));
    fs::write(debian.path(ENVIRONMENT), text)?;
    fs::write(debian.path(CADDYFILE), caddyfile(debian, port, tls)?)?;
    let checked = output_of(&mut debian.configured("cuepoint", "cuepoint config check"))?;
    ensure!(checked.contains("CUEPOINT_ENV is production"), "the configuration is {checked}");
    Ok(())
}

/// The address of the proxy.
fn public_url(port: u16) -> String {
    format!("https://localhost:{port}")
}

/// The file for Caddy from the package, for these ports, and with certificates of Caddy's own authority.
fn caddyfile(debian: &Debian, service: u16, proxy: u16) -> anyhow::Result<String> {
    let mut text = debian.read("/usr/share/doc/cuepoint/ops/caddy/Caddyfile")?;
    let site = format!("{} {{\n\ttls internal\n\tlog\n", public_url(proxy));
    for (before, after) in [
        ("\n{\n\tlog {", "\n{\n\tadmin off\n\tauto_https disable_redirects\n\tlog {"),
        ("api.example.com {\n\tlog\n", &site),
        ("127.0.0.1:8080", &format!("127.0.0.1:{service}")),
    ] {
        ensure!(text.contains(before), "the file for Caddy has no {before}");
        text = text.replace(before, after);
    }
    Ok(text)
}

/// Starts the proxy.
fn proxy(debian: &Debian) -> anyhow::Result<Child> {
    let log = File::create(folder()?.join("caddy.log"))?;
    let mut caddy = Command::new("chroot");
    caddy.arg(debian.path("/")).args(["env", "-i", "HOME=/root", "PATH=/usr/sbin:/usr/bin:/sbin:/bin"]);
    caddy.args(["caddy", "run", "--config", CADDYFILE, "--adapter", "caddyfile"]);
    Ok(caddy.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log).spawn()?)
}

/// Adds the first operator, starts the server as the unit does behind a TLS proxy, sends a free and a paid song request, and
/// asks the doctor.
fn serves(debian: &Debian) -> anyhow::Result<()> {
    let mut add = debian.configured("cuepoint", "cuepoint operator add operator@example.com");
    add.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut add = add.spawn()?;
    add.stdin.take().context("it asks for no password")?.write_all(PASSWORD.as_bytes())?;
    let added = add.wait_with_output()?;
    ensure!(added.status.success(), "no operator was added: {}", String::from_utf8_lossy(&added.stderr));

    let unit = debian.read("/lib/systemd/system/cuepoint.service")?;
    let value = |key: &str| {
        let value = unit.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='));
        value.with_context(|| format!("the unit has no {key}"))
    };
    let mut command = debian.configured(value("User")?, value("ExecStart")?);
    let log = File::create(folder()?.join("server.log"))?;
    let mut server = Process(command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log).spawn()?);
    let _proxy = Process(proxy(debian)?);
    let environment = debian.read(ENVIRONMENT)?;
    let url = environment.lines().find_map(|line| line.strip_prefix(PUBLIC_URL)).context("no URL")?;
    let authority = debian.path(AUTHORITY);
    let tour = Command::new("bash")
        .args(["-c", include_str!("tour.sh"), "tour", url, PASSWORD])
        .arg(&authority)
        .arg(SECRET)
        .output()?;
    let said = format!("{}{}", String::from_utf8_lossy(&tour.stdout), String::from_utf8_lossy(&tour.stderr));
    for fee in ["0.00", "12.50"] {
        let accepted = format!(r#""fee":{fee},"status":"accepted""#);
        ensure!(tour.status.success() && said.contains(&accepted), "no request at {fee} is accepted: {said}");
    }
    examines(debian)?;

    output_of(Command::new("kill").arg(server.0.id().to_string()))?;
    let status = server.0.wait()?;
    ensure!(status.success(), "the stopped server ended with {status}");
    Ok(())
}

/// Nothing of the deployment fails in the eyes of the doctor, but the mail server, which does not exist, and the first
/// backup, which is due within a day.
fn examines(debian: &Debian) -> anyhow::Result<()> {
    let mut doctor = debian.configured("cuepoint", "env SSL_CERT_FILE=/root.crt cuepoint doctor --full");
    fs::copy(debian.path(AUTHORITY), debian.path("/root.crt"))?;
    // A bare system knows no name.
    debian.run("chmod 644 /root.crt; echo 127.0.0.1 localhost >/etc/hosts")?;
    let said = String::from_utf8(doctor.output()?.stdout)?;
    let of_machine = |line: &&str| [" mail ", " disk.", " limits."].iter().any(|name| line.contains(name));
    let failed: Vec<&str> =
        said.lines().filter(|line| line.starts_with("fail")).filter(|line| !of_machine(line)).collect();
    ensure!(failed.is_empty() && said.contains("ok    network.streams"), "the doctor says: {said}");
    Ok(())
}

/// Upgrades to a higher version.
fn upgrades(debian: &Debian) -> anyhow::Result<()> {
    ensure!(backups(debian)? == 0, "there is a backup before the first upgrade");
    debian.run("dpkg -i /upgrade.deb")?;
    ensure!(backups(debian)? == 1, "the upgrade made no backup");
    Ok(())
}

/// An upgrade whose backup fails changes nothing.
fn keeps_the_version_without_a_backup(debian: &Debian) -> anyhow::Result<()> {
    debian.run("chown root:root /var/backups/cuepoint")?;
    // A downgrade makes the same backup.
    let printed = debian.fails("dpkg -i /package.deb")?;
    ensure!(printed.contains("the backup before the upgrade failed"), "it does not say why: {printed}");
    let status = debian.run("dpkg-query -W -f '${Status} ${Version}' cuepoint")?;
    ensure!(status.starts_with("install ok installed ") && status.ends_with("+upgrade"), "it is {status}");
    debian.run("chown cuepoint:cuepoint /var/backups/cuepoint")?;
    Ok(())
}

/// An upgrade restarts a running service, and fails if the new version is not ready.
fn restarts(debian: &Debian) -> anyhow::Result<()> {
    debian.run("mkdir -p /run/systemd/system; touch /run/restart-fails; rm /usr/sbin/policy-rc.d")?;
    fs::write(debian.path("/usr/local/bin/systemctl"), SYSTEMCTL)?;
    debian.run("chmod 755 /usr/local/bin/systemctl")?;
    let printed = debian.fails("dpkg -i /upgrade.deb")?;
    ensure!(printed.contains("the new version is not ready"), "it does not say why: {printed}");
    debian.run("rm /run/restart-fails /run/calls; dpkg --configure cuepoint")?;
    let calls = debian.read("/run/calls")?;
    ensure!(calls.starts_with("daemon-reload\n"), "systemd does not read the new unit: {calls}");
    ensure!(calls.contains("restart cuepoint.service\n"), "the service is not restarted: {calls}");
    Ok(())
}

/// Removes the package, which stops the service, and purges it. Both keep money and keys.
fn removes(debian: &Debian) -> anyhow::Result<()> {
    let keeps = || debian.run(&format!("stat {}", join(KEPT.iter().copied())));
    debian.run("rm /run/calls; dpkg -r cuepoint")?;
    let calls = debian.read("/run/calls")?;
    ensure!(calls.contains("stop cuepoint-backup.timer cuepoint.service"), "the service runs on: {calls}");
    debian.run(&format!("test ! -e /usr/bin/cuepoint; test -e {ENVIRONMENT}"))?;
    keeps()?;
    let printed = debian.run("dpkg -P cuepoint")?;
    for folder in ["/var/lib/cuepoint", "/var/backups/cuepoint", "/etc/cuepoint/keys"] {
        ensure!(printed.contains(folder), "it does not say that it keeps {folder}: {printed}");
    }
    debian.run(&format!("test ! -e {ENVIRONMENT}; test ! -L /etc/systemd/system/*/cuepoint.service"))?;
    keeps()?;
    Ok(())
}

/// Counts the backups.
fn backups(debian: &Debian) -> anyhow::Result<usize> {
    Ok(fs::read_dir(debian.path("/var/backups/cuepoint"))?.count())
}

fn join<'a>(paths: impl Iterator<Item = &'a str>) -> String {
    paths.collect::<Vec<_>>().join(" ")
}
