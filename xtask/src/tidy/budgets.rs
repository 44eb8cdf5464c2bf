//! Budgets: the maxima of figures of the code. A commit that raises one gives the reason.

use super::crates::{Crates, Use};
use super::{File, sources};

/// A figure with its maximum.
struct Budget {
    what: &'static str,
    most: usize,
    /// Returns the figure, and its place if it belongs to one item.
    measure: fn(&[File], &Crates) -> (usize, String),
}

const BUDGETS: &[Budget] = &[
    Budget { what: "lines of Rust in tools", most: 17_720, measure: lines_of_tools },
    Budget { what: "macros outside integration tests", most: 65, measure: macros },
    Budget {
        what: "lines of the longest macro",
        most: 155,
        measure: |files, _| longest(rust(files), "macro_rules! "),
    },
    Budget { what: "lines of the longest function of the service", most: 144, measure: longest_function },
];

/// Checks each figure.
pub(super) fn check(files: &[File]) -> Vec<String> {
    let crates = Crates::of(files);
    let mut complaints = Vec::new();
    for Budget { what, most, measure } in BUDGETS {
        let (figure, place) = measure(files, &crates);
        if figure > *most {
            complaints.push(format!(
                "xtask/src/tidy/budgets.rs: {what}: {figure}{place}, but the maximum is {most}"
            ));
        }
    }
    complaints
}

/// The figures with their maxima.
pub(super) fn figures(files: &[File], crates: &Crates) -> Vec<(String, usize)> {
    let figure = |Budget { what, most, measure }: &Budget| {
        (format!("{what}, at most {most}"), measure(files, crates).0)
    };
    BUDGETS.iter().map(figure).collect()
}

fn rust(files: &[File]) -> impl Iterator<Item = &File> {
    files.iter().filter(|file| file.has_extension(&["rs"]))
}

fn lines_of_tools(files: &[File], crates: &Crates) -> (usize, String) {
    let tools =
        rust(files).filter(|file| crates.owner(&file.path).is_some_and(|(_, use_of)| use_of == Use::Tool));
    (tools.map(|file| file.text().lines().count()).sum(), String::new())
}

fn macros(files: &[File], _: &Crates) -> (usize, String) {
    let sources =
        rust(files).filter(|file| file.path.contains("/src/") || !sources::is_test_file(&file.path));
    let count = |file: &File| {
        file.text().lines().filter(|line| line.trim_start().starts_with("macro_rules!")).count()
    };
    (sources.map(count).sum(), String::new())
}

fn longest_function(files: &[File], crates: &Crates) -> (usize, String) {
    let is_product = |file: &&File| crates.is_in_service(&file.path) && !sources::is_test_file(&file.path);
    longest(rust(files).filter(is_product), "fn ")
}

/// The lines of the longest item that this keyword begins, from its first line to its brace. `cargo fmt` indents both alike.
fn longest<'f>(files: impl Iterator<Item = &'f File>, keyword: &str) -> (usize, String) {
    let mut found = (0, String::new());
    for file in files {
        let text = file.text();
        // Items that have begun, the innermost last.
        let mut begun: Vec<(usize, usize)> = Vec::new();
        for (number, line) in (1_usize..).zip(sources::before_tests(&text)) {
            let indent = line.len().saturating_sub(line.trim_start().len());
            if line.trim_start().starts_with('}')
                && let Some((first, _)) = begun.pop_if(|(_, at)| *at == indent)
            {
                let lines = number.saturating_sub(first).saturating_add(1);
                if lines > found.0 {
                    found = (lines, format!(" in {}:{first}", file.path));
                }
            }
            if begins(line, keyword) && !line.trim_end().ends_with(['}', ';']) {
                begun.push((number, indent));
            }
        }
    }
    found
}

/// Whether the line begins an item: only words such as `pub(in crate::a) async` stand before the keyword.
fn begins(line: &str, keyword: &str) -> bool {
    let is_word =
        |word: &str| word.starts_with("pub") || word.ends_with(')') || matches!(word, "async" | "const");
    let before = line.split_once(keyword).map(|(before, _)| before);
    before.is_some_and(|before| before.split_whitespace().all(is_word))
}

#[cfg(test)]
mod tests {
    use super::super::tests::file;
    use super::*;

    #[test]
    fn the_longest_function_is_found_with_its_place() {
        let text = "impl A {\n    pub(crate) async fn a(\n        one: u8,\n    ) -> u8 {\n        one\n    }\n}\nfn b() {}\n";
        let files = [file("crates/x/src/a.rs", text)];
        assert_eq!(longest(files.iter(), "fn "), (5, " in crates/x/src/a.rs:2".to_owned()));
        let nested = "pub(in crate::a) fn a() {\n    fn b() {\n        c();\n    }\n}\n";
        assert_eq!(longest([&file("crates/x/src/c.rs", nested)].into_iter(), "fn ").0, 5);
        let text = "macro_rules! table {\n    () => {\n        fn a() {}\n    };\n}\n";
        assert_eq!(longest([&file("crates/x/src/b.rs", text)].into_iter(), "macro_rules! ").0, 5);
    }

    #[test]
    fn a_figure_above_its_maximum_is_reported() {
        assert!(check(&[]).is_empty());
        let long = format!("fn a() {{\n{}}}\n", "    call();\n".repeat(200));
        let files = [file("crates/cuepoint/Cargo.toml", ""), file("crates/cuepoint/src/a.rs", &long)];
        let complaints = check(&files);
        assert!(
            complaints[0].contains("202 in crates/cuepoint/src/a.rs:1, but the maximum is"),
            "{complaints:?}"
        );
    }
}
