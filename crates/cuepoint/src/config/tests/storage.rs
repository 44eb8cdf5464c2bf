//! The store, its data directory, and the keys.

use tempfile::TempDir;

use super::*;

const DEVELOPMENT: DeploymentEnvironment = DeploymentEnvironment::Development;

/// Layers of an environment with further variables and an option of the command line.
fn given(environment: DeploymentEnvironment, variables: &[(&str, &str)], options: Options) -> Layers {
    let variables = variables.iter().map(|(name, value)| (name.into(), value.into())).collect();
    Layers { environment, variables, options, ..Layers::test(&[]) }
}

fn data(directory: &str) -> Options {
    Options::default().data(directory.to_owned())
}

fn none() -> Options {
    Options::default()
}

#[test]
fn the_highest_layer_sets_the_data_directory() {
    let (key, systemd) = ("CUEPOINT__STORAGE__DIR", "STATE_DIRECTORY");
    for (variables, option, expected) in [
        (&[][..], none(), "./cuepoint-data"),
        (&[(systemd, "")], none(), "./cuepoint-data"),
        (&[(systemd, "/var/lib/cuepoint")], none(), "/var/lib/cuepoint"),
        (&[(systemd, "/var/lib/cuepoint:/var/lib/other")], none(), "/var/lib/cuepoint"),
        (&[(systemd, "/var/lib/cuepoint"), (key, "")], none(), "/var/lib/cuepoint"),
        (&[(systemd, "/var/lib/cuepoint"), (key, "/data")], none(), "/data"),
        (&[(systemd, "/var/lib/cuepoint"), (key, "/data")], data("mine"), "mine"),
    ] {
        let layers = given(DEVELOPMENT, variables, option);
        let settings = layers.settings().unwrap();
        assert_eq!(settings.storage.directory(), Some(Path::new(expected)), "{layers:?}");
        let effective = layers.effective().unwrap();
        assert!(effective.contains(&format!("\nstorage.dir = \"{expected}\"\n")), "{effective}");
    }
}

#[test]
fn the_configuration_file_overrides_the_state_directory() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("cuepoint.toml");
    std::fs::write(&path, "[storage]\ndir = \"/file\"\n").unwrap();
    let layers = Layers { file: Some(path), ..given(DEVELOPMENT, &[("STATE_DIRECTORY", "/s")], none()) };
    assert_eq!(layers.settings().unwrap().storage.directory(), Some(Path::new("/file")));
}

#[test]
fn command_line_options_select_the_store() {
    let postgres = [
        ("CUEPOINT__STORAGE__BACKEND", "postgres"),
        ("CUEPOINT__STORAGE__POSTGRES__URL", "postgres://db/cuepoint"),
    ];
    for environment in [DEVELOPMENT, DeploymentEnvironment::Test] {
        let layers = given(environment, &postgres, data("/data"));
        assert_eq!(layers.settings().unwrap().storage.directory(), Some(Path::new("/data")));
        assert!(layers.effective().unwrap().contains("storage.backend = \"sqlite\"\n"));
        let layers = given(environment, &postgres, Options::default().ephemeral());
        assert!(matches!(layers.settings().unwrap().storage, Storage::Memory));
        assert!(layers.effective().unwrap().contains("storage.backend = \"memory\"\n"));
    }
    refused(given(DEVELOPMENT, &[], data("")).settings(), "storage.dir: must be a non-empty string (--data)");
}

#[test]
fn production_accepts_sqlite_and_refuses_memory() {
    let production = DeploymentEnvironment::Production;
    let settings = given(production, &[], data("/data")).settings().unwrap();
    assert_eq!(settings.storage.directory(), Some(Path::new("/data")));
    refused(
        given(production, &[], Options::default().ephemeral()).settings(),
        "storage.backend: memory is refused in production, because its data ends with the process (--ephemeral)",
    );
}

#[test]
fn production_requires_an_explicit_data_directory() {
    let production = DeploymentEnvironment::Production;
    let (backend, dir) = (("CUEPOINT__STORAGE__BACKEND", "sqlite"), ("CUEPOINT__STORAGE__DIR", "/data"));
    refused(
        given(production, &[backend, ("STATE_DIRECTORY", "")], none()).settings(),
        "storage.dir: is required in production, unless --data or $STATE_DIRECTORY names the data directory",
    );
    for named in [
        given(production, &[backend, dir], none()),
        given(production, &[backend, ("STATE_DIRECTORY", "/data")], none()),
        given(production, &[backend], data("/data")),
    ] {
        assert_eq!(named.settings().unwrap().storage.directory(), Some(Path::new("/data")));
    }
}

#[test]
fn key_files_are_created_in_the_sqlite_data_directory_outside_production() {
    let created = |layers: Layers| {
        let settings = layers.settings().unwrap();
        [settings.auth.signing_keys, settings.webhooks.keys].map(|source| match source?.place {
            KeyPlace::Created(path) => Some(path),
            other => panic!("{other:?}"),
        })
    };
    for environment in [DEVELOPMENT, DeploymentEnvironment::Test] {
        let paths = ["/data/signing-keys", "/data/webhook-keys"].map(|path| Some(PathBuf::from(path)));
        assert_eq!(created(given(environment, &[], data("/data"))), paths);
        assert_eq!(created(given(environment, &[], Options::default().ephemeral())), [None, None]);
    }
    assert_eq!(created(given(DeploymentEnvironment::Production, &[], data("/data"))), [None, None]);
    let postgres = [("storage.backend", "postgres"), ("storage.postgres.url", "postgres://db/cuepoint")];
    assert_eq!(created(layers(DEVELOPMENT, &postgres)), [None, None]);
}

#[test]
fn signing_and_webhook_keys_are_configured_as_a_file_or_a_value() {
    let sources = |layers: Layers| {
        let settings = layers.settings().unwrap();
        (settings.auth.signing_keys, settings.webhooks.keys)
    };
    let place = |source: Option<KeySource>| source.unwrap().place;
    let files = [("auth.signing_key_file", "/keys"), ("webhooks.key_file", "/others")];
    let (signing, webhooks) = sources(layers(DEVELOPMENT, &files));
    assert!(matches!(place(signing), KeyPlace::File(path) if path == Path::new("/keys")));
    assert!(matches!(place(webhooks), KeyPlace::File(path) if path == Path::new("/others")));
    let texts = [("auth.signing_keys", "a:hidden"), ("webhooks.keys", "b:hidden")];
    let (signing, webhooks) = sources(layers(DEVELOPMENT, &texts));
    assert!(matches!((place(signing), place(webhooks)), (KeyPlace::Text(_), KeyPlace::Text(_))));

    let postgres = [("storage.backend", "postgres"), ("storage.postgres.url", "postgres://db/cuepoint")];
    let file = [&postgres[..], &[("auth.signing_key_file", "/etc/keys")]].concat();
    let (_, beside) = sources(layers(DEVELOPMENT, &file));
    assert!(matches!(place(beside), KeyPlace::Created(path) if path == Path::new("/etc/webhook-keys")));
    let (_, none) = sources(layers(DeploymentEnvironment::Production, &file));
    assert!(none.is_none(), "production creates no keys");
}
