//! The content of files: their length, the paths that the domain may name, and leftovers of editors.

use super::File;

/// The maximum length of a source file, in lines.
pub(super) const LINES_ALLOWED: usize = 500;

/// The length above which a source file is reported, in lines.
const LINES_WISHED: usize = 400;

/// Paths that would give the domain access to the operating system or a runtime.
const BANNED_IN_DOMAIN: &[&str] = &["std::fs", "std::net", "std::env", "tokio::"];

/// Checks every file.
pub(super) fn check(files: &[File]) -> Vec<String> {
    let mut complaints = Vec::new();
    for file in files {
        let text = file.text();
        let lines = text.lines().count();
        if is_source(file) && lines > LINES_ALLOWED {
            complaints.push(format!(
                "{}: {lines} lines are more than {LINES_ALLOWED}; split it by what it holds",
                file.path
            ));
        }
        if file.path.starts_with("crates/domain/src/") {
            complaints.extend(domain_mentions(&file.path, &text));
        }
        if is_source(file) {
            complaints.extend(examples(&file.path, &text));
        }
        complaints.extend(leftovers(file, &text));
    }
    complaints
}

/// Reports code blocks in docs that nobody runs, because the manifests switch doc tests off.
fn examples(path: &str, text: &str) -> Vec<String> {
    let docs = (1_usize..).zip(text.lines()).filter_map(|(number, line)| {
        let doc = line.trim_start();
        let words = doc.strip_prefix("///").or_else(|| doc.strip_prefix("//!"))?;
        words.trim_start().strip_prefix("```").map(|language| (number, language))
    });
    let opening = docs.step_by(2).filter(|(_, language)| *language != "text");
    opening
        .map(|(number, _)| format!("{path}:{number}: no test runs this example: begin it with ```text"))
        .collect()
}

/// Returns the long source files within the maximum, with their number of lines.
pub(super) fn long_files(files: &[File]) -> Vec<(&str, usize)> {
    let sources = files.iter().filter(|file| is_source(file));
    let counted = sources.map(|file| (file.path.as_str(), file.text().lines().count()));
    counted.filter(|(_, lines)| *lines > LINES_WISHED && *lines <= LINES_ALLOWED).collect()
}

/// The lines of a file before its module of tests.
pub(super) fn before_tests(text: &str) -> impl Iterator<Item = &str> {
    let end = text.find("\n#[cfg(test)]\nmod tests");
    end.and_then(|end| text.get(..end)).unwrap_or(text).lines()
}

/// Whether a file contains only tests.
pub(super) fn is_test_file(path: &str) -> bool {
    path.split('/').any(|part| matches!(part, "tests" | "tests.rs" | "testing" | "testing.rs"))
}

/// The visibility, the attributes and the name of a type or a trait; `None` for any other item.
pub(super) fn definition(item: &syn::Item) -> Option<(&syn::Visibility, &[syn::Attribute], &syn::Ident)> {
    match item {
        syn::Item::Struct(item) => Some((&item.vis, &item.attrs, &item.ident)),
        syn::Item::Enum(item) => Some((&item.vis, &item.attrs, &item.ident)),
        syn::Item::Trait(item) => Some((&item.vis, &item.attrs, &item.ident)),
        syn::Item::Type(item) => Some((&item.vis, &item.attrs, &item.ident)),
        syn::Item::Union(item) => Some((&item.vis, &item.attrs, &item.ident)),
        _ => None,
    }
}

/// Whether an item with these attributes is compiled for tests only.
pub(super) fn is_for_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute.parse_args::<syn::Ident>().is_ok_and(|condition| condition == "test")
    })
}

fn is_source(file: &File) -> bool {
    let mut parts = file.path.split('/');
    let in_src = match parts.next() {
        Some("crates") => matches!(parts.nth(1), Some("src" | "per_store")),
        Some("xtask") => parts.next() == Some("src"),
        _ => false,
    };
    in_src && file.has_extension(&["rs"])
}

