//! The layers of the product's crates: the direction of imports between them, and no import circles in any
//! crate.

use super::File;
use super::imports::{self, Imports, ModulePath};

/// The layers of a crate, from the lowest. A module imports from its own layer and from those below.
struct CrateLayers {
    /// The folder of its source.
    src: &'static str,
    /// The modules of each layer, as paths with `/`; a module in another listed one has its own layer. The root is empty.
    layers: &'static [&'static str],
}

const CRATES: &[CrateLayers] = &[
    CrateLayers {
        src: "crates/domain/src/",
        layers: &[
            "entities unknown",
            "names",
            "checksum ids money page text timestamp",
            "address entity_ref gig/code network provider_reference",
            "ledger",
            "entity_facts",
            "provider_message user",
            "authorization",
            "security_log",
            "music_request topup withdrawal",
            "gig",
            "tip",
            "operation",
            "audit event",
            "webhook",
            "privacy",
            "ports",
            "application/error application/readiness application/security_audit",
            "application/environment",
            "application/executor",
            "application/jobs application/queries",
            "application/users application/providers",
            "application/commands application/webhooks",
            "application/use_cases",
            "application",
            "",
        ],
    },
    CrateLayers {
        src: "crates/adapters/src/",
        layers: &[
            "networks observability",
            "api_calls clock diagnosis endpoint_calls event_hub http_client job_queue link_template \
             long_work notifier outgoing payouts personal_data_export request_ids runtime security \
             signed_messages topups",
            "service",
            "event_stream board_stream",
            "",
        ],
    },
    CrateLayers {
        src: "crates/api/src/",
        layers: &[
            "wire state",
            "mapping call command_call endpoint reliance declaration admission",
            "operations",
            "openapi pipeline routes",
            "",
        ],
    },
    CrateLayers {
        src: "crates/web/src/",
        layers: &[
            "cookies cross_site form kept_secrets next_path failure response",
            "state",
            "call known_browser recent_password session",
            "guest_cookie",
            "route",
            "handlers",
            "router",
            "",
        ],
    },
    CrateLayers {
        src: "crates/cuepoint/src/",
        layers: &["config", "composition", "jobs web_application", "cli", ""],
    },
    CrateLayers {
        src: "crates/pages/src/",
        layers: &[
            "texts",
            "language",
            "accent assets format forms paging",
            "frame",
            "refusals done closed",
            "payment",
            "error guest front wallet account booth display report",
            "",
        ],
    },
    CrateLayers {
        src: "crates/store-memory/src/",
        layers: &[
            "lists",
            "audit blocks email_changes gigs guest_accounts ids ledger logins operation_log people \
             personal_data provider_messages reads security_log sessions wallet_links webhook_endpoints",
            "backend",
            "",
        ],
    },
    CrateLayers {
        src: "crates/store-postgres/src/",
        layers: &[
            "schema statement telemetry",
            "connect",
            "tables/adjustments tables/advisory_locks tables/income tables/positions",
            "reads writer",
            "dialect",
            "by_id tables",
            "maintenance retention seed",
            "ports",
            "backend copy",
            "",
        ],
    },
    CrateLayers {
        src: "crates/store-sqlite/src/",
        layers: &[
            "schema telemetry",
            "connect statements",
            "tables/counters tables/income tables/operations",
            "writer",
            "dialect",
            "by_id tables",
            "retention",
            "ports",
            "copy maintenance",
            "backend",
            "testing",
            "",
        ],
    },
    CrateLayers {
        src: "crates/store-sql/src/",
        layers: &[
            "announcements answers corrupt crash_points id_blocks limits lock_set locks",
            "named sql_types sum table",
            "schema",
            "entity_rows rows",
            "copy loaded_rows write_set",
            "fold",
            "",
        ],
    },
];

/// Checks every crate.
///
/// # Errors
/// If a file is not valid Rust.
pub(super) fn check(files: &[File]) -> anyhow::Result<Vec<String>> {
    let mut complaints = Vec::new();
    for src in sources(files) {
        let imports = imports::read(files, &src)?;
        complaints.extend(circles(&imports));
        for layers in CRATES.iter().filter(|layers| layers.src == src) {
            complaints.extend(directions(layers, &imports));
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

/// Returns the layer of a module, and the listed module that contains it: the longest path among those.
fn layer(layers: &CrateLayers, module: &ModulePath) -> Option<(usize, &'static str)> {
    let path = module.join("/");
    let listed = layers.layers.iter().enumerate();
    let listed = listed.flat_map(|(layer, modules)| modules.split(' ').map(move |listed| (layer, listed)));
    listed
        .filter(|(_, listed)| {
            path == *listed || path.strip_prefix(listed).is_some_and(|rest| rest.starts_with('/'))
        })
        .max_by_key(|(_, listed)| listed.len())
}

fn directions(layers: &CrateLayers, imports: &Imports) -> Vec<String> {
    let unlisted = imports.files.iter().filter(|(module, _)| layer(layers, module).is_none());
    let mut complaints: Vec<String> = unlisted
        .map(|(_, file)| format!("{file}: it lies in no layer; add its module to xtask/src/tidy/layers.rs"))
        .collect();
    for ((from, to), names) in &imports.arrows {
        if let (Some((low, importing)), Some((high, target))) = (layer(layers, from), layer(layers, to))
            && high > low
        {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let file = imports.files.get(from).map_or("", String::as_str);
            complaints.push(format!(
                "{file}: it imports {} upward, from `{target}` into the lower layer of `{importing}`",
                names.join(", ")
            ));
        }
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::super::tests::file;
    use super::*;

    const SMALL: CrateLayers =
        CrateLayers { src: "c/src/", layers: &["ground", "middle beside", "middle/attic"] };

    fn check_small(files: &[(&str, &str)], expected: &[&str]) {
        let files: Vec<File> = files.iter().map(|(path, text)| file(path, text)).collect();
        let imports = imports::read(&files, SMALL.src).unwrap();
        assert_eq!(directions(&SMALL, &imports), expected);
    }

    #[test]
    fn upward_imports_and_modules_without_a_layer_are_reported() {
        let down = ("c/src/middle/mod.rs", "use crate::ground::A; use crate::beside::C;");
        let others = [("c/src/ground/mod.rs", "pub struct A;"), ("c/src/beside.rs", "pub struct C;")];
        check_small(&[down, others[0], others[1]], &[]);
        let up = ("c/src/ground/cellar.rs", "use crate::middle::B;");
        check_small(
            &[down, up, others[1], ("c/src/cloud.rs", "")],
            &[
                "c/src/cloud.rs: it lies in no layer; add its module to xtask/src/tidy/layers.rs",
                "c/src/ground/cellar.rs: it imports B upward, from `middle` into the lower layer of `ground`",
            ],
        );
    }

    #[test]
    fn nested_modules_have_their_own_layer() {
        let attic = ("c/src/middle/attic.rs", "pub struct D;");
        let up = ("c/src/beside.rs", "use crate::middle::attic::D;");
        let middle = ("c/src/middle/mod.rs", "pub mod attic;");
        check_small(
            &[attic, up, middle],
            &["c/src/beside.rs: it imports D upward, from `middle/attic` into the lower layer of `beside`"],
        );
    }
}
