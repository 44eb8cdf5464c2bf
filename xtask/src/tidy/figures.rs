//! `cargo xtask figures`: the size of the code, and the number of places that a new entity or a new column touches.

use std::process::Command;

use syn::visit::{self, Visit};

use super::sources::is_test_file;
use super::type_names::{self, SERVICE};
use super::{File, read_files};
use crate::workspace::{output_of, root};

/// The types whose variants are the entities and the kinds of changes.
const KINDS: &[&str] = &["Step", "PlanKind", "Entity", "EntityKind", "EntityRef", "Outcome", "StoredReceipt"];
/// Three entities; a file whose code names all of them is likely to name the next one too.
const ENTITIES: &[&str] = &["musicrequest", "withdrawal", "topup"];
/// A column that nothing but its table has, of the kind that features add.
const COLUMN: &str = "second_approved_at";
/// The crates that consist of tests.
const SUITES: &[&str] = &["crates/store-contract/", "crates/store-sql-tests/"];
/// Files that commands write.
const GENERATED: &[&str] = &[
    "docs/openapi.json",
    "Cargo.lock",
    "migrations/postgres/released/",
    "crates/store-postgres/tests/postgres/sql_files.txt",
];

/// The arguments of `cargo xtask figures`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Instead list the files that these commits add and change, such as `main..ratings`.
    #[arg(long)]
    commits: Option<String>,
}

/// Prints the figures.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<u8> {
    if let Some(range) = &arguments.commits {
        print!("{}", files_of_commits(&name_status(range)?));
        return Ok(0);
    }
    let files = read_files()?;
    for (figure, value) in figures(&files)? {
        println!("{value:>7}  {figure}");
    }
    Ok(0)
}

/// Counts every figure.
///
/// # Errors
/// If a file is not valid Rust.
fn figures(files: &[File]) -> anyhow::Result<Vec<(String, usize)>> {
    let rust: Vec<&File> = files.iter().filter(|file| file.has_extension(&["rs"])).collect();
    let in_service = |file: &File| SERVICE.iter().any(|src| file.path.starts_with(src));
    let is_product =
        |file: &File| !is_test_file(&file.path) && !SUITES.iter().any(|suite| file.path.starts_with(suite));
    let mut counts = Counts::default();
    for file in &rust {
        let text = file.text();
        let parsed = syn::parse_file(&text).map_err(|error| anyhow::anyhow!("{}: {error}", file.path))?;
        let lines = Lines::of(&text, is_product(file));
        counts.all.push(lines);
        if !file.path.contains("/tests/") || file.path.contains("/src/") {
            counts
                .macros
                .push(text.lines().filter(|line| line.trim_start().starts_with("macro_rules!")).count());
        }
        if in_service(file) {
            counts.service.push(lines);
        }
        if in_service(file) && is_product(file) {
            let mut kinds = Kinds::default();
            kinds.visit_file(&parsed);
            counts.matches.push(kinds.0);
            if names_entities(&text) {
                println!("         names the entities: {}", file.path);
                counts.lists.push(1);
            }
            counts.column.push(product(&text).filter(|line| names(line, COLUMN)).count());
        }
    }
    let sum = |counts: &[usize]| counts.iter().sum();
    let product_of = |lines: &[Lines]| lines.iter().map(|lines| lines.product).sum();
    let tests = counts.all.iter().map(|lines| lines.tests).sum();
    Ok(vec![
        ("lines of the product".to_owned(), product_of(&counts.all)),
        ("  of them, of the service".to_owned(), product_of(&counts.service)),
        ("lines of tests".to_owned(), tests),
        ("`macro_rules!` outside integration tests".to_owned(), sum(&counts.macros)),
        (format!("matches over {}", KINDS.join(", ")), sum(&counts.matches)),
        (
            "files of the service that name music requests, withdrawals and top-ups".to_owned(),
            sum(&counts.lists),
        ),
        (format!("lines of the service that name the column `{COLUMN}`"), sum(&counts.column)),
        ("type names with two owners".to_owned(), type_names::with_two_owners(files)?.len()),
    ])
}

/// The numbers of each file.
#[derive(Default)]
struct Counts {
    all: Vec<Lines>,
    service: Vec<Lines>,
    macros: Vec<usize>,
    matches: Vec<usize>,
    lists: Vec<usize>,
    column: Vec<usize>,
}

/// The lines of a file.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
struct Lines {
    product: usize,
    tests: usize,
}

impl Lines {
    /// Counts a file; from `#[cfg(test)]` on, a file of the product contains tests.
    fn of(text: &str, is_product: bool) -> Self {
        let all = text.lines().count();
        let product = if is_product { product(text).count() } else { 0 };
        Self { product, tests: all.saturating_sub(product) }
    }
}

