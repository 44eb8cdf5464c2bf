//! The attacks that tests make: a test names its attack in a line of its docs, and `docs/attacks.md` lists them.

use std::fmt::Write as _;
use std::fs;

use anyhow::Context;

use super::{File, read_files};
use crate::workspace::root;

/// The generated document.
const DOCUMENT: &str = "docs/attacks.md";

/// The beginning of a line that names an attack, such as `/// Attack API2: a modified token.`
const MARK: &str = "/// Attack";

/// The folders that hold tests. Below them, the path of a file is the path of its module.
const FOLDERS: &[&str] = &["/tests/http/", "/tests/", "/src/"];

/// The risks of the OWASP API Security Top 10.
const RISKS: [(&str, &str); 10] = [
    ("API1", "broken object level authorization"),
    ("API2", "broken authentication"),
    ("API3", "broken object property level authorization"),
    ("API4", "unrestricted resource consumption"),
    ("API5", "broken function level authorization"),
    ("API6", "unrestricted access to sensitive business flows"),
    ("API7", "server-side request forgery"),
    ("API8", "security misconfiguration"),
    ("API9", "improper inventory management"),
    ("API10", "unsafe consumption of APIs"),
];

const HEAD: &str = "\
# Attacks and their tests

The sections are the risks of the
[OWASP API Security Top 10](https://owasp.org/API-Security/editions/2023/en/0x11-t10/). Most of the tests call the
real binary over HTTP. `cargo xtask attacks` generates this page from the lines `/// Attack …` above the tests.
";

/// An attack and the test that makes it.
#[derive(Debug)]
struct Attack<'f> {
    risk: &'f str,
    text: &'f str,
    path: &'f str,
    test: &'f str,
}

/// Writes the document; returns 1 without writing it if a line is malformed.
pub(crate) fn run() -> anyhow::Result<u8> {
    match document(&read_files()?) {
        Ok(text) => {
            fs::write(root().join(DOCUMENT), text)
                .with_context(|| format!("{DOCUMENT} cannot be written"))?;
            println!("{DOCUMENT} is written");
            Ok(0)
        }
        Err(complaints) => {
            complaints.iter().for_each(|complaint| println!("{complaint}"));
            Ok(1)
        }
    }
}

/// Compares the document with the tests.
pub(super) fn check(files: &[File]) -> Vec<String> {
    match document(files) {
        Ok(text) if files.iter().any(|file| file.path == DOCUMENT && file.text() == text) => Vec::new(),
        Ok(_) => vec![format!("{DOCUMENT}: it differs from the tests; `cargo xtask attacks` writes it")],
        Err(complaints) => complaints,
    }
}

/// Returns the document of the attacks, or a line for each malformed one.
fn document(files: &[File]) -> Result<String, Vec<String>> {
    let sources = files.iter().filter(|file| file.path.starts_with("crates/") && file.has_extension(&["rs"]));
    let texts: Vec<_> = sources.map(|file| (file.path.as_str(), file.text())).collect();
    let (mut attacks, mut complaints) = (Vec::new(), Vec::new());
    for (path, text) in &texts {
        let lines = || text.lines().map(str::trim_start);
        for (index, line) in lines().enumerate().filter(|(_, line)| line.starts_with(MARK)) {
            match attack(path, line, lines().skip(index).skip(1)) {
                Some(attack) => attacks.push(attack),
                None => complaints.push(format!(
                    "{path}:{}: this is not `{MARK} API1: text.` directly above a test",
                    index.saturating_add(1)
                )),
            }
        }
    }
    if complaints.is_empty() { Ok(listed(&attacks)) } else { Err(complaints) }
}

