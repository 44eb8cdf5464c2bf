//! The rooms of the larger crates: the direction of imports between them, and no import circles in any crate.

use super::File;
use super::imports::{self, Imports, ModulePath};

/// The rooms of a crate, from the ground up. A room imports from its own floor and from those below.
struct House {
    /// The folder of its source.
    src: &'static str,
    /// The modules of each floor, as paths with `/`.
    floors: &'static [&'static [&'static str]],
    /// Imports in the opposite direction, with the reason for each.
    exceptions: &'static [(&'static str, &'static str, &'static str)],
}

/// The maximum number of exceptions; more would mean that the floors are wrong.
const EXCEPTIONS_ALLOWED: usize = 5;

const HOUSES: &[House] = &[House {
    src: "crates/server/src/",
    floors: &[
        &["observability"],
        &["http/wire"],
        &["adapters"],
        &["http/transport"],
        &["config"],
        &["app"],
        &["jobs"],
        &["http/mapping", "http/call", "http/route", "http/reliance", "http/observe", "http/declaration"],
        &["http/operations"],
        &["http/openapi", "http/pipeline", "http/routes"],
        &["http", "http/web_server"],
        &["composition"],
        &["cli"],
        &[""],
    ],
    exceptions: &[],
}];

/// Checks every crate.
///
/// # Errors
/// If a file is not valid Rust.
pub(super) fn check(files: &[File]) -> anyhow::Result<Vec<String>> {
    let mut complaints = Vec::new();
    for src in sources(files) {
        let imports = imports::read(files, &src)?;
        complaints.extend(circles(&imports));
        for house in HOUSES.iter().filter(|house| house.src == src) {
            complaints.extend(directions(house, &imports));
        }
    }
    Ok(complaints)
}

/// The source folder of each crate.
fn sources(files: &[File]) -> Vec<String> {
    let roots = files.iter().filter_map(|file| {
        let crate_folder = file.path.strip_suffix("/Cargo.toml")?;
        Some(format!("{crate_folder}/src/"))
    });
    roots.collect()
}

/// Returns a message for each circle, with the imports that form it.
fn circles(imports: &Imports) -> Vec<String> {
    let describe = |circle: &Vec<ModulePath>| {
        let file = |module: &ModulePath| imports.files.get(module).map_or("", String::as_str);
        let inside = |module: &ModulePath| circle.contains(module);
        let ties = imports.arrows.iter().filter(|((from, to), _)| inside(from) && inside(to));
        let ties = ties.map(|((from, to), names)| {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            format!("\n  {} imports {} from {}", file(from), names.join(", "), file(to))
        });
        format!("import circle: move what both sides need into a file of its own{}", ties.collect::<String>())
    };
    imports::circles(imports).iter().map(describe).collect()
}

/// Returns the floor of a module: that of the longest room path that contains it.
fn floor(house: &House, module: &ModulePath) -> Option<(usize, &'static str)> {
    let path = module.join("/");
    let rooms = house
        .floors
        .iter()
        .enumerate()
        .flat_map(|(floor, rooms)| rooms.iter().map(move |room| (floor, *room)));
    rooms
        .filter(|(_, room)| {
            path == *room || path.strip_prefix(room).is_some_and(|rest| rest.starts_with('/'))
        })
        .max_by_key(|(_, room)| room.len())
}

fn directions(house: &House, imports: &Imports) -> Vec<String> {
    let mut complaints = Vec::new();
    let mut used = Vec::new();
    for ((from, to), names) in &imports.arrows {
        let (Some((low, room)), Some((high, target))) = (floor(house, from), floor(house, to)) else {
            complaints.push(format!("{}{}: it lies in no room of the list", house.src, from.join("/")));
            continue;
        };
        if high <= low {
            continue;
        }
        let excepted = house.exceptions.iter().find(|(a, b, _)| *a == from.join("/") && *b == to.join("/"));
        match excepted {
            Some(exception) => used.push(exception),
            None => {
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                let file = imports.files.get(from).map_or("", String::as_str);
                complaints.push(format!(
                    "{file}: it imports {} upward, from room `{target}` into room `{room}`",
                    names.join(", ")
                ));
            }
        }
    }
    for (from, to, _) in house.exceptions.iter().filter(|exception| !used.contains(exception)) {
        complaints.push(format!("{}: the exception {from} → {to} is no longer needed", house.src));
    }
    if house.exceptions.len() > EXCEPTIONS_ALLOWED {
        complaints.push(format!("{}: more than {EXCEPTIONS_ALLOWED} exceptions", house.src));
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::super::tests::file;
    use super::*;

    const SMALL: House = House {
        src: "c/src/",
        floors: &[&["ground"], &["middle", "beside"], &["middle/attic"]],
        exceptions: &[("ground/cellar", "beside", "a reason")],
    };

    fn check_small(files: &[(&str, &str)], expected: &[&str]) {
        let files: Vec<File> = files.iter().map(|(path, text)| file(path, text)).collect();
        let imports = imports::read(&files, SMALL.src).unwrap();
        let complaints = directions(&SMALL, &imports);
        assert_eq!(complaints.len(), expected.len(), "{complaints:?}");
        for (complaint, part) in complaints.iter().zip(expected) {
            assert!(complaint.contains(part), "{complaint}");
        }
    }

    #[test]
    fn imports_run_downward() {
        let exception = ("c/src/ground/cellar.rs", "use crate::beside::C;");
        let down = ("c/src/middle/mod.rs", "use crate::ground::A; use crate::beside::C;");
        let others = [("c/src/ground/mod.rs", "pub struct A;"), ("c/src/beside.rs", "pub struct C;")];
        check_small(&[exception, down, others[0], others[1]], &[]);
        let up = ("c/src/ground/mod.rs", "use crate::middle::B;");
        check_small(
            &[exception, down, up, others[1]],
            &["c/src/ground/mod.rs: it imports B upward, from room `middle`"],
        );
        check_small(
            &[down, others[0], others[1]],
            &["the exception ground/cellar → beside is no longer needed"],
        );
    }

    #[test]
    fn a_room_within_a_room_is_its_own() {
        let attic = ("c/src/middle/attic.rs", "pub struct D;");
        let up = ("c/src/beside.rs", "use crate::middle::attic::D;");
        let exception = ("c/src/ground/cellar.rs", "use crate::beside::C;");
        let middle = ("c/src/middle/mod.rs", "pub mod attic;");
        check_small(
            &[attic, up, exception, middle],
            &["c/src/beside.rs: it imports D upward, from room `middle/attic`"],
        );
    }
}
