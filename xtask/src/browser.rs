//! `cargo xtask browser`: tests of the pages in Chromium, against files of the gallery and against the live service.

mod chromium;
pub(crate) mod screenshots;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{bail, ensure};

use crate::workspace::{cargo, emptied, exit_code, root, target_dir};
use crate::{node, service};

/// The tests and the pinned versions of their packages.
const FOLDER: &str = "xtask/browser";

/// The options of the command.
#[derive(clap::Args, Debug, Default)]
pub(crate) struct Arguments {
    /// See every page at every width, in every colour scheme and language.
    #[arg(long)]
    all: bool,
    /// Run only the tests with this text in their names.
    #[arg(long)]
    filter: Option<String>,
    /// Test this program of the service, not the debug build.
    #[arg(long)]
    service: Option<PathBuf>,
}

impl Arguments {
    /// The arguments of a full run if `all`, otherwise of a usual run.
    pub(crate) fn of_all(all: bool) -> Self {
        Self { all, ..Self::default() }
    }
}

/// Runs the tests; returns 1 if one of them fails.
///
/// # Errors
/// If a tool is missing or fails.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<u8> {
    let tools = Tools::find_or_install()?;
    // Former screenshots would look like results of this run.
    let results = emptied(target_dir()?.join("browser"))?;
    let gallery = emptied(results.join("gallery"))?;
    render_gallery(&gallery)?;
    let service = match &arguments.service {
        Some(program) => program.clone(),
        None => service::binary()?,
    };
    let mut tests = tools.program("main.js")?;
    for (option, path) in [("--service", &service), ("--gallery", &gallery), ("--results", &results)] {
        tests.arg(option).arg(std::path::absolute(path)?);
    }
    tests.args(arguments.all.then_some("--all"));
    tests.args(arguments.filter.iter().flat_map(|filter| ["--filter", filter]));
    let code = exit_code(&mut tests)?;
    println!("the screenshots are in {}", results.display());
    Ok(code)
}

/// What drives the browser.
struct Tools {
    chromium: PathBuf,
    /// The folder of the installed npm packages.
    packages: PathBuf,
}

impl Tools {
    fn find_or_install() -> anyhow::Result<Self> {
        if let Some(missing) = node::missing() {
            bail!(missing);
        }
        Ok(Self { chromium: chromium::find_or_install()?, packages: node::project("browser-node", FOLDER)? })
    }

    /// Returns the command of a program in the folder.
    fn program(&self, name: &str) -> anyhow::Result<Command> {
        let mut program = Command::new("node");
        program.arg("--test-reporter=spec").arg(root().join(FOLDER).join(name));
        for (option, path) in [("--chromium", &self.chromium), ("--packages", &self.packages)] {
            program.arg(option).arg(std::path::absolute(path)?);
        }
        Ok(program)
    }
}

/// Returns the message that names a missing tool and its package, if a tool is missing and cannot be installed.
pub(crate) fn missing_tool() -> Option<String> {
    node::missing().or_else(chromium::missing)
}

/// Writes every page in every state into this folder.
fn render_gallery(folder: &Path) -> anyhow::Result<()> {
    // All tests also build the examples. Another build would take minutes, because the tests enable other features.
    let mut gallery = if service::is_binary_kept() {
        Command::new(target_dir()?.join("debug").join("examples").join("gallery"))
    } else {
        let mut gallery = cargo();
        gallery.args("run --quiet --locked --package cuepoint-pages --example gallery --".split(' '));
        gallery
    };
    ensure!(exit_code(gallery.arg(folder))? == 0, "the gallery of the pages cannot be rendered");
    Ok(())
}
