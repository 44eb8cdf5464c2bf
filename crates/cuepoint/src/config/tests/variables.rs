//! Variables that are not named as keys.

use super::*;

fn with(name: &str, value: &str) -> Result<Settings, Problems> {
    Layers { variables: vec![(name.into(), value.into())], ..Layers::test(&[]) }.settings()
}

#[test]
fn a_misspelled_variable_is_refused_and_the_right_name_suggested() {
    for (name, sentence) in [
        (
            "CUEPOINT_SERVER__PORT",
            "CUEPOINT_SERVER__PORT: there is no such variable; did you mean CUEPOINT__SERVER__PORT?",
        ),
        (
            "CUEPOINT_SERVER_PORT",
            "CUEPOINT_SERVER_PORT: there is no such variable; did you mean CUEPOINT__SERVER__PORT?",
        ),
        (
            "CUEPOINT_STORAGE_POSTGRES_URL",
            "CUEPOINT_STORAGE_POSTGRES_URL: there is no such variable; did you mean CUEPOINT__STORAGE__POSTGRES__URL?",
        ),
        (
            "CUEPOINT___SERVER__PORT",
            "_server.port: there is no such key (CUEPOINT___SERVER__PORT; did you mean CUEPOINT__SERVER__PORT?)",
        ),
        (
            "CUEPOINT__SERVER_PORT",
            "server_port: there is no such key (CUEPOINT__SERVER_PORT; did you mean CUEPOINT__SERVER__PORT?)",
        ),
        ("CUEPOINT_CONFGI", "CUEPOINT_CONFGI: there is no such variable; did you mean CUEPOINT_CONFIG?"),
        ("CUEPOINT_", "CUEPOINT_: there is no such variable; keys are written as CUEPOINT__SECTION__KEY"),
    ] {
        for value in ["9000", ""] {
            refused(with(name, value), sentence);
        }
    }
}

#[test]
fn variables_for_other_purposes_are_accepted() {
    for (name, value) in [
        ("CUEPOINT_ENV", "test"),
        ("CUEPOINT_CONFIG", "/somewhere"),
        ("CUEPOINT_LOG", "warn"),
        ("CUEPOINT_DB_PORT", "54330"),
        ("CUEPOINT_SOAK", "10"),
        ("CUEPOINT_TEST_POSTGRES_URL", "postgres://127.0.0.1/x"),
        ("CUEPOINTS", "1"),
        ("PORT", "1"),
        // A Kubernetes service named `cuepoint`, and one named `cuepoint-server`.
        ("CUEPOINT_SERVICE_HOST", "10.0.0.1"),
        ("CUEPOINT_SERVICE_PORT", "80"),
        ("CUEPOINT_SERVICE_PORT_HTTP", "80"),
        ("CUEPOINT_PORT", "tcp://10.0.0.1:80"),
        ("CUEPOINT_PORT_80_TCP", "tcp://10.0.0.1:80"),
        ("CUEPOINT_PORT_80_TCP_PROTO", "tcp"),
        ("CUEPOINT_PORT_80_TCP_PORT", "80"),
        ("CUEPOINT_PORT_80_TCP_ADDR", "10.0.0.1"),
        ("CUEPOINT_SERVER_PORT", "tcp://10.0.0.1:80"),
    ] {
        assert!(with(name, value).is_ok(), "{name}: {:?}", with(name, value).err());
    }
}

#[test]
fn a_non_utf8_variable_is_refused() {
    use std::os::unix::ffi::OsStringExt;
    let bytes = std::ffi::OsString::from_vec(vec![0xff]);
    let of = |name: &str| Layers { variables: vec![(name.into(), bytes.clone())], ..Layers::test(&[]) };
    refused(of("CUEPOINT__SERVER__HOST").settings(), "server.host: CUEPOINT__SERVER__HOST is not UTF-8");
    refused(of("STATE_DIRECTORY").settings(), "STATE_DIRECTORY: is not UTF-8");
}

#[test]
fn the_value_of_a_secret_can_be_in_a_file() {
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("secret");
    let from_file = |content: &str, more: &[(&str, &str)]| {
        std::fs::write(&path, content).unwrap();
        let mut variables: Vec<(std::ffi::OsString, std::ffi::OsString)> = more
            .iter()
            .map(|(key, value)| (crate::config::variables::variable(key).into(), value.into()))
            .collect();
        variables.push(("CUEPOINT__STORAGE__POSTGRES__URL_FILE".into(), path.clone().into()));
        Layers { variables, ..Layers::test(&[]) }
    };
    let backend = ("storage.backend", "postgres");
    let layers = from_file("postgres://cuepoint:hidden-word@db/x\n", &[backend]);
    let Storage::Postgres(Postgres { url, .. }) = layers.settings().unwrap().storage else { panic!() };
    assert_eq!(secrecy::ExposeSecret::expose_secret(&url), "postgres://cuepoint:hidden-word@db/x");
    assert!(layers.effective().unwrap().contains("storage.postgres.url = [REDACTED]\n"));

    let in_file = "(in the file of CUEPOINT__STORAGE__POSTGRES__URL_FILE)";
    let wrong = from_file("mysql://cuepoint:hidden-word@db/x", &[backend]).settings();
    refused(wrong, &format!("storage.postgres.url: must begin with postgres:// {in_file}"));
    let file = "storage.postgres.url: the file of CUEPOINT__STORAGE__POSTGRES__URL_FILE";
    for (content, reason) in [
        ("\n".to_owned(), "is empty"),
        ("\r\n".to_owned(), "is empty"),
        ("x".repeat(65_537), "is not a file of at most 65536 bytes"),
    ] {
        refused(from_file(&content, &[backend]).settings(), &format!("{file} {reason}"));
    }
    let windows = from_file("postgres://db/x\r\n", &[backend]).settings().unwrap();
    let Storage::Postgres(Postgres { url, .. }) = windows.storage else { panic!() };
    assert_eq!(secrecy::ExposeSecret::expose_secret(&url), "postgres://db/x");
    refused(
        from_file("postgres://db/x", &[("storage.postgres.url", "postgres://db/y")]).settings(),
        "storage.postgres.url: CUEPOINT__STORAGE__POSTGRES__URL and CUEPOINT__STORAGE__POSTGRES__URL_FILE must not be \
         set together",
    );
    // A secret in place of its path is not shown, and a device has no end.
    for (path, reason) in
        [("hidden-word", "cannot be read: No such file"), ("/dev/zero", "is not a file of at most")]
    {
        let error = with("CUEPOINT__NOTIFIER__SMTP_URL_FILE", path).unwrap_err().to_string();
        let beginning = format!("notifier.smtp_url: the file of CUEPOINT__NOTIFIER__SMTP_URL_FILE {reason}");
        assert!(error.starts_with(&beginning) && !error.contains("hidden-word"), "{error}");
    }
    refused(
        with("CUEPOINT__SERVER__PORT_FILE", "/etc/port"),
        "CUEPOINT__SERVER__PORT_FILE: only the value of a secret can be in a file",
    );
}