/// Reads an attack from its line and the lines below.
fn attack<'f>(path: &'f str, line: &'f str, mut below: impl Iterator<Item = &'f str>) -> Option<Attack<'f>> {
    let (risk, text) = line.strip_prefix(MARK)?.strip_prefix(' ')?.split_once(": ")?;
    RISKS.iter().find(|(known, _)| *known == risk)?;
    let text = text.strip_suffix('.')?;
    let function = below.find(|line| !line.starts_with("#["))?;
    let (modifiers, signature) = function.split_once("fn ")?;
    let is_test = modifiers.split_whitespace().all(|modifier| matches!(modifier, "pub" | "async"));
    let test = signature.split(['(', '<']).next().filter(|_| is_test)?;
    Some(Attack { risk, text, path, test })
}

fn listed(attacks: &[Attack<'_>]) -> String {
    let mut text = HEAD.to_owned();
    for (risk, name) in RISKS {
        let mut found = attacks.iter().filter(|attack| attack.risk == risk).peekable();
        if found.peek().is_some() {
            let _ = write!(text, "\n## {risk}: {name}\n\n| attack | test |\n|---|---|\n");
        }
        for Attack { text: what, path, test, .. } in found {
            let _ = writeln!(text, "| {what} | [`{}::{test}`](../{path}) |", module(path));
        }
    }
    text
}

/// Returns the path of the module of a test file: `soak::venue` for `crates/cuepoint/tests/http/soak/venue.rs`.
fn module(path: &str) -> String {
    let below = FOLDERS.iter().find_map(|folder| path.split_once(folder)).map_or(path, |(_, below)| below);
    below.trim_end_matches(".rs").replace('/', "::")
}

#[cfg(test)]
mod tests {
    use super::super::tests::file;
    use super::*;

    const TESTS: &str = "\
        fn helper() {}\n\
        /// Attack API7: a private address.\n\
        fn private_addresses_are_not_called(store: Store) {}\n\
        /// It is repeated.\n\
        ///\n\
        /// Attack API2: a used token.\n\
        #[test]\n\
        pub async fn used_tokens_are_refused() {}\n";

    #[test]
    fn the_document_lists_attacks_by_risk() {
        let files =
            [file("crates/a/src/calls.rs", TESTS), file("crates/cuepoint/tests/http/soak/calls.rs", TESTS)];
        let rows = |risk: &str, text: &str, test: &str| {
            format!(
                "\n## {risk}\n\n| attack | test |\n|---|---|\n\
                 | {text} | [`calls::{test}`](../crates/a/src/calls.rs) |\n\
                 | {text} | [`soak::calls::{test}`](../crates/cuepoint/tests/http/soak/calls.rs) |\n"
            )
        };
        let expected = format!(
            "{HEAD}{}{}",
            rows("API2: broken authentication", "a used token", "used_tokens_are_refused"),
            rows(
                "API7: server-side request forgery",
                "a private address",
                "private_addresses_are_not_called"
            )
        );
        assert_eq!(document(&files).unwrap(), expected);
    }

    #[test]
    fn a_stale_document_fails_the_check() {
        let tests = || file("crates/a/src/calls.rs", TESTS);
        let stale = ["docs/attacks.md: it differs from the tests; `cargo xtask attacks` writes it"];
        assert_eq!(check(&[tests()]), stale);
        assert_eq!(check(&[tests(), file(DOCUMENT, HEAD)]), stale);
        let current = document(&[tests()]).unwrap();
        assert!(check(&[tests(), file(DOCUMENT, &current)]).is_empty());
    }

    #[test]
    fn malformed_attack_lines_are_reported() {
        for lines in [
            "/// Attack API11: a token.\nfn a() {}",
            "/// Attack API2 a token.\nfn a() {}",
            "/// Attack: a token.\nfn a() {}",
            "/// Attack API2: a token\nfn a() {}",
            "/// Attack API2: a token.\n/// More.\nfn a() {}",
            "/// Attack API2: a token.\n",
        ] {
            let complaints = check(&[file("crates/a/src/calls.rs", lines)]);
            let expected =
                "crates/a/src/calls.rs:1: this is not `/// Attack API1: text.` directly above a test";
            assert_eq!(complaints, [expected], "{lines}");
        }
    }
}
