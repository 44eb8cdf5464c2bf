//! The imports between the files of a crate, read from its source with `syn`.
//!
//! Tests are left out. A name that a module re-exports counts as an import of the file that defines it, and a
//! file and the modules that contain it count as one, so that `super::` is no import.

use std::collections::{BTreeMap, BTreeSet};

use syn::visit::{self, Visit};

use super::File;
use super::sources::is_for_tests;

/// The path of a module within its crate, such as `["http", "wire"]`; the root is empty.
pub(super) type ModulePath = Vec<String>;

/// The modules of one crate and their imports from each other.
#[derive(Debug, Default)]
pub(super) struct Imports {
    pub(super) files: BTreeMap<ModulePath, String>,
    /// Pairs of importing and imported module, with the imported names.
    pub(super) arrows: BTreeMap<(ModulePath, ModulePath), BTreeSet<String>>,
}

/// The sources that both SQL stores compile as modules of their own, in folders with the names of the modules.
pub(super) const PER_STORE: &str = "crates/store-sql/per_store/";
/// The sources of these stores.
const SQL_STORES: [&str; 2] = ["crates/store-postgres/src/", "crates/store-sqlite/src/"];

/// Reads the imports of the crate whose source lies under `src`, such as `crates/domain/src/`.
///
/// # Errors
/// If a file is not valid Rust.
pub(super) fn read(files: &[File], src: &str) -> anyhow::Result<Imports> {
    let mut modules = BTreeMap::new();
    let shared = SQL_STORES.contains(&src).then_some(PER_STORE);
    for file in files.iter().filter(|file| file.has_extension(&["rs"])) {
        let inside =
            [Some(src), shared].into_iter().flatten().find_map(|folder| file.path.strip_prefix(folder));
        let Some(path) = inside.and_then(module_path) else { continue };
        modules.insert(path, (file.path.clone(), file.parsed()?));
    }
    let known: BTreeSet<ModulePath> = modules.keys().cloned().collect();
    let exports: BTreeMap<ModulePath, BTreeMap<String, Vec<String>>> =
        modules.iter().map(|(path, (_, parsed))| (path.clone(), reexports(path, parsed))).collect();
    let mut imports = Imports::default();
    for (path, (file, parsed)) in &modules {
        imports.files.insert(path.clone(), file.clone());
        let mut used = Used { module: path, known: &known, paths: BTreeSet::new() };
        used.visit_file(parsed);
        for full in used.paths {
            let (target, name) = resolve(full, &known, &exports);
            if target != *path && !contains(&target, path) && !contains(path, &target) {
                imports.arrows.entry((path.clone(), target)).or_default().insert(name);
            }
        }
    }
    Ok(imports)
}

/// The module of a file under `src/`; `None` for tests and programs.
fn module_path(file: &str) -> Option<ModulePath> {
    let mut parts: Vec<String> = file.strip_suffix(".rs")?.split('/').map(str::to_owned).collect();
    if parts.iter().any(|part| part == "tests" || part == "testing" || part == "bin") {
        return None;
    }
    if parts.last().is_some_and(|last| matches!(last.as_str(), "mod" | "lib" | "main")) {
        parts.pop();
    }
    Some(parts)
}

/// Whether `inner` is nested in `outer`.
fn contains(outer: &[String], inner: &[String]) -> bool {
    inner.len() > outer.len() && inner.starts_with(outer)
}

/// Returns the re-exports of a module, with the full path of each.
fn reexports(module: &ModulePath, parsed: &syn::File) -> BTreeMap<String, Vec<String>> {
    let mut found = BTreeMap::new();
    for item in &parsed.items {
        if let syn::Item::Use(item) = item
            && !matches!(item.vis, syn::Visibility::Inherited)
        {
            for (path, name) in leaves(&item.tree) {
                found
                    .insert(name, anchored(module, &path).unwrap_or_else(|| [module.clone(), path].concat()));
            }
        }
    }
    found
}

/// Returns each path of a use tree with the name that it binds.
fn leaves(tree: &syn::UseTree) -> Vec<(Vec<String>, String)> {
    match tree {
        syn::UseTree::Path(path) => leaves(&path.tree)
            .into_iter()
            .map(|(rest, name)| ([vec![path.ident.to_string()], rest].concat(), name))
            .collect(),
        syn::UseTree::Name(name) if name.ident == "self" => vec![(Vec::new(), String::new())],
        syn::UseTree::Name(name) => vec![(vec![name.ident.to_string()], name.ident.to_string())],
        syn::UseTree::Rename(name) => vec![(vec![name.ident.to_string()], name.rename.to_string())],
        syn::UseTree::Glob(_) => vec![(Vec::new(), "*".to_owned())],
        syn::UseTree::Group(group) => group.items.iter().flat_map(leaves).collect(),
    }
}

/// Returns the path from the crate's root, if it begins with `crate`, `self` or `super`.
fn anchored(module: &[String], path: &[String]) -> Option<Vec<String>> {
    let (first, rest) = path.split_first()?;
    match first.as_str() {
        "crate" => Some(rest.to_vec()),
        "self" => Some([module, rest].concat()),
        "super" => {
            let (_, parent) = module.split_last()?;
            let deeper = [vec!["self".to_owned()], rest.to_vec()].concat();
            match rest.first().map(String::as_str) {
                Some("super") => anchored(parent, rest),
                _ => anchored(parent, &deeper),
            }
        }
        _ => None,
    }
}

