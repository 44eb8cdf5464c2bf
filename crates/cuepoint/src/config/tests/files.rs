//! Sources of values: files, variables, environments, and unknown keys.

use std::path::PathBuf;

use tempfile::TempDir;

use super::*;

/// A configuration file, removed with its folder on drop.
struct File(TempDir);

impl File {
    fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("cuepoint.toml")
    }

    /// Returns the settings with this content of the file.
    fn settings(&self, content: &str, keys: &[(&str, &str)]) -> Result<Settings, Problems> {
        std::fs::write(self.path(), content).unwrap();
        Layers { file: Some(self.path()), ..Layers::test(keys) }.settings()
    }
}

#[test]
fn unknown_configuration_keys_are_refused_in_variables_and_in_the_file() {
    for (variable, sentence) in [
        (
            "CUEPOINT__SERVER__PROT",
            "server.prot: there is no such key (CUEPOINT__SERVER__PROT; did you mean CUEPOINT__SERVER__PORT?)",
        ),
        ("CUEPOINT__SERVER", "server: there is no such key (CUEPOINT__SERVER)"),
        ("CUEPOINT__", ": there is no such key (CUEPOINT__)"),
        (
            "CUEPOINT__SERVER__PORT[",
            "server.port[: there is no such key (CUEPOINT__SERVER__PORT[; did you mean CUEPOINT__SERVER__PORT?)",
        ),
        (
            "CUEPOINT__STORAGE__POSTGRES",
            "storage.postgres: there is no such key (CUEPOINT__STORAGE__POSTGRES)",
        ),
    ] {
        for value in ["1", ""] {
            let variables = vec![(variable.into(), value.into())];
            refused(Layers { variables, ..Layers::test(&[]) }.settings(), sentence);
        }
    }
    let elsewhere = vec![("PORT".into(), "1".into()), ("CUEPOINT_ENV".into(), "test".into())];
    assert!(Layers { variables: elsewhere, ..Layers::test(&[]) }.settings().is_ok());

    let file = File::new();
    let in_file = |sentence: &str| format!("{sentence} (in {})", file.path().display());
    for (content, sentence) in [
        ("[server]\nprot = 1", "server.prot: there is no such key; did you mean server.port?"),
        ("[server]\nspeed = 1", "server.speed: there is no such key"),
        ("[sever]\nport = 1", "sever: there is no such section; did you mean server?"),
        ("[moon]\nport = 1", "moon: there is no such section"),
        ("server = 1", "server: is a section with keys below [server], and has no value of its own"),
        (
            "storage = \"hidden-word\"",
            "storage: is a section with keys below [storage], and has no value of its own",
        ),
    ] {
        refused(file.settings(content, &[]), &in_file(sentence));
    }
}

#[test]
fn all_errors_of_a_configuration_are_reported_at_once() {
    let file = File::new();
    let content = "[server]\nprot = 1\nworkers = \"many\"\n[wallet]\nscale = 2\n\
        [withdrawals]\nmax_amount = \"ten\"\nmax_per_24h = \"0\"\n[storage]\nbackend = \"postgres\"\n";
    let variables = [("CUEPOINT_SERVER_PORT", "1"), ("CUEPOINT__GIGS__MAX_HOURS", "0")];
    std::fs::write(file.path(), content).unwrap();
    let variables = variables.map(|(name, value)| (name.into(), value.into())).to_vec();
    let layers = Layers { file: Some(file.path()), variables, ..Layers::test(&[]) };
    let in_file = format!("(in {})", file.path().display());
    let expected = [
        "CUEPOINT_SERVER_PORT: there is no such variable; did you mean CUEPOINT__SERVER__PORT?".to_owned(),
        format!("server.prot: there is no such key; did you mean server.port? {in_file}"),
        format!("server.workers: must be a whole number from 1 to 512 {in_file}"),
        "storage.postgres.url: is required, because storage.backend is postgres; for SQLite, set storage.backend to \
         sqlite, or name the data directory with --data"
            .to_owned(),
        "gigs.max_hours: must be a whole number from 1 to 168".to_owned(),
        format!("withdrawals.max_amount: is not an amount in USD: not a number {in_file}"),
        format!("withdrawals.max_per_24h: must be greater than zero {in_file}"),
    ];
    assert_eq!(layers.settings().unwrap_err().sentences, expected);
}

#[test]
fn an_invalid_value_causes_no_further_error() {
    let content = "[storage]\nbackend = \"oracle\"\n[bootstrap]\noperator_email = \"ada\"\noperator_password = \
        \"12345678\"\n";
    let file = File::new();
    std::fs::write(file.path(), content).unwrap();
    let production = Layers {
        environment: DeploymentEnvironment::Production,
        file: Some(file.path()),
        ..Layers::test(&[])
    };
    let sentences = production.settings().unwrap_err().sentences;
    let keys: Vec<&str> = sentences.iter().filter_map(|sentence| Some(sentence.split_once(':')?.0)).collect();
    assert_eq!(keys, ["storage.backend", "bootstrap.operator_email"], "{sentences:?}");
}

