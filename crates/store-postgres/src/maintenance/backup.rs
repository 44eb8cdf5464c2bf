//! Backups of a PostgreSQL database, which its own tools make.

use std::path::Path;

use tokio_postgres::config::{Config, Host, SslMode};

/// Returns the command that makes a backup in a file, and the way to verify it. The text contains no
/// password.
///
/// # Errors
/// When the URL is invalid. No error repeats it.
pub(crate) fn instructions(url: &str, file: &Path) -> anyhow::Result<String> {
    // The error of the parser repeats no part of the URL.
    let config: Config = url.replace("sslmode=verify-full", "sslmode=require").parse()?;
    Ok(format!(
        "no backup was made, because PostgreSQL's own tools make it: run `{}`; to verify the backup, restore it with \
         pg_restore into an empty database of the same cluster, and run `cuepoint ledger verify` with \
         storage.postgres.url set to that database (in another cluster, run `cuepoint restore --database-name NAME` first)",
        dump(&config, file)
    ))
}

/// The command line of `pg_dump`, for a shell.
fn dump(config: &Config, file: &Path) -> String {
    let mut words = Vec::new();
    if config.get_ssl_mode() == SslMode::Require {
        words.push("PGSSLMODE=require".to_owned());
    }
    words.push("pg_dump --format=custom".to_owned());
    words.push(format!("--file={}", quoted(&file.display().to_string())));
    let mut hosts: Vec<String> = config.get_hosts().iter().map(name).collect();
    if hosts.is_empty() {
        hosts = config.get_hostaddrs().iter().map(ToString::to_string).collect();
    }
    words.push(format!("--host={}", quoted(&hosts.join(","))));
    if !config.get_ports().is_empty() {
        let ports: Vec<String> = config.get_ports().iter().map(ToString::to_string).collect();
        words.push(format!("--port={}", ports.join(",")));
    }
    if let Some(user) = config.get_user() {
        words.push(format!("--username={}", quoted(user)));
    }
    if let Some(database) = config.get_dbname().or_else(|| config.get_user()) {
        words.push(quoted(database));
    }
    words.join(" ")
}

fn name(host: &Host) -> String {
    match host {
        Host::Tcp(name) => name.clone(),
        Host::Unix(folder) => folder.display().to_string(),
    }
}

/// A word of a shell's command line.
fn quoted(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./,:=@%+".contains(&byte);
    if !text.is_empty() && text.bytes().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(url: &str, file: &str) -> String {
        let text = instructions(url, Path::new(file)).unwrap();
        text.split('`').nth(1).unwrap().to_owned()
    }

    #[test]
    fn the_pg_dump_command_names_the_database_but_not_the_password() {
        assert_eq!(
            line("postgres://cue:hunter2@db.example.com:5433/live?sslmode=require", "/b/today.dump"),
            "PGSSLMODE=require pg_dump --format=custom --file=/b/today.dump --host=db.example.com --port=5433 \
             --username=cue live"
        );
        assert_eq!(
            line("postgres://cue:hunter2@a,b/live?sslmode=verify-full&password=hunter2", "it's mine"),
            r"PGSSLMODE=require pg_dump --format=custom --file='it'\''s mine' --host=a,b --port=5432,5432 --username=cue live"
        );
        assert_eq!(
            line("postgres://cue@%2Fvar%2Frun%2Fpostgresql", "x"),
            "pg_dump --format=custom --file=x --host=/var/run/postgresql --port=5432 --username=cue cue"
        );
    }

    #[test]
    fn an_error_about_an_invalid_url_hides_the_password() {
        let error = instructions("postgres://cue:hunter2@db:port/live", Path::new("x")).unwrap_err();
        assert!(!format!("{error:#} {error:?}").contains("hunter2"), "{error:#}");
    }
}
