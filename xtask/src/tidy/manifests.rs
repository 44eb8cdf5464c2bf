//! Rules for each crate's Cargo.toml: no versions of its own, and the lints of the workspace.

use super::File;

/// The crates below the web server, which name nothing of it.
const BELOW_THE_WEB_SERVER: &[&str] = &["crates/adapters/Cargo.toml", "crates/views/Cargo.toml"];

/// Checks the manifests of all members.
pub(super) fn check(files: &[File]) -> Vec<String> {
    let members = files.iter().filter(|file| {
        file.path == "xtask/Cargo.toml"
            || (file.path.starts_with("crates/") && file.path.ends_with("/Cargo.toml"))
    });
    members.flat_map(|file| check_manifest(&file.path, &file.text())).collect()
}

fn check_manifest(path: &str, text: &str) -> Vec<String> {
    let entries = entries(text);
    let mut complaints: Vec<String> = entries
        .iter()
        .filter_map(|entry| own_version(entry))
        .map(|name| format!("{path}: the version of {name} is written here; write it into the top Cargo.toml and `{name}.workspace = true` here"))
        .collect();
    if !entries.iter().any(|entry| entry.full_key() == "lints.workspace" && entry.value == "true") {
        complaints.push(format!("{path}: it lacks `[lints] workspace = true`"));
    }
    let below = BELOW_THE_WEB_SERVER.contains(&path);
    let actix = entries.iter().filter(|entry| below && entry.full_key().contains("dependencies.actix"));
    complaints.extend(actix.map(|entry| {
        format!(
            "{path}: {} is named, and only crates/transport and those above it know the web server",
            entry.key
        )
    }));
    complaints
}

/// One `key = value` below a `[table]`.
struct Entry<'a> {
    table: &'a str,
    key: &'a str,
    value: &'a str,
}

impl Entry<'_> {
    fn full_key(&self) -> String {
        if self.table.is_empty() { self.key.to_owned() } else { format!("{}.{}", self.table, self.key) }
    }
}

/// Returns the entries of a manifest, each with only the first line of its value, which suffices for the
/// rules.
fn entries(text: &str) -> Vec<Entry<'_>> {
    let mut entries = Vec::new();
    let mut table = "";
    let mut open_brackets = 0_usize;
    for line in text.lines() {
        let line = line.split('#').next().unwrap_or_default().trim();
        let continues = open_brackets > 0;
        if !continues && line.starts_with('[') {
            table = line.trim_matches(['[', ']']).trim();
            continue;
        }
        open_brackets = open_brackets
            .saturating_add(line.matches(['[', '{']).count())
            .saturating_sub(line.matches([']', '}']).count());
        if !continues && let Some((key, value)) = line.split_once('=') {
            entries.push(Entry { table, key: key.trim(), value: value.trim() });
        }
    }
    entries
}

/// Returns the name of a dependency whose entry sets a version, path or git URL of its own.
fn own_version(entry: &Entry<'_>) -> Option<String> {
    let full_key = entry.full_key();
    let parts: Vec<&str> = full_key.split('.').collect();
    // A target's `cfg(…)` may contain dots, so the name of the table is searched from the end.
    let at = parts
        .iter()
        .rposition(|part| matches!(*part, "dependencies" | "dev-dependencies" | "build-dependencies"))?;
    let (name, rest) = parts.get(at.saturating_add(1)..)?.split_first()?;
    let inherits = match rest {
        [] => entry
            .value
            .split([',', '{', '}'])
            .any(|part| part.split_whitespace().eq(["workspace", "=", "true"])),
        [key, ..] => !matches!(*key, "version" | "path" | "git"),
    };
    (!inherits).then(|| (*name).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINTS: &str = "[lints]\nworkspace = true\n";

    fn check(manifest: &str, expected: &[&str]) {
        let complaints = check_manifest("crates/x/Cargo.toml", manifest);
        assert_eq!(complaints.len(), expected.len(), "{manifest}\n{complaints:?}");
        for (complaint, part) in complaints.iter().zip(expected) {
            assert!(complaint.contains(part), "{complaint}");
        }
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
        check_dependencies(
            "[dev-dependencies]\nurl = { version = \"2\", features = [\"serde\"] }",
            &["version of url"],
        );
        check_dependencies("[build-dependencies.url]\nversion = \"2\"", &["version of url"]);
        check_dependencies(
            "[dependencies]\nx = { path = \"../x\" }\ny.git = \"z\"",
            &["version of x", "version of y"],
        );
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
