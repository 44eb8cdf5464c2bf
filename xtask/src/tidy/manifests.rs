//! Rules for each crate's Cargo.toml: no versions of its own, and the lints of the workspace.

use std::iter::once;

use toml::{Table, Value};

use super::File;

/// The crates below the web server, which name nothing of it.
const BELOW_THE_WEB_SERVER: &[&str] = &["crates/adapters/Cargo.toml", "crates/views/Cargo.toml"];

/// The tables of dependencies.
const KINDS: [&str; 3] = ["dependencies", "dev-dependencies", "build-dependencies"];

/// Checks the manifests of all members.
pub(super) fn check(files: &[File]) -> Vec<String> {
    let members = files.iter().filter(|file| {
        file.path == "xtask/Cargo.toml"
            || (file.path.starts_with("crates/") && file.path.ends_with("/Cargo.toml"))
    });
    members.flat_map(|file| check_manifest(&file.path, &file.text())).collect()
}

fn check_manifest(path: &str, text: &str) -> Vec<String> {
    let manifest: Table = match text.parse() {
        Ok(manifest) => manifest,
        Err(error) => return vec![format!("{path}: {error}")],
    };
    let mut complaints = Vec::new();
    for (_, name, dependency) in dependencies(&manifest) {
        if !inherits(dependency) {
            complaints.push(format!("{path}: the version of {name} is written here; write it into the top Cargo.toml and `{name}.workspace = true` here"));
        }
        if BELOW_THE_WEB_SERVER.contains(&path) && name.starts_with("actix") {
            complaints.push(format!(
                "{path}: {name} is named, and only crates/transport and those above it know the web server"
            ));
        }
    }
    if !manifest.get("lints").is_some_and(inherits) {
        complaints.push(format!("{path}: it lacks `[lints] workspace = true`"));
    }
    complaints
}

/// The dependencies of a manifest, on every platform, each with the table that contains it.
pub(super) fn dependencies(manifest: &Table) -> impl Iterator<Item = (&'static str, &String, &Value)> {
    let platforms = manifest.get("target").and_then(Value::as_table).into_iter().flatten();
    let tables = once(manifest).chain(platforms.filter_map(|(_, platform)| platform.as_table()));
    let kinds = tables
        .flat_map(|table| KINDS.into_iter().filter_map(|kind| Some((kind, table.get(kind)?.as_table()?))));
    kinds.flat_map(|(kind, table)| table.iter().map(move |(name, dependency)| (kind, name, dependency)))
}

/// Whether a value is that of the workspace.
fn inherits(value: &Value) -> bool {
    value.get("workspace").and_then(Value::as_bool) == Some(true)
}

#[cfg(test)]
mod tests {
    use super::super::tests::assert_complaints;
    use super::*;

    const LINTS: &str = "[lints]\nworkspace = true\n";

    fn check(manifest: &str, expected: &[&str]) {
        assert_complaints(&check_manifest("crates/x/Cargo.toml", manifest), expected);
    }

    fn check_dependencies(dependencies: &str, expected: &[&str]) {
        check(&format!("{dependencies}\n{LINTS}"), expected);
    }

    #[test]
    fn inherited_dependencies_are_accepted() {
        check_dependencies(
            "[dependencies]\ntime.workspace = true\nurl = { workspace = true, features = [\n  \"a = b\",\n] }",
            &[],
        );
        check_dependencies("[dependencies.url]\nworkspace = true\nfeatures = [\"serde\"]", &[]);
        check_dependencies("[package]\nversion = \"1\" # not a dependency", &[]);
    }

    #[test]
    fn a_dependency_that_is_not_inherited_from_the_workspace_is_reported() {
        check_dependencies("[dependencies]\nurl = \"2\"", &["version of url"]);
        let with_features = "[dev-dependencies]\nurl = { version = \"2\", features = [\"serde\"] }";
        check_dependencies(with_features, &["version of url"]);
        check_dependencies("[build-dependencies.url]\nversion = \"2\"", &["version of url"]);
        let several = "[dependencies]\nx = { path = \"../x\" }\ny.git = \"z\"";
        check_dependencies(several, &["version of x", "version of y"]);
        check_dependencies("[target.'cfg(unix)'.dependencies]\nlibc = \"0.2\"", &["version of libc"]);
    }

    #[test]
    fn crates_below_the_web_server_cannot_depend_on_it() {
        let manifest = format!("[dependencies]\nactix-web.workspace = true\n{LINTS}");
        assert_eq!(check_manifest("crates/views/Cargo.toml", &manifest).len(), 1);
        assert!(check_manifest("crates/transport/Cargo.toml", &manifest).is_empty());
    }

    #[test]
    fn the_common_lints_are_required() {
        check("[package]\nname = \"x\"\n", &["[lints]"]);
        check("[lints.rust]\nunsafe_code = \"allow\"\n", &["[lints]"]);
        check("lints.workspace = true\n", &[]);
    }
}
