//! The list of components: every crate that the program is built from, in CycloneDX.
//!
//! It is made from `cargo tree`. cargo-cyclonedx also lists what the features of tests add, names folders of the
//! machine, and writes next to the manifest of every package.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, ensure};
use serde_json::{Value, json};

use crate::workspace::{cargo, output_of};

/// A crate: its name and version.
pub(super) type Crate = (String, String);

/// The crates of the program.
#[derive(Default)]
pub(super) struct Components {
    /// Each crate with its licences, as an SPDX expression.
    pub(super) licences: BTreeMap<Crate, String>,
    /// Each crate with what it depends on.
    dependencies: BTreeMap<Crate, BTreeSet<Crate>>,
}

impl Components {
    /// Lists the crates of the program on a machine, with the tools that build it.
    pub(super) fn of_program(target: &str) -> anyhow::Result<Self> {
        let mut tree = cargo();
        tree.args("tree --locked --package cuepoint --edges normal,build --prefix depth".split(' '));
        Self::parse(&output_of(tree.args(["--target", target, "--format", " {p}|{l}"]))?)
    }

    /// Parses lines such as `2 bytes v1.12.1|MIT (*)`, in which the number is the depth.
    fn parse(tree: &str) -> anyhow::Result<Self> {
        let mut components = Self::default();
        let mut path: Vec<Crate> = Vec::new();
        for line in tree.lines() {
            let (depth, found, licence) =
                parse_line(line).with_context(|| format!("cargo tree printed {line}"))?;
            ensure!(!licence.is_empty(), "{} names no licence", found.0);
            path.truncate(depth);
            if let Some(parent) = path.last() {
                components.dependencies.entry(parent.clone()).or_default().insert(found.clone());
            }
            components.dependencies.entry(found.clone()).or_default();
            components.licences.insert(found.clone(), licence);
            path.push(found);
        }
        Ok(components)
    }
}

fn parse_line(line: &str) -> Option<(usize, Crate, String)> {
    let (package, licence) = line.split_once('|')?;
    let mut words = package.split(' ');
    let depth = words.next()?.parse().ok()?;
    let name = words.next()?.to_owned();
    let version = words.next()?.strip_prefix('v')?.to_owned();
    // A crate whose dependencies are printed elsewhere ends in (*). A slash is the old form of OR.
    let licence = licence.trim_end_matches(" (*)").replace(" / ", "/").replace('/', " OR ");
    Some((depth, (name, version), licence))
}

/// Returns the list as a document of this time.
pub(super) fn document(target: &str, time: &str) -> anyhow::Result<String> {
    let Components { mut licences, dependencies } = Components::of_program(target)?;
    let program = ("cuepoint".to_owned(), super::VERSION.to_owned());
    let licence = licences.remove(&program).context("cargo tree does not list the program")?;
    let components: Vec<Value> =
        licences.iter().map(|(found, licence)| component("library", found, licence)).collect();
    let dependencies: Vec<Value> = dependencies
        .iter()
        .map(|(found, on)| json!({"ref": reference(found), "dependsOn": on.iter().map(reference).collect::<Vec<_>>()}))
        .collect();
    let document = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "timestamp": time,
            "component": component("application", &program, &licence),
            "properties": [{"name": "cdx:rustc:sbom:target:triple", "value": target}],
        },
        "components": components,
        "dependencies": dependencies,
    });
    Ok(format!("{document:#}\n"))
}

fn component(kind: &str, found: &Crate, licence: &str) -> Value {
    let (name, version) = found;
    let reference = reference(found);
    json!({
        "type": kind,
        "bom-ref": reference,
        "purl": reference,
        "name": name,
        "version": version,
        "licenses": [{"expression": licence}],
    })
}

/// The package URL of a crate.
fn reference((name, version): &Crate) -> String {
    format!("pkg:cargo/{name}@{}", version.replace('+', "%2B"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str, version: &str) -> Crate {
        (name.to_owned(), version.to_owned())
    }

    #[test]
    fn each_crate_is_listed_with_its_licence_and_what_it_depends_on() {
        let tree = "0 app v1.0.0 (/home/a/app)|MIT OR Apache-2.0\n1 macros v0.2.0 (proc-macro)|MIT/Apache-2.0\n\
                    2 text v1.2.0+spec|Apache-2.0 / MIT\n1 text v1.2.0+spec|Apache-2.0 / MIT (*)\n";
        let found = Components::parse(tree).unwrap();
        let (app, macros, text) =
            (named("app", "1.0.0"), named("macros", "0.2.0"), named("text", "1.2.0+spec"));
        assert_eq!(found.licences[&app], "MIT OR Apache-2.0");
        assert_eq!(found.licences[&macros], "MIT OR Apache-2.0");
        assert_eq!(found.licences[&text], "Apache-2.0 OR MIT");
        assert_eq!(found.dependencies[&app], BTreeSet::from([macros.clone(), text.clone()]));
        assert_eq!(found.dependencies[&macros], BTreeSet::from([text.clone()]));
        assert!(found.dependencies[&text].is_empty());
        assert_eq!(reference(&text), "pkg:cargo/text@1.2.0%2Bspec");
    }

    #[test]
    fn a_crate_without_a_licence_is_refused() {
        assert!(Components::parse("0 app v1.0.0 (/home/a/app)|\n").is_err());
    }
}