fn domain_mentions(path: &str, text: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    for (number, line) in (1_usize..).zip(text.lines()) {
        let code = line.split("//").next().unwrap_or_default();
        for banned in BANNED_IN_DOMAIN.iter().filter(|banned| code.contains(**banned)) {
            complaints.push(format!(
                "{path}:{number}: the domain names `{banned}`; the outside world comes in through a port"
            ));
        }
    }
    for module in grouped_std_imports(text).filter(|module| matches!(*module, "fs" | "net" | "env")) {
        complaints.push(format!(
            "{path}: the domain imports `std::{module}`; the outside world comes in through a port"
        ));
    }
    complaints
}

/// Returns the words of every `std::{…};`.
fn grouped_std_imports(text: &str) -> impl Iterator<Item = &str> {
    let groups = text.split("std::{").skip(1).filter_map(|rest| rest.split(';').next());
    groups.flat_map(|group| group.split(|c: char| !c.is_alphanumeric() && c != '_'))
}

/// Reports merge conflict markers in any file, and trailing blanks in text files.
fn leftovers(file: &File, text: &str) -> Vec<String> {
    let written_by_people = file.has_extension(&["rs", "toml", "md", "sql"]);
    let mut complaints = Vec::new();
    for (number, line) in (1_usize..).zip(text.split('\n')) {
        if line.starts_with("<<<<<<< ") || line.starts_with(">>>>>>> ") {
            complaints.push(format!("{}:{number}: merge conflict marker", file.path));
        }
        if written_by_people && line.ends_with(char::is_whitespace) {
            complaints.push(format!("{}:{number}: trailing white space", file.path));
        }
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::super::tests::{assert_beginnings, file};
    use super::*;

    fn check_file(path: &str, text: &str, expected: &[&str]) {
        assert_beginnings(&check(&[file(path, text)]), expected);
    }

    #[test]
    fn source_files_above_500_lines_are_refused() {
        let path = "crates/cuepoint/src/a/b.rs";
        check_file(path, &"x\n".repeat(500), &[]);
        check_file(path, &"x\n".repeat(501), &["crates/cuepoint/src/a/b.rs: 501 lines"]);
        check_file("crates/cuepoint/tests/all.rs", &"x\n".repeat(501), &[]);
    }

    #[test]
    fn source_files_of_401_to_500_lines_are_listed() {
        let of_length = |lines| file(&format!("crates/x/src/{lines}.rs"), &"x\n".repeat(lines));
        let files = [400, 401, 500, 501].map(of_length);
        let listed: Vec<usize> = long_files(&files).iter().map(|(_, lines)| *lines).collect();
        assert_eq!(listed, [401, 500]);
    }

    #[test]
    fn io_in_the_domain_is_reported() {
        let path = "crates/domain/src/a.rs";
        let grouped = "use std::{\n    fmt,\n    net::IpAddr,\n};\n";
        check_file(path, grouped, &["crates/domain/src/a.rs: the domain imports `std::net`"]);
        check_file(path, "use std::fmt;\n// no tokio::spawn here\n", &[]);
        let named = ["crates/domain/src/a.rs:2: the domain names `std::fs`"];
        check_file(path, "\nuse std::fs::File;\n", &named);
        check_file(path, "tokio::spawn(std::env::args());", &["crates/domain/src/a.rs:1"; 2]);
        check_file("crates/cuepoint/src/main.rs", "use std::env;\n", &[]);
    }

    #[test]
    fn examples_without_a_test_are_reported() {
        let path = "crates/domain/src/a.rs";
        check_file(path, "//! ```text\n//! a\n//! ```\n/// ```text\n/// ```\nfn a() {}\n", &[]);
        let untested = "/// ```text\n/// ```\n/// ```\n/// a();\n/// ```\nfn a() {}\n";
        check_file(path, untested, &["crates/domain/src/a.rs:3"]);
    }

    #[test]
    fn conflict_markers_and_trailing_spaces_are_found() {
        check_file("a.txt", "a\n<<<<<<< ours\nb\n=======\nc\n>>>>>>> theirs\n", &["a.txt:2", "a.txt:6"]);
        check_file("a.md", "Title\n=======\n", &[]);
        check_file("a.md", "one\ntwo \nthree\t\n", &["a.md:2", "a.md:3"]);
        check_file("a.txt", "blanks may end it \n", &[]);
    }
}
