//! The exchange in `docs/guide/providers.md`: its program plays the payment system and the payout system, its service is
//! started as printed, and its commands have the printed answers.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::harness::{DOCUMENTED, Examples, Listening, bash, blocks, section};

const GUIDE: &str = include_str!("../../../../../docs/guide/providers.md");
const EXCHANGE: &str = "## A complete exchange";

/// Runs the commands of a block in a folder until the last one listens.
fn start(commands: &str, folder: &Path, variables: &[(&str, &str)]) -> Listening {
    let (before, last) = commands.trim_end().rsplit_once('\n').unwrap_or(("", commands.trim_end()));
    let mut shell = bash();
    shell.args(["-e", "-c", &format!("{before}\nexec {last}")]).envs(variables.iter().copied());
    shell.current_dir(folder);
    Listening::start(shell)
}

#[test]
fn documented_exchanges_with_providers_work() {
    let folder = TempDir::with_prefix("cuepoint-providers-").unwrap();
    let exchange = section(GUIDE, EXCHANGE);
    let printed = blocks(exchange);
    let [program] = printed.iter().filter(|block| block.language == "python").collect::<Vec<_>>()[..] else {
        panic!("the guide has another number of programs")
    };
    fs::write(folder.path().join("systems.py"), program.text).unwrap();
    let starts: Vec<&str> =
        printed.iter().filter(|block| block.language == "bash").map(|block| block.text).collect();
    let [systems, service] = starts[..] else { panic!("the guide has other starts: {starts:?}") };

    let systems = start(&systems.replace(" 8090 ", " 0 "), folder.path(), &[]);
    let port = systems.address.strip_prefix("port ").unwrap();
    let service = service.replace("127.0.0.1:8090", &format!("127.0.0.1:{port}"));
    let service = service.replace("\ncuepoint ", concat!("\n", env!("CARGO_BIN_EXE_cuepoint"), " "));
    let service = start(&service, folder.path(), &[("CUEPOINT__SERVER__PORT", "0")]);

    let mut shell = bash();
    shell.current_dir(folder.path());
    Examples::of(exchange).check(shell, &[(DOCUMENTED, &service.address)]);
}
