//! The layout of the root folder, the migrations and the modules.

use std::collections::{BTreeMap, BTreeSet};

use super::File;

/// The folders and files of the root; dotfiles and licences are also allowed.
const TOP_LEVEL: &[&str] = &[
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "Cargo.lock",
    "Cargo.toml",
    "README.md",
    "clippy.toml",
    "config",
    "crates",
    "deny.toml",
    "docs",
    "migrations",
    "ops",
    "rust-toolchain.toml",
    "rustfmt.toml",
    "xtask",
];

/// Checks the names in the root of the repository.
pub(super) fn check_top_level(files: &[File]) -> Vec<String> {
    let mut names: Vec<&str> = files.iter().filter_map(|file| file.path.split('/').next()).collect();
    names.dedup();
    names.retain(|name| !TOP_LEVEL.contains(name) && !name.starts_with('.') && !name.starts_with("LICENSE"));
    names
        .into_iter()
        .map(|name| format!("{name}: it is not allowed at the top level; see the map in ARCHITECTURE.md"))
        .collect()
}

/// Reports source files that neither a module nor a manifest declares: the compiler does not see them, nor their tests.
pub(super) fn check_modules(files: &[File]) -> Vec<String> {
    let of_kind = |kind: &'static str| files.iter().filter(move |file| file.has_extension(&[kind]));
    let texts: BTreeMap<&str, _> =
        of_kind("rs").chain(of_kind("toml")).map(|file| (&*file.path, file.text())).collect();
    let paths = texts.values().flat_map(|text| text.lines()).filter_map(|line| line.split_once("path = \""));
    let named: BTreeSet<&str> =
        paths.filter_map(|(_, path)| path.split('"').next()?.rsplit('/').next()).collect();
    let is_declared = |path: &str| {
        let (mut folder, file) = path.rsplit_once('/').unwrap_or_default();
        let mut name = file.trim_end_matches(".rs");
        if name == "mod" {
            (folder, name) = folder.rsplit_once('/').unwrap_or_default();
        }
        let parents = ["/mod.rs", "/main.rs", "/lib.rs", ".rs"].map(|end| format!("{folder}{end}"));
        let mut parents = parents.iter().filter_map(|parent| texts.get(&**parent)).peekable();
        let is_program = match folder.rsplit('/').next() {
            Some("tests" | "examples" | "benches") => parents.peek().is_none(),
            _ => ["main", "lib", "build"].contains(&name),
        };
        is_program
            || named.contains(file)
            || parents.any(|text| text.contains(&format!("mod {name};")) || text.contains("automod::dir!"))
    };
    let undeclared = of_kind("rs").filter(|file| !is_declared(&file.path));
    undeclared.map(|file| format!("{}: no module declares it", file.path)).collect()
}

/// The stores with a schema, each named after its folder in `migrations/`.
const STORES: &[&str] = &["postgres", "sqlite"];

/// The folder of the statements of released versions.
const RELEASED: &str = "released";

/// Checks the folders of `migrations/<store>/`: `<stamp>_<name>` with `up.sql` and `down.sql`, and the
/// statements of released versions.
pub(super) fn check_migrations(files: &[File]) -> Vec<String> {
    let mut complaints = Vec::new();
    let mut folders: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
    for file in files {
        let mut parts =
            file.path.strip_prefix("migrations/").into_iter().flat_map(|path| path.splitn(3, '/'));
        match (parts.next(), parts.next(), parts.next()) {
            (Some(store), Some(folder), Some(name)) if STORES.contains(&store) => {
                folders.entry((store, folder)).or_default().push(name);
            }
            (Some(_), Some(_), _) => {
                complaints.push(format!("{}: it belongs in `migrations/<store>/<folder>/`", file.path));
            }
            _ => {}
        }
    }
    for ((store, folder), names) in folders {
        if folder == RELEASED {
            let misnamed =
                names.iter().filter(|name| !is_version(name.strip_suffix(".sql").unwrap_or_default()));
            complaints.extend(misnamed.map(|name| {
                format!("migrations/{store}/{RELEASED}/{name}: its name is not `<version>.sql`")
            }));
        } else {
            complaints.extend(check_migration(store, folder, &names));
        }
    }
    complaints
}

