//! The examples of a document: shell commands and the answers that they print. A test runs and compares them.
//!
//! The form of a document:
//!
//! - The `sh` blocks run in one bash session, from the first to the last. A later block can use the variables and
//!   functions of an earlier one. Every command has to succeed (`set -e -o pipefail`). `curl` succeeds whatever the
//!   service answers, unless it has the option `--fail`.
//! - A `json` or `text` block is the answer to the `sh` block before it. It is the whole standard output of the
//!   commands. An `sh` block without an answer can print anything.
//! - A `json` answer can have spaces and line breaks for the reader. Its tokens are compared: keys, their order,
//!   values, and the decimals of money. A `text` answer is compared line by line.
//! - `…` in a token or a line matches any text, even none: `"…"`, `"Bearer …"`.
//! - Blocks in other languages are ignored. A `json` or `text` block that does not follow an `sh` block is an error: use
//!   another language (`jsonc`), and compare it in a test of its own.
//!
//! A test of a document:
//!
//! ```ignore
//! let server = Server::start(store);
//! let address = server.client().address;
//! Examples::of(GUIDE).check(bash(), &[(DOCUMENTED, &address)]);
//! ```

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

use super::completed;

/// The address of the service in the documents.
pub(crate) const DOCUMENTED: &str = "http://127.0.0.1:8080";

/// What the script prints after a block, followed by the number of the block.
const END: &str = "@@@ end of block ";

/// The documents of the project, and the folders of documents.
const PLACES: [&str; 7] = [
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "docs",
    "migrations/README.md",
    "config",
];

/// A fenced block of a document.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block<'d> {
    /// The language after the fence, such as `sh`.
    pub(crate) language: &'d str,
    pub(crate) text: &'d str,
    /// The number of the line after the fence.
    pub(crate) line: usize,
}

/// Returns the fenced blocks of a document, also those in a list.
pub(crate) fn blocks(document: &str) -> Vec<Block<'_>> {
    let (mut blocks, mut open, mut end) = (Vec::new(), None, 0);
    for (number, line) in (1..).zip(document.split_inclusive('\n')) {
        let begin = end;
        end += line.len();
        match (line.trim().strip_prefix("```"), open) {
            (Some(language), None) => open = Some((language, end, number + 1)),
            (Some(""), Some((language, from, line))) => {
                blocks.push(Block { language, text: document.get(from..begin).unwrap_or_default(), line });
                open = None;
            }
            _ => {}
        }
    }
    assert!(open.is_none(), "a block has no end: {open:?}");
    blocks
}

/// Returns the part of a document from a heading to the next heading of the same level or of a higher one.
pub(crate) fn section<'d>(document: &'d str, heading: &str) -> &'d str {
    let level = |line: &str| line.chars().take_while(|letter| *letter == '#').count();
    let (mut from, mut begin, mut is_code) = (None, 0, false);
    for line in document.split_inclusive('\n') {
        is_code ^= line.trim_start().starts_with("```");
        let ends = !is_code && (1..=level(heading)).contains(&level(line));
        match from {
            None if line.trim_end() == heading => from = Some(begin),
            Some(from) if ends => return document.get(from..begin).unwrap_or_default(),
            _ => {}
        }
        begin += line.len();
    }
    let from = from.unwrap_or_else(|| panic!("there is no heading {heading:?}"));
    document.get(from..).unwrap_or_default()
}

/// The Markdown and TOML files at a place, which is a file or a folder.
fn documents_at(place: &Path) -> Vec<PathBuf> {
    if place.is_file() {
        return vec![place.to_owned()];
    }
    let entries = fs::read_dir(place).unwrap().map(|entry| entry.unwrap().path());
    let is_document = |path: &PathBuf| path.extension().is_some_and(|end| end == "md" || end == "toml");
    entries.flat_map(|path| documents_at(&path)).filter(is_document).collect()
}

/// Returns the path and the text of every document.
pub(crate) fn documents() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let paths = PLACES.iter().flat_map(|place| documents_at(&root.join(place)));
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        (path, text)
    };
    paths.map(read).collect()
}

/// A bash without the variables of this process that configure the service.
pub(crate) fn bash() -> Command {
    let mut bash = Command::new("bash");
    for (name, _) in env::vars_os() {
        if name.to_string_lossy().starts_with("CUEPOINT") {
            bash.env_remove(name);
        }
    }
    bash.stdin(Stdio::null());
    bash
}

/// The blocks of commands of a document, and their answers.
pub(crate) struct Examples<'d>(Vec<(Block<'d>, Option<Block<'d>>)>);

impl<'d> Examples<'d> {
    /// Collects the examples of a document.
    pub(crate) fn of(document: &'d str) -> Self {
        let (mut examples, mut follows_commands) = (Vec::new(), false);
        for block in blocks(document) {
            match block.language {
                "sh" => examples.push((block, None)),
                "json" | "text" => {
                    assert!(follows_commands, "line {}: the block answers no commands", block.line);
                    examples.last_mut().unwrap().1 = Some(block);
                }
                _ => {}
            }
            follows_commands = block.language == "sh";
        }
        Self(examples)
    }