#[test]
fn amounts_are_not_judged_while_their_currency_is_invalid() {
    let settings =
        File::new().settings("[wallet]\ncurrency = \"dollars\"\n[tips]\nmin_amount = \"1.001\"\n", &[]);
    let sentences = settings.unwrap_err().sentences;
    assert_eq!(sentences.len(), 1, "{sentences:?}");
    assert!(sentences.iter().all(|sentence| sentence.starts_with("wallet.currency: ")), "{sentences:?}");
}

#[test]
fn variables_override_the_file_and_the_file_overrides_defaults() {
    let content = "[server]\nport = 9000\nworkers = 2\n[cors]\nallowed_origins = [\"https://a.example\"]\n\
        [withdrawals]\nmax_amount = 10\noptions = [\"BTC: bitcoin\"]\n";
    let settings = File::new().settings(content, &[("server.workers", "4")]).unwrap();
    assert_eq!((settings.server.port, settings.server.connections.workers), (9_000, Some(4)));
    assert_eq!(settings.cors_allowed_origins, ["https://a.example"]);
    assert_eq!(settings.withdrawals.limits.max_amount.unwrap().money(), settings.currency.whole(10));
    assert_eq!(settings.withdrawals.options.rows().len(), 1);
}

#[test]
fn a_value_of_the_wrong_type_in_a_file_is_refused() {
    let file = File::new();
    for (content, sentence) in [
        ("[server]\nport = 80.5", "server.port: must be a whole number from 0 to 65535"),
        ("[server]\nport = true", "server.port: must be a whole number from 0 to 65535"),
        ("[rate_limits]\nenabled = 1", "rate_limits.enabled: must be true or false"),
        (
            "[withdrawals]\nmax_amount = 0.1",
            "withdrawals.max_amount: must be an amount of money as text, such as \"12.50\"",
        ),
        ("[withdrawals]\nmax_amount = nan", "withdrawals.max_amount: must not be nan or inf"),
        ("[cors]\nallowed_origins = [1]", "cors.allowed_origins: must be a list of strings"),
        ("[withdrawals]\noptions = []", "withdrawals.options: must have at least one currency"),
        ("[withdrawals]\noptions = [1]", "withdrawals.options: must be a list of strings"),
        ("[withdrawals.options]\nBTC = 1", "withdrawals.options: must be a list of strings"),
        ("[server.host]\nname = \"x\"", "server.host: must be a non-empty string"),
        (
            "[bootstrap]\noperator_password = 12345678",
            "bootstrap.operator_password: must be a non-empty string",
        ),
    ] {
        let sentence = format!("{sentence} (in {})", file.path().display());
        refused(file.settings(content, &[]), &sentence);
    }
}

#[test]
fn configuration_errors_outside_the_file_do_not_name_the_file() {
    let file = File::new();
    let overridden = file.settings("[server]\nport = 9000", &[("server.port", "x")]);
    refused(overridden, "server.port: must be a whole number from 0 to 65535");
    let missing = file.settings("[storage]\nbackend = \"postgres\"", &[]);
    refused(
        missing,
        "storage.postgres.url: is required, because storage.backend is postgres; for SQLite, set storage.backend to sqlite, \
         or name the data directory with --data",
    );
}

#[test]
fn configuration_errors_do_not_show_the_content_of_the_file() {
    let missing = Layers { file: Some("/nowhere/cuepoint.toml".into()), ..Layers::test(&[]) };
    let error = missing.settings().unwrap_err().to_string();
    assert!(error.starts_with("/nowhere/cuepoint.toml: cannot be read: "), "{error}");

    let file = File::new();
    let broken = file.settings("[bootstrap]\noperator_password = \"hidden-word\" x\n", &[]);
    let error = broken.unwrap_err().to_string();
    let beginning = format!("{}: is not valid TOML: TOML parse error at line 2", file.path().display());
    assert!(error.starts_with(&beginning), "{error}");
    assert!(!error.contains("hidden-word") && !error.contains('\n'), "{error}");
}

#[test]
fn the_environment_is_one_of_three_names() {
    for environment in
        [DeploymentEnvironment::Development, DeploymentEnvironment::Test, DeploymentEnvironment::Production]
    {
        assert_eq!(environment.name().parse(), Ok(environment));
    }
    assert_eq!(
        "staging".parse::<DeploymentEnvironment>().unwrap_err().to_string(),
        "CUEPOINT_ENV: must be development, test or production"
    );
}