fn check_migration(store: &str, folder: &str, names: &[&str]) -> Vec<String> {
    let mut complaints = Vec::new();
    if !is_migration_name(folder) {
        complaints.push(format!(
            "migrations/{store}/{folder}: its name is not `<14 digits of date and time>_<what_it_does>`"
        ));
    }
    for required in ["up.sql", "down.sql"] {
        if !names.contains(&required) {
            complaints.push(format!("migrations/{store}/{folder}: it has no {required}"));
        }
    }
    // Diesel also reads `metadata.toml`, in which a migration declares that it cannot run in a transaction.
    for other in names.iter().filter(|name| !matches!(**name, "up.sql" | "down.sql" | "metadata.toml")) {
        complaints
            .push(format!("migrations/{store}/{folder}/{other}: a migration holds up.sql and down.sql"));
    }
    complaints
}

fn is_version(name: &str) -> bool {
    let parts: Vec<&str> = name.split('.').collect();
    parts.len() == 3 && parts.iter().all(|part| part.parse::<u32>().is_ok())
}

fn is_migration_name(folder: &str) -> bool {
    let Some((stamp, name)) = folder.split_once('_') else {
        return false;
    };
    let digits = stamp.chars().filter(char::is_ascii_digit).count();
    digits == 14
        && stamp.chars().all(|c| c.is_ascii_digit() || c == '-')
        && !name.is_empty()
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::super::tests::{assert_beginnings, file};
    use super::*;

    fn check(judge: fn(&[File]) -> Vec<String>, paths: &[&str], expected: &[&str]) {
        let files: Vec<File> = paths.iter().map(|path| file(path, "")).collect();
        assert_beginnings(&judge(&files), expected);
    }

    #[test]
    fn unexpected_top_level_files_are_reported() {
        check(check_top_level, &[".ci/run", ".gitignore", "LICENSE-MIT", "crates/x/src/lib.rs"], &[]);
        let unexpected = ["crates/x", "notes.md", "scripts/a", "scripts/b"];
        check(check_top_level, &unexpected, &["notes.md:", "scripts:"]);
    }

    #[test]
    fn misnamed_or_incomplete_migrations_are_reported() {
        let check_names = |folder: &str, names: &[&str], expected: &[&str]| {
            let folder = format!("migrations/postgres/{folder}");
            let files: Vec<File> = names.iter().map(|name| file(&format!("{folder}/{name}"), "")).collect();
            let expected: Vec<String> = expected.iter().map(|rest| format!("{folder}{rest}")).collect();
            let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
            assert_beginnings(&check_migrations(&files), &expected);
        };
        let both = ["up.sql", "down.sql"];
        check(check_migrations, &["migrations/README.md"], &[]);
        check_names("2026-01-31-120000_users", &both, &[]);
        check_names("20260131120000_users", &both, &[]);
        check_names("20260131120000_users", &["up.sql"], &[": it has no down.sql"]);
        check_names("1_users", &both, &[": its name"]);
        check_names("20260131120000_a", &["up.sql", "down.sql", "x.sql"], &["/x.sql:"]);
        let misplaced = ["migrations/20260131120000_a/up.sql", "migrations/other/20260131120000_a/up.sql"];
        check(check_migrations, &misplaced, &misplaced);
    }

    #[test]
    fn source_files_of_no_module_are_reported() {
        let files = [
            file("crates/x/src/lib.rs", "mod a;\n#[path = \"../shared/part.rs\"]\nmod b;"),
            file("crates/x/src/a.rs", "pub mod nested;"),
            file("crates/x/src/a/nested/mod.rs", ""),
            file("crates/x/src/forgotten/mod.rs", ""),
            file("crates/x/shared/part.rs", ""),
            file("crates/x/tests/alone.rs", ""),
            file("crates/x/tests/many/main.rs", ""),
            file("crates/x/tests/many/rules.rs", ""),
        ];
        let reported = ["crates/x/src/forgotten/mod.rs:", "crates/x/tests/many/rules.rs:"];
        assert_beginnings(&check_modules(&files), &reported);
    }

    #[test]
    fn misnamed_files_of_released_statements_are_reported() {
        let files = [
            "migrations/postgres/released/0.1.0.sql",
            "migrations/postgres/released/1.2.sql",
            "migrations/postgres/released/x",
        ];
        let misnamed = ["migrations/postgres/released/1.2.sql:", "migrations/postgres/released/x:"];
        check(check_migrations, &files, &misnamed);
    }
}
