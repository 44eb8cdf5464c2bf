//! What the documents print: blocks of files and of shell lines, and commands.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The guides, which are followed as a whole.
pub(super) const OPERATOR: &str = include_str!("../../../../../docs/guide/operator.md");
pub(super) const POSTGRESQL: &str = include_str!("../../../../../docs/guide/postgresql.md");

/// The documents and the folders of documents that can print a command.
const PLACES: [&str; 7] = [
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "docs",
    "migrations/README.md",
    "config",
];

/// What a block of code contains.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Printed {
    /// Files of a machine.
    Files,
    /// Lines of a shell.
    Shell,
}

/// The text between two fences, without the indentation of a list.
fn block(text: &str) -> String {
    text.lines().map(|line| line.strip_prefix("   ").unwrap_or(line).to_owned() + "\n").collect()
}

/// The texts of a document, and the blocks of code between them with their languages.
fn parts(document: &str) -> (Vec<&str>, Vec<(&str, String)>) {
    let (mut texts, mut blocks) = (Vec::new(), Vec::new());
    for (number, part) in document.split("```").enumerate() {
        if number % 2 == 0 {
            texts.push(part);
        } else {
            let (language, code) = part.split_once('\n').unwrap_or((part, ""));
            blocks.push((language.trim(), block(code)));
        }
    }
    (texts, blocks)
}

/// The blocks of a guide that a machine can follow, in their order.
pub(super) fn printed(document: &str) -> Vec<(Printed, String)> {
    let (_, blocks) = parts(document);
    let followed = blocks.into_iter().filter_map(|(language, block)| match language {
        // The configuration of PostgreSQL is no file of the service.
        "ini" if !block.starts_with("# postgresql.conf") => Some((Printed::Files, block)),
        "sh" => Some((Printed::Shell, block)),
        _ => None,
    });
    followed.collect()
}

/// The arguments of a line of a shell that calls the program.
fn arguments(line: &str) -> Option<String> {
    let line = line.split(" #").next().unwrap_or_default();
    let is_assignment = |word: &&str| word.starts_with("CUEPOINT") && word.contains('=');
    let mut words = line.split_whitespace().skip_while(is_assignment);
    let program = words.next()?;
    let is_program = program == "cuepoint" || program.ends_with("/cuepoint");
    is_program.then(|| words.collect::<Vec<_>>().join(" "))
}

/// The arguments of each command that a document prints in a block or within a sentence.
fn commands_of(document: &str) -> BTreeSet<String> {
    let (texts, blocks) = parts(document);
    let shell =
        blocks.iter().filter(|(language, _)| matches!(*language, "" | "sh" | "bash" | "console" | "crontab"));
    let lines = shell.flat_map(|(_, block)| {
        let whole = block.replace("\\\n", " ");
        whole
            .split(['\n', ';', '|'])
            .flat_map(|line| line.split("&&"))
            .filter_map(arguments)
            .collect::<Vec<_>>()
    });
    let spans = texts.iter().flat_map(|text| text.split('`').skip(1).step_by(2));
    // The bare name is that of the program, of a role or of a database.
    let in_sentences = spans.filter_map(arguments).filter(|arguments| !arguments.is_empty());
    lines.chain(in_sentences).collect()
}

/// The documents of a place.
fn documents(place: &Path) -> Vec<PathBuf> {
    if place.is_file() {
        return vec![place.to_owned()];
    }
    let entries = fs::read_dir(place).unwrap().map(|entry| entry.unwrap().path());
    let is_document = |path: &PathBuf| path.extension().is_some_and(|end| end == "md" || end == "toml");
    entries.flat_map(|path| documents(&path)).filter(is_document).collect()
}

/// Every document.
fn everywhere() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let paths = PLACES.iter().flat_map(|place| documents(&root.join(place)));
    paths
        .map(|path| fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display())))
        .collect()
}

/// The arguments of each command that is printed anywhere.
pub(super) fn commands() -> BTreeSet<String> {
    // A comment continues with the sign of a comment.
    everywhere().iter().flat_map(|document| commands_of(&document.replace("\n# ", "\n"))).collect()
}

/// The blocks of files in all documents.
pub(super) fn files() -> Vec<String> {
    let blocks = everywhere().iter().flat_map(|document| printed(document)).collect::<Vec<_>>();
    blocks.into_iter().filter(|(kind, _)| *kind == Printed::Files).map(|(_, block)| block).collect()
}

#[test]
fn commands_in_blocks_and_sentences_are_found() {
    let document = "Run `cuepoint backup\nFILE` as `cuepoint`, not `cuepoint_server`.\n\n```sh\nCUEPOINT_ENV=production \\\n\
        target/release/cuepoint  # starts\nexport A=1 && cuepoint migrate\nsudo -u cuepoint true\n```\n";
    assert_eq!(commands_of(document), BTreeSet::from(["", "backup FILE", "migrate"].map(str::to_owned)));
}
