//! What the documents print: blocks of files and of shell lines, and commands.

use std::collections::BTreeSet;

use crate::harness::{blocks, documents};

/// The guides, which are followed as a whole.
pub(super) const OPERATOR: &str = include_str!("../../../../../../docs/guide/operator.md");
pub(super) const POSTGRESQL: &str = include_str!("../../../../../../docs/guide/postgresql.md");

/// What a block of code contains.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Printed {
    /// Files of a machine.
    Files,
    /// Lines of a shell.
    Shell,
}

/// The text of a block, without the indentation of a list.
fn unindented(text: &str) -> String {
    text.lines().map(|line| line.strip_prefix("   ").unwrap_or(line).to_owned() + "\n").collect()
}

/// The blocks of a guide that a machine can follow, in their order.
pub(super) fn printed(document: &str) -> Vec<(Printed, String)> {
    let followed = blocks(document).into_iter().filter_map(|block| {
        let text = unindented(block.text);
        match block.language {
            // The configuration of PostgreSQL is no file of the service.
            "ini" if !text.starts_with("# postgresql.conf") => Some((Printed::Files, text)),
            "sh" => Some((Printed::Shell, text)),
            _ => None,
        }
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
    let shell = ["", "sh", "bash", "console", "crontab"];
    let shell = blocks(document).into_iter().filter(|block| shell.contains(&block.language));
    let lines = shell.flat_map(|block| {
        let whole = block.text.replace("\\\n", " ");
        whole
            .split(['\n', ';', '|'])
            .flat_map(|line| line.split("&&"))
            .filter_map(arguments)
            .collect::<Vec<_>>()
    });
    let texts = document.split("```").step_by(2);
    let spans = texts.flat_map(|text| text.split('`').skip(1).step_by(2));
    // The bare name is that of the program, of a role or of a database.
    let in_sentences = spans.filter_map(arguments).filter(|arguments| !arguments.is_empty());
    lines.chain(in_sentences).collect()
}

/// The arguments of each command that is printed anywhere.
pub(super) fn commands() -> BTreeSet<String> {
    // A comment continues with the sign of a comment.
    documents().iter().flat_map(|(_, document)| commands_of(&document.replace("\n# ", "\n"))).collect()
}

/// The blocks of files in all documents.
pub(super) fn files() -> Vec<String> {
    let documents = documents();
    let blocks = documents.iter().flat_map(|(_, document)| printed(document));
    blocks.filter(|(kind, _)| *kind == Printed::Files).map(|(_, block)| block).collect()
}

#[test]
fn commands_in_code_blocks_and_sentences_are_found() {
    let document = "Run `cuepoint backup\nFILE` as `cuepoint`, not `cuepoint_server`.\n\n```sh\nCUEPOINT_ENV=production \\\n\
        target/release/cuepoint  # starts\nexport A=1 && cuepoint migrate\nsudo -u cuepoint true\n```\n";
    assert_eq!(commands_of(document), BTreeSet::from(["", "backup FILE", "migrate"].map(str::to_owned)));
}
