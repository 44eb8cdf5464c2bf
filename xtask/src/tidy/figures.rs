//! `cargo xtask figures`: the size of the code by crate, its change since a commit, and the budgets.

use std::collections::BTreeMap;
use std::process::Command;

use super::crates::{Crates, Use};
use super::sources::{before_tests, is_test_file};
use super::{File, budgets, read_files};
use crate::workspace::{output_of, root};

/// The arguments of `cargo xtask figures`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Also print the change of each number since this commit.
    #[arg(long, value_name = "COMMIT")]
    since: Option<String>,
}

/// Prints the figures.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<u8> {
    let files = read_files()?;
    let crates = Crates::of(&files);
    let changes = match &arguments.since {
        Some(commit) => {
            let diff = ["diff", "--numstat", "--no-renames", commit];
            changed_lines(&output_of(Command::new("git").current_dir(root()).args(diff))?, &crates)
        }
        None => BTreeMap::new(),
    };
    print!("{}", table(&sizes(&files, &crates), &changes));
    for (what, figure) in budgets::figures(&files, &crates) {
        println!("{figure:>8}  {what}");
    }
    Ok(0)
}

/// The part of the code that a line belongs to.
type Part = (Kind, String);

/// What lines are for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Kind {
    Product,
    Tests,
    Tools,
}

/// The files and lines of a part.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
struct Size {
    files: usize,
    lines: usize,
}

/// The part to which a file belongs, without its unit tests.
fn part_of(path: &str, crates: &Crates) -> Option<Part> {
    let (name, use_of) = crates.owner(path).filter(|_| path.ends_with(".rs"))?;
    let kind = match use_of {
        Use::Tool => Kind::Tools,
        Use::Suite => Kind::Tests,
        Use::Service if is_test_file(path) => Kind::Tests,
        Use::Service => Kind::Product,
    };
    Some((kind, name.to_owned()))
}

/// The sizes of all parts. The module of tests at the end of a file of the product counts as tests.
fn sizes(files: &[File], crates: &Crates) -> BTreeMap<Part, Size> {
    let mut sizes: BTreeMap<Part, Size> = BTreeMap::new();
    for file in files {
        let Some(part) = part_of(&file.path, crates) else { continue };
        let text = file.text();
        let all = text.lines().count();
        let own = match part.0 {
            Kind::Product => before_tests(&text).count(),
            Kind::Tests | Kind::Tools => all,
        };
        let tests = sizes.entry((Kind::Tests, part.1.clone())).or_default();
        tests.lines = tests.lines.saturating_add(all.saturating_sub(own));
        let size = sizes.entry(part).or_default();
        size.files = size.files.saturating_add(1);
        size.lines = size.lines.saturating_add(own);
    }
    sizes.retain(|_, size| size.lines > 0);
    sizes
}

/// The added and removed lines of each part; those of tests within files of the product count as the product.
fn changed_lines(numstat: &str, crates: &Crates) -> BTreeMap<Part, (usize, usize)> {
    let mut changes: BTreeMap<Part, (usize, usize)> = BTreeMap::new();
    for line in numstat.lines() {
        let mut fields = line.split('\t');
        let mut number = || fields.next().and_then(|number| number.parse::<usize>().ok()).unwrap_or(0);
        let (added, removed) = (number(), number());
        if let Some(part) = fields.next().and_then(|path| part_of(path, crates)) {
            let change = changes.entry(part).or_default();
            *change = (change.0.saturating_add(added), change.1.saturating_add(removed));
        }
    }
    changes
}

/// The table of parts, with a sum for each kind.
fn table(sizes: &BTreeMap<Part, Size>, changes: &BTreeMap<Part, (usize, usize)>) -> String {
    let mut text = String::new();
    let mut row = |what: &str, size: Size, change: Option<(usize, usize)>| {
        let change = change.map(|(added, removed)| format!("  +{added} -{removed}")).unwrap_or_default();
        text.push_str(&format!("{:>8} lines {:>5} files  {what}{change}\n", size.lines, size.files));
    };
    for kind in [Kind::Product, Kind::Tests, Kind::Tools] {
        let own: Vec<_> = sizes.iter().filter(|((of, _), _)| *of == kind).collect();
        let sum = own.iter().fold(Size::default(), |sum, (_, size)| Size {
            files: sum.files.saturating_add(size.files),
            lines: sum.lines.saturating_add(size.lines),
        });
        row(&format!("{kind:?}"), sum, None);
        for (part, size) in own {
            row(&format!("  {}", part.1), *size, changes.get(part).copied());
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::tests::file;
    use super::*;

    fn files() -> [File; 4] {
        [
            file("crates/cuepoint/Cargo.toml", ""),
            file("crates/cuepoint/src/a.rs", "fn a() {}\n#[cfg(test)]\nmod tests {}\n"),
            file("crates/cuepoint/tests/b.rs", "\n"),
            file("xtask/Cargo.toml", ""),
        ]
    }

    #[test]
    fn lines_after_the_start_of_a_test_module_count_as_tests() {
        let crates = Crates::of(&files());
        let sizes = sizes(&files(), &crates);
        let size = |kind| sizes.get(&(kind, "cuepoint".to_owned())).copied().unwrap();
        assert_eq!(size(Kind::Product), Size { files: 1, lines: 1 });
        assert_eq!(size(Kind::Tests), Size { files: 1, lines: 3 });
    }

    #[test]
    fn changed_lines_are_counted_by_crate() {
        let crates = Crates::of(&files());
        let changes =
            changed_lines("3\t1\tcrates/cuepoint/src/a.rs\n2\t0\tREADME.md\n4\t4\txtask/src/b.rs\n", &crates);
        let part = |kind, name: &str| changes.get(&(kind, name.to_owned())).copied();
        assert_eq!(part(Kind::Product, "cuepoint"), Some((3, 1)));
        assert_eq!(part(Kind::Tools, "xtask"), Some((4, 4)));
        assert_eq!(changes.len(), 2);
    }
}
