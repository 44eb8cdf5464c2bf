//! Sources of values: files, variables, environments, and unknown keys.

use super::*;

/// The configuration file of a test; `name` keeps the files of concurrent tests apart.
fn file(name: &str) -> std::path::PathBuf {
    std::env::temp_dir().join(format!("cuepoint-config-{name}-{}.toml", std::process::id()))
}

/// Returns the settings from a file with this content.
fn of_file(name: &str, content: &str, keys: &[(&str, &str)]) -> Result<Settings, ConfigError> {
    let path = file(name);
    std::fs::write(&path, content).unwrap();
    let settings = Layers { file: Some(path.clone()), ..Layers::test(keys) }.settings();
    std::fs::remove_file(path).unwrap();
    settings
}

#[test]
fn unknown_keys_are_refused_in_every_layer() {
    for (variable, sentence) in [
        ("CUEPOINT__SERVER__PROT", "server.prot: there is no such key (CUEPOINT__SERVER__PROT)"),
        ("CUEPOINT__SERVER", "server: there is no such key (CUEPOINT__SERVER)"),
        ("CUEPOINT__", ": there is no such key (CUEPOINT__)"),
        ("CUEPOINT__SERVER__PORT[", "server.port[: there is no such key (CUEPOINT__SERVER__PORT[)"),
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

    let in_file = |name, sentence: &str| format!("{sentence} (in {})", file(name).display());
    let sentence = in_file("prot", "server.prot: there is no such key");
    refused(of_file("prot", "[server]\nprot = 1", &[]), &sentence);
    let sections = "`server`, `storage`, `auth`, `wallet`, `fees`, `requests`, `ledger`, `events`, \
                    `webhooks`, `withdrawals`, `adjustments`, `notifier`, `phone`, `topups`, `payouts`, \
                    `cors`, `access`, `rate_limits`, `bootstrap`";
    let sentence = format!("sever: unknown field `sever`, expected one of {sections}");
    refused(of_file("sever", "[sever]\nport = 1", &[]), &in_file("sever", &sentence));
    let sentence = in_file("scalar", "server: there is no such key");
    refused(of_file("scalar", "server = 1", &[]), &sentence);
    let misplaced = of_file("misplaced", "storage = \"hidden-word\"", &[]);
    refused(misplaced, &in_file("misplaced", "storage: there is no such key"));
}

#[test]
fn variables_override_the_file_and_the_file_overrides_defaults() {
    let file = "[server]\nport = 9000\nworkers = 2\n[cors]\nallowed_origins = [\"https://a.example\"]\n\
        [withdrawals]\nmax_amount = 10\noptions = [\"BTC: bitcoin\"]\n";
    let settings = of_file("layers", file, &[("server.workers", "4")]).unwrap();
    assert_eq!((settings.server.port, settings.server.workers), (9_000, Some(4)));
    assert_eq!(settings.cors_allowed_origins, ["https://a.example"]);
    assert_eq!(settings.withdrawals.limits.max_amount.unwrap().money(), settings.currency.whole(10));
    assert_eq!(settings.withdrawals.options.rows().len(), 1);
}

#[test]
fn a_value_of_the_wrong_type_in_a_file_is_refused() {
    for (name, file, sentence) in [
        ("float", "[server]\nport = 80.5", "server.port: must be a whole number from 0 to 65535"),
        ("bool", "[server]\nport = true", "server.port: must be a whole number from 0 to 65535"),
        ("number", "[rate_limits]\nenabled = 1", "rate_limits.enabled: must be true or false"),
        (
            "money",
            "[withdrawals]\nmax_amount = 0.1",
            "withdrawals.max_amount: must be an amount of money as text, such as \"12.50\"",
        ),
        ("nan", "[withdrawals]\nmax_amount = nan", "withdrawals.max_amount: must not be nan or inf"),
        ("list", "[cors]\nallowed_origins = [1]", "cors.allowed_origins: must be a list of strings"),
        ("no-options", "[withdrawals]\noptions = []", "withdrawals.options: must have at least one currency"),
        ("option", "[withdrawals]\noptions = [1]", "withdrawals.options: must be a list of strings"),
        ("options", "[withdrawals.options]\nBTC = 1", "withdrawals.options: must be a list of strings"),
        ("table", "[server.host]\nname = \"x\"", "server.host: must be a non-empty string"),
        (
            "secret",
            "[bootstrap]\noperator_password = 12345678",
            "bootstrap.operator_password: must be a non-empty string",
        ),
    ] {
        let sentence = format!("{sentence} (in {})", self::file(name).display());
        refused(of_file(name, file, &[]), &sentence);
    }
}

#[test]
fn an_invalid_value_of_another_layer_is_not_attributed_to_the_file() {
    let overridden = of_file("overridden", "[server]\nport = 9000", &[("server.port", "x")]);
    refused(overridden, "server.port: must be a whole number from 0 to 65535");
    let missing = of_file("missing", "[storage]\nbackend = \"postgres\"", &[]);
    refused(missing, "storage.postgres.url: is required");
}

#[test]
fn an_unreadable_configuration_file_is_refused_without_showing_it() {
    let missing = Layers { file: Some("/nowhere/cuepoint.toml".into()), ..Layers::test(&[]) };
    let error = missing.settings().unwrap_err().to_string();
    assert!(error.starts_with("CUEPOINT_CONFIG: /nowhere/cuepoint.toml cannot be read: "), "{error}");

    let broken = of_file("broken", "[bootstrap]\noperator_password = \"hidden-word\" x\n", &[]);
    let error = broken.unwrap_err().to_string();
    let beginning =
        format!("CUEPOINT_CONFIG: {} is invalid: TOML parse error at line 2", file("broken").display());
    assert!(error.starts_with(&beginning), "{error}");
    assert!(!error.contains("hidden-word") && !error.contains('\n'), "{error}");
}

#[test]
fn environments_have_three_names() {
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
