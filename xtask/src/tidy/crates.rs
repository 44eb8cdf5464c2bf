//! The crates of the workspace and what each is for, derived from their manifests.

use std::collections::{BTreeMap, BTreeSet};

use super::File;
use super::manifests::dependencies;

/// The crate of the program.
const PROGRAM: &str = "cuepoint";

/// What a crate is for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Use {
    /// It is compiled into the service.
    Service,
    /// It contains tests that several crates run.
    Suite,
    /// Developers run it.
    Tool,
}

/// The use of each crate, by the name of its folder.
pub(super) struct Crates(BTreeMap<String, Use>);

impl Crates {
    /// The crates of these files.
    pub(super) fn of(files: &[File]) -> Self {
        let manifests: BTreeMap<&str, Manifest> = files
            .iter()
            .filter_map(|file| Some((name_of_manifest(&file.path)?, Manifest::of(&file.text()))))
            .collect();
        let named = |names: &BTreeSet<String>| -> Vec<String> {
            names.iter().filter(|name| manifests.contains_key(name.as_str())).cloned().collect()
        };
        let reached = |first: &str| {
            let (mut all, mut next) = (BTreeSet::new(), vec![first.to_owned()]);
            while let Some(name) = next.pop() {
                if let Some(manifest) = manifests.get(name.as_str())
                    && all.insert(name)
                {
                    next.extend(named(&manifest.dependencies));
                }
            }
            all
        };
        let service = reached(PROGRAM);
        let tests = service.iter().filter_map(|name| manifests.get(name.as_str()));
        let tested: BTreeSet<String> = tests.flat_map(|manifest| named(&manifest.tests)).collect();
        let is_used_alone = |name: &str| !service.contains(name) && !tested.contains(name);
        let tools: BTreeSet<String> =
            manifests.keys().filter(|name| is_used_alone(name)).flat_map(|name| reached(name)).collect();
        let use_of = |name: &str| match name {
            _ if service.contains(name) => Use::Service,
            _ if tools.contains(name) => Use::Tool,
            _ => Use::Suite,
        };
        Self(manifests.keys().map(|name| ((*name).to_owned(), use_of(name))).collect())
    }

    /// The crate of a file, and what it is for.
    pub(super) fn owner(&self, path: &str) -> Option<(&str, Use)> {
        let (name, _) = split(path)?;
        self.0.get_key_value(name).map(|(name, use_of)| (name.as_str(), *use_of))
    }

    /// Whether a file is source of the service.
    pub(super) fn is_in_service(&self, path: &str) -> bool {
        let is_source =
            split(path).is_some_and(|(_, rest)| rest.starts_with("src/") || rest.starts_with("per_store/"));
        is_source && self.owner(path).is_some_and(|(_, use_of)| use_of == Use::Service)
    }
}

/// The name of the crate of a file, and the rest of its path.
fn split(path: &str) -> Option<(&str, &str)> {
    path.strip_prefix("crates/")
        .and_then(|rest| rest.split_once('/'))
        .or_else(|| path.split_once('/').filter(|(name, _)| *name == "xtask"))
}

fn name_of_manifest(path: &str) -> Option<&str> {
    split(path).filter(|(_, rest)| *rest == "Cargo.toml").map(|(name, _)| name)
}

/// The crates of the workspace that a manifest names.
#[derive(Default)]
struct Manifest {
    dependencies: BTreeSet<String>,
    tests: BTreeSet<String>,
}

impl Manifest {
    fn of(text: &str) -> Self {
        let mut manifest = Self::default();
        // Another rule reports a manifest that cannot be read.
        for (kind, name, dependency) in dependencies(&text.parse().unwrap_or_default()) {
            let Some(name) = name.strip_prefix("cuepoint-") else { continue };
            // Optional dependencies are for the tests of other crates.
            let is_optional = dependency.get("optional").is_some();
            match kind {
                "dependencies" if !is_optional => manifest.dependencies.insert(name.to_owned()),
                "dependencies" | "dev-dependencies" => manifest.tests.insert(name.to_owned()),
                _ => continue,
            };
        }
        manifest
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::file;
    use super::*;

    #[test]
    fn the_use_of_a_crate_follows_from_the_manifests() {
        let files = [
            file("crates/cuepoint/Cargo.toml", "[dependencies]\ncuepoint-web.workspace = true\n"),
            file(
                "crates/web/Cargo.toml",
                "[dependencies]\ncuepoint-domain = { workspace = true }\ncuepoint-suite = { workspace = true, optional = true }\n\
                 [dev-dependencies]\ncuepoint-contract.workspace = true\ncuepoint-demo.workspace = true\n",
            ),
            file("crates/domain/Cargo.toml", ""),
            file("crates/contract/Cargo.toml", ""),
            file("crates/bench/Cargo.toml", "[dependencies]\ncuepoint-domain.workspace = true\n"),
            file("crates/suite/Cargo.toml", ""),
            file("crates/demo/Cargo.toml", ""),
            file("xtask/Cargo.toml", "[dependencies]\ncuepoint-demo.workspace = true\n"),
        ];
        let crates = Crates::of(&files);
        for (path, expected) in [
            ("crates/domain/src/a.rs", Use::Service),
            ("crates/contract/src/a.rs", Use::Suite),
            ("crates/suite/src/a.rs", Use::Suite),
            ("crates/demo/src/a.rs", Use::Tool),
            ("crates/bench/src/a.rs", Use::Tool),
            ("xtask/src/a.rs", Use::Tool),
        ] {
            assert_eq!(crates.owner(path).unwrap().1, expected, "{path}");
        }
        assert!(
            crates.is_in_service("crates/web/src/a.rs") && !crates.is_in_service("crates/web/tests/a.rs")
        );
        assert_eq!(crates.owner("docs/api.md"), None);
    }
}