/// Returns the file that defines the target of a full path, and the name.
fn resolve(
    mut full: Vec<String>,
    known: &BTreeSet<ModulePath>,
    exports: &BTreeMap<ModulePath, BTreeMap<String, Vec<String>>>,
) -> (ModulePath, String) {
    // Chains of re-exports are short; the bound ends a chain that leads back to itself.
    for _ in 0..8 {
        let (module, rest) = split(&full, known);
        let Some(name) = rest.first() else { break };
        match exports.get(&module).and_then(|names| names.get(name)) {
            Some(target) if *target != full => {
                full = [target.as_slice(), rest.get(1..).unwrap_or_default()].concat()
            }
            _ => break,
        }
    }
    let (module, rest) = split(&full, known);
    let name = rest.first().cloned().unwrap_or_else(|| "*".to_owned());
    (module, name)
}

/// Splits a path into its longest prefix that is a module, and the rest.
fn split(full: &[String], known: &BTreeSet<ModulePath>) -> (ModulePath, Vec<String>) {
    let longest =
        (0..=full.len()).rev().find(|length| full.get(..*length).is_some_and(|it| known.contains(it)));
    let (module, rest) = full.split_at(longest.unwrap_or(0));
    (module.to_vec(), rest.to_vec())
}

/// A visitor that collects the paths a module uses.
struct Used<'a> {
    module: &'a [String],
    known: &'a BTreeSet<ModulePath>,
    paths: BTreeSet<Vec<String>>,
}

impl Used<'_> {
    fn add(&mut self, path: &[String]) {
        if let Some(full) = anchored(self.module, path) {
            self.paths.insert(full);
        } else if let Some(first) = path.first() {
            let child = [self.module, std::slice::from_ref(first)].concat();
            if self.known.contains(&child) {
                self.paths.insert([self.module, path].concat());
            }
        }
    }
}

impl<'ast> Visit<'ast> for Used<'_> {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        if !is_test(item) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        // A re-export from a submodule is not an import of the module's own.
        if matches!(item.vis, syn::Visibility::Inherited) {
            for (path, _) in leaves(&item.tree) {
                self.add(&path);
            }
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let segments: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if segments.len() > 1 {
            self.add(&segments);
        }
        visit::visit_path(self, path);
    }
}

/// Whether an item is compiled for tests only.
fn is_test(item: &syn::Item) -> bool {
    let attributes = match item {
        syn::Item::Mod(item) => &item.attrs,
        syn::Item::Fn(item) => &item.attrs,
        syn::Item::Impl(item) => &item.attrs,
        syn::Item::Use(item) => &item.attrs,
        _ => return false,
    };
    is_for_tests(attributes)
}

/// Returns the circles of a crate: groups of modules that import each other, in a loop of any length.
pub(super) fn circles(imports: &Imports) -> Vec<Vec<ModulePath>> {
    let reached = |from: &ModulePath| {
        let mut seen = BTreeSet::new();
        let mut left = vec![from.clone()];
        while let Some(module) = left.pop() {
            for (_, to) in imports.arrows.keys().filter(|(importing, _)| *importing == module) {
                if seen.insert(to.clone()) {
                    left.push(to.clone());
                }
            }
        }
        seen
    };
    let reach: BTreeMap<&ModulePath, BTreeSet<ModulePath>> =
        imports.files.keys().map(|module| (module, reached(module))).collect();
    let loops = |one: &ModulePath, other: &ModulePath| {
        reach.get(one).is_some_and(|from| from.contains(other))
            && reach.get(other).is_some_and(|from| from.contains(one))
    };
    let mut found: Vec<Vec<ModulePath>> = Vec::new();
    for module in imports.files.keys().filter(|module| loops(module, module)) {
        match found.iter_mut().find(|circle| circle.first().is_some_and(|first| loops(first, module))) {
            Some(circle) => circle.push(module.clone()),
            None => found.push(vec![module.clone()]),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::tests::file;
    use super::*;

    fn names(of: &[&str]) -> ModulePath {
        of.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn an_import_resolves_to_the_defining_file() {
        let files = [
            file("c/src/lib.rs", "pub mod a;\npub mod b;\npub use b::Thing;\n"),
            file("c/src/a.rs", "use crate::Thing;\nfn f() { crate::b::g::run() }\n"),
            file("c/src/b/mod.rs", "pub mod g;\npub use g::Thing;\n"),
            file(
                "c/src/b/g.rs",
                "pub struct Thing;\npub fn run() {}\n#[cfg(test)]\nmod tests { use crate::a; }\n",
            ),
        ];
        let imports = read(&files, "c/src/").unwrap();
        let expected = [((names(&["a"]), names(&["b", "g"])), ["Thing", "run"].map(str::to_owned).into())];
        assert_eq!(imports.arrows, BTreeMap::from(expected));
        assert!(circles(&imports).is_empty());
    }

    #[test]
    fn circular_imports_are_found() {
        let files = [
            file("c/src/a.rs", "use super::b::B;\n"),
            file("c/src/b.rs", "use crate::d;\n"),
            file("c/src/d.rs", "use crate::a::A;\n"),
            file("c/src/e.rs", "use crate::a::A;\n"),
        ];
        let imports = read(&files, "c/src/").unwrap();
        assert_eq!(circles(&imports), [[names(&["a"]), names(&["b"]), names(&["d"])]]);
    }
}