    /// Runs the commands in this shell, compares the answers, and returns the output. Each replacement is a text of the
    /// document and the text of this run, such as an address or a folder.
    #[track_caller]
    pub(crate) fn check(&self, mut shell: Command, replacements: &[(&str, &str)]) -> String {
        assert!(!self.0.is_empty(), "there are no commands");
        shell.args(["-c", &self.script(replacements)]);
        let (status, output) = completed(shell);
        let output =
            replacements.iter().fold(output, |text, (written, actual)| text.replace(actual, written));
        let mut rest = output.as_str();
        for (number, (commands, answer)) in self.0.iter().enumerate() {
            let Some((printed, after)) = rest.split_once(&format!("{END}{number}\n")) else {
                panic!("line {}: the commands fail ({status}): {rest}", commands.line)
            };
            let difference = answer.and_then(|answer| difference(&answer, printed));
            if let (Some(answer), Some(difference)) = (answer, difference) {
                panic!("line {}: {difference}\nThe commands print:\n{printed}", answer.line);
            }
            rest = after;
        }
        assert!(status.success(), "{status}: {rest}");
        output
    }

    fn script(&self, replacements: &[(&str, &str)]) -> String {
        let here = |text: &str| {
            replacements.iter().fold(text.to_owned(), |text, (written, actual)| text.replace(written, actual))
        };
        let blocks = self.0.iter().enumerate();
        let blocks =
            blocks.map(|(number, (commands, _))| format!("{}echo '{END}{number}'\n", here(commands.text)));
        format!("set -e -o pipefail\n{}", blocks.collect::<String>())
    }
}

/// Describes the first difference between an answer and the output of its commands.
fn difference(answer: &Block, printed: &str) -> Option<String> {
    let parts = |text| if answer.language == "json" { tokens(text) } else { lines(text) };
    let (expected, found) = (parts(answer.text), parts(printed));
    let count = expected.len().max(found.len());
    let differs = |at: &usize| match (expected.get(*at), found.get(*at)) {
        (Some(expected), Some(found)) => !matches(expected, found),
        _ => true,
    };
    let at = (0..count).find(differs)?;
    let part = |parts: &[&str]| parts.get(at).map_or("nothing".to_owned(), |part| format!("`{part}`"));
    let before = expected[at.saturating_sub(6)..at.min(expected.len())].join(" ");
    Some(format!("after `{before}`: the document has {}, the output {}", part(&expected), part(&found)))
}

/// Whether a text fits a pattern, in which `…` stands for any text.
fn matches(pattern: &str, text: &str) -> bool {
    let Some((prefix, patterns)) = pattern.split_once('…') else { return pattern == text };
    let Some(mut rest) = text.strip_prefix(prefix) else { return false };
    let mut parts: Vec<&str> = patterns.split('…').collect();
    let suffix = parts.pop().unwrap_or_default();
    for part in parts {
        let Some((_, after)) = rest.split_once(part) else { return false };
        rest = after;
    }
    rest.ends_with(suffix)
}

/// The lines of a text, without empty lines at the end.
fn lines(text: &str) -> Vec<&str> {
    text.trim_end().lines().collect()
}

/// The tokens of a JSON text: punctuation, strings with their quotes, and other values.
fn tokens(text: &str) -> Vec<&str> {
    let (mut tokens, mut rest) = (Vec::new(), text.trim_start());
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' => string_length(rest),
            '{' | '}' | '[' | ']' | ':' | ',' => 1,
            _ => rest.find(|c: char| c.is_whitespace() || "{}[]:,\"".contains(c)).unwrap_or(rest.len()),
        };
        let (token, after) = rest.split_at(length);
        tokens.push(token);
        rest = after.trim_start();
    }
    tokens
}

/// The length of the string at the beginning of a JSON text, including its quotes.
fn string_length(text: &str) -> usize {
    let mut is_escaped = false;
    let end = text.char_indices().skip(1).find(|(_, letter)| {
        let ends = *letter == '"' && !is_escaped;
        is_escaped = *letter == '\\' && !is_escaped;
        ends
    });
    end.map_or(text.len(), |(at, _)| at + 1)
}

#[test]
fn answers_are_compared_token_by_token_with_wildcards() {
    let answer = |language, text| Block { language, text, line: 1 };
    let json = answer("json", "{\"id\": 1, \"sum\": 2.50,\n \"token\": \"ab…\", \"list\": []}");
    for (printed, is_equal) in [
        (r#"{"id":1,"sum":2.50,"token":"abc\"d","list":[]}"#, true),
        (r#"{"id":1,"sum":2.5,"token":"abc","list":[]}"#, false),
        (r#"{"id":1,"sum":2.50,"token":"bc","list":[]}"#, false),
        (r#"{"id":1,"token":"abc","sum":2.50,"list":[]}"#, false),
        (r#"{"id":1,"sum":2.50,"token":"abc","list":[],"more":null}"#, false),
        ("", false),
    ] {
        assert_eq!(difference(&json, printed).is_none(), is_equal, "{printed}");
    }
    let text = answer("text", "started …\nlistening on …:…, ready\n");
    assert_eq!(difference(&text, "started \nlistening on 127.0.0.1:80, ready"), None);
    assert!(difference(&text, "started\nlistening on 127.0.0.1, ready").is_some());
}

#[test]
fn code_blocks_of_a_section_are_found() {
    let document = "# A\n## B\ntext\n```sh\n# no heading\n```\n```json\n{}\n```\n### C\n## D\n```sh\n```\n";
    let found = blocks(section(document, "## B"));
    let found: Vec<_> = found.iter().map(|block| (block.language, block.text, block.line)).collect();
    assert_eq!(found, [("sh", "# no heading\n", 4), ("json", "{}\n", 7)]);
    assert_eq!(Examples::of(document).0.len(), 2);
    let in_list = blocks("1. text\n\n   ```sh\n   true\n   ```\n");
    assert_eq!(
        in_list.iter().map(|block| (block.language, block.text)).collect::<Vec<_>>(),
        [("sh", "   true\n")]
    );
}