/// The lines before the tests of a file.
fn product(text: &str) -> impl Iterator<Item = &str> {
    text.lines().take_while(|line| *line != "#[cfg(test)]")
}

/// Whether a line of code contains this identifier.
fn names(line: &str, identifier: &str) -> bool {
    line.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == identifier)
}

/// Whether the code of a file names all of [`ENTITIES`].
fn names_entities(text: &str) -> bool {
    let code: Vec<&str> = product(text).filter_map(|line| line.split("//").next()).collect();
    let code = code.join("\n").to_lowercase().replace('_', "");
    ENTITIES.iter().all(|entity| code.contains(entity))
}

/// The number of matches with a variant of [`KINDS`] among their patterns.
#[derive(Default)]
struct Kinds(usize);

impl<'ast> Visit<'ast> for Kinds {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !item.attrs.iter().any(|attribute| attribute.path().is_ident("cfg")) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_expr_match(&mut self, expression: &'ast syn::ExprMatch) {
        let mut patterns = Variants(false);
        for arm in &expression.arms {
            patterns.visit_pat(&arm.pat);
        }
        self.0 = self.0.saturating_add(usize::from(patterns.0));
        visit::visit_expr_match(self, expression);
    }
}

/// Whether a pattern names a variant of [`KINDS`].
struct Variants(bool);

impl<'ast> Visit<'ast> for Variants {
    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.0 |= is_variant(path);
    }
}

/// Whether a path, such as `Entity::Topup`, names a variant of [`KINDS`].
fn is_variant(path: &syn::Path) -> bool {
    let names: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
    let [.., kind, variant] = names.as_slice() else { return false };
    KINDS.contains(&kind.as_str()) && variant.starts_with(char::is_uppercase)
}

/// Returns `git diff --name-status` of a range of commits, renames included.
fn name_status(range: &str) -> anyhow::Result<String> {
    output_of(Command::new("git").current_dir(root()).args(["diff", "--name-status", "-M", range]))
}

/// Lists new, changed and generated files with their numbers.
fn files_of_commits(name_status: &str) -> String {
    let (mut new, mut changed, mut generated) = (Vec::new(), Vec::new(), Vec::new());
    for line in name_status.lines() {
        let mut parts = line.split('\t');
        let (status, path) = (parts.next().unwrap_or_default(), parts.next_back().unwrap_or_default());
        if GENERATED.iter().any(|start| path.starts_with(start)) {
            generated.push(path);
        } else if status == "A" {
            new.push(path);
        } else {
            changed.push(path);
        }
    }
    let part = |title: &str, paths: &[&str]| format!("{} {title}\n  {}\n", paths.len(), paths.join("\n  "));
    part("new", &new) + &part("changed", &changed) + &part("generated", &generated)
}

#[cfg(test)]
mod tests {
    use super::super::tests::file;
    use super::*;

    fn figure(files: &[File], beginning: &str) -> usize {
        let figures = figures(files).unwrap();
        figures.into_iter().find(|(figure, _)| figure.trim().starts_with(beginning)).unwrap().1
    }

    #[test]
    fn match_expressions_over_entity_kinds_are_counted() {
        let text = "fn a(e: Entity) { match e { Entity::Topup(_) => 1, crate::Entity::User(_) => 2, _ => 3 }; \
                    match 1 { 1 => EntityKind::Wallet, _ => EntityKind::Withdrawal } }\nuse MusicRequest; // no\n";
        let files = [file("crates/domain/src/a.rs", text), file("crates/bench/src/b.rs", text)];
        assert_eq!(figure(&files, "matches over"), 1);
        assert_eq!(figure(&files, "files of the service"), 1);
        let files = [file("crates/domain/src/a.rs", "use Topup; // withdrawal, music_request\n")];
        assert_eq!(figure(&files, "files of the service"), 0);
    }

    #[test]
    fn lines_after_the_start_of_a_test_module_count_as_tests() {
        let text = "fn a() { second_approved_at }\n#[cfg(test)]\nmod tests { fn second_approved_at() {} }\n";
        let files = [file("crates/domain/src/a.rs", text), file("crates/domain/tests/b.rs", "\n")];
        assert_eq!(figure(&files, "lines of the product"), 1);
        assert_eq!(figure(&files, "lines of tests"), 3);
        assert_eq!(figure(&files, "lines of the service that name"), 1);
    }

    #[test]
    fn files_of_commits_are_grouped_by_kind_of_change() {
        let listed = files_of_commits("A\ta.rs\nM\tb.rs\nR100\tc.rs\td.rs\nM\tdocs/openapi.json\n");
        assert_eq!(listed, "1 new\n  a.rs\n2 changed\n  b.rs\n  d.rs\n1 generated\n  docs/openapi.json\n");
    }
}
