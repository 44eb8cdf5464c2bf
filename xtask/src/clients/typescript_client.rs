//! The TypeScript client: types from openapi-typescript, requests through openapi-fetch.

use std::path::Path;
use std::process::Command;

use super::{FOLDER, program, project, run_tool};
use crate::node;
use crate::workspace::root;

/// Generates the client, compiles it together with its tour, and returns the program of the tour.
///
/// # Errors
/// If the generator or the compiler fails; both print their reasons.
pub(super) fn compile(document: &Path) -> anyhow::Result<Command> {
    let project = project()?;
    run_tool(program("openapi-typescript")?.arg(document).args(["--output", "schema.ts"]))?;
    for file in ["tour.ts", "tsconfig.json"] {
        node::copy(&root().join(FOLDER), file, &project)?;
    }
    run_tool(program("tsc")?.args(["--project", "tsconfig.json"]))?;
    let mut tour = Command::new("node");
    tour.arg(project.join("build").join("tour.js"));
    Ok(tour)
}
