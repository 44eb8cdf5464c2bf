//! Instructions per request, counted by callgrind: they depend neither on the processor nor on other work of the
//! machine.
//!
//! Each server has one worker and is warm. A write on a connection of its own is a group of one plan; groups of
//! several connections form by chance, so their instructions compare only at equal groups.

mod callgrind;

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context, ensure};

use crate::context::{Bench, Programs};
use crate::datasets::{READ, WRITTEN};
use crate::figures::{number, shown};
use crate::load::{self, Load, Requests};
use crate::markdown::table;
use crate::operations::{Operation, Store};
use crate::options::Options;
use crate::run::Ours;
use crate::single_calls::client;
use callgrind::Callgrind;

/// The number of requests before counting: translation of the code, caches, prepared statements.
const WARM_UP: u32 = 1_000;
/// The number of counted requests.
const COUNTED: u32 = 3_000;
/// The number of connections of reads, and of writes in groups.
const CONNECTIONS: usize = 16;
/// A duration that no cell reaches: its requests run out first.
const UNLIMITED: Duration = Duration::from_hours(1);
/// The measured operations: those of the table, and the list of a guest.
const OPERATIONS: [Operation; 6] = [
    Operation::PersonalInfo,
    Operation::List,
    Operation::GuestList,
    Operation::Update,
    Operation::Withdrawal,
    Operation::HotWithdrawal,
];

/// The heads of the table.
const HEADS: &str = "row | connections | instructions | plans/group | other build | plans/group | ratio";

/// The cost of a request.
#[derive(Clone, Copy, Debug)]
struct Cost {
    /// Instructions in user mode.
    instructions: f64,
    /// The average group of the writes, on a store that forms groups.
    plans_per_group: Option<f64>,
}

/// Counts the instructions of each selected row, and returns the table in Markdown; with another build, also its
/// instructions and their ratio.
///
/// # Errors
/// If callgrind is not installed, a response is not a success, or the ledger is inconsistent afterwards.
pub(crate) fn run(options: Options) -> anyhow::Result<String> {
    Callgrind::find()?;
    let options = options.settled();
    let other = options.against.as_deref().map(Programs::in_folder);
    let bench = Bench::seeded(options)?;
    let rows = bench.counted_rows();
    if rows.iter().any(|ours| ours.store == Store::Sqlite) {
        match &other {
            Some(other) => bench.seed_file(other)?,
            None => drop(bench.fill_file(&bench.programs)?),
        }
    }
    let mut lines = Vec::new();
    for ours in rows {
        for connections in &ours.connections {
            let count = |programs| {
                bench.instructions(&ours, programs, *connections).with_context(|| ours.name.clone())
            };
            let (this, that) = (count(&bench.programs)?, other.as_ref().map(count).transpose()?);
            eprintln!("{} at {connections}: {:.0} instructions", ours.name, this.instructions);
            lines.push(cells(&ours.name, *connections, this, that));
        }
    }
    Ok(format!("Instructions per request:\n\n{}", table(HEADS, lines)))
}

/// The line of a row: its cost with this build, and that with the other one.
fn cells(name: &str, connections: usize, this: Cost, that: Option<Cost>) -> [String; 7] {
    [
        name.to_owned(),
        connections.to_string(),
        shown(Some(this.instructions), 0),
        shown(this.plans_per_group, 2),
        shown(that.map(|that| that.instructions), 0),
        shown(that.and_then(|that| that.plans_per_group), 2),
        shown(that.map(|that| this.instructions / that.instructions), 3),
    ]
}

impl Bench {
    /// The selected rows, each with its numbers of connections.
    fn counted_rows(&self) -> Vec<Ours> {
        let mut rows = Vec::new();
        for store in Store::ALL {
            for operation in OPERATIONS {
                let connections =
                    if operation.counted_by().is_some() { vec![1, CONNECTIONS] } else { vec![CONNECTIONS] };
                let name = operation.row(store);
                rows.push(Ours { name, operation, store, servers: 1, connections });
            }
        }
        rows.retain(|ours| self.options.wants(&ours.name));
        rows
    }

    /// Counts the instructions of one row at one number of connections.
    fn instructions(&self, ours: &Ours, programs: &Programs, connections: usize) -> anyhow::Result<Cost> {
        let writes = ours.operation.counted_by().is_some();
        let data = self.dataset(ours.store, if writes { WRITTEN } else { READ })?;
        let mut requests = ours.operation.requests(&self.population, &self.tokens)?;
        let server = Callgrind::start(self, programs, &data)?;
        let mut send = |count| send(server.address(), connections, count, &mut *requests);
        send(WARM_UP)?;
        let before = commits(server.address())?;
        server.zero()?;
        send(COUNTED)?;
        let instructions = server.dump()?;
        let groups = before.zip(commits(server.address())?).map(|(before, after)| after - before);
        drop(server);
        if writes {
            self.verify_and_remove(programs, &data)?;
        }
        let of_each = |sum: f64| sum / f64::from(COUNTED);
        let plans_per_group = groups.filter(|_| writes).map(|groups| of_each(groups).recip());
        Ok(Cost { instructions: of_each(number(instructions)), plans_per_group })
    }
}

/// Sends this many requests.
fn send(
    server: SocketAddr,
    connections: usize,
    count: u32,
    requests: &mut Requests<'_>,
) -> anyhow::Result<()> {
    let load = Load { servers: vec![server], connections, warm_up: Duration::ZERO, counted: UNLIMITED };
    let mut left = count;
    let mut next = |into: &mut Vec<u8>| {
        left > 0 && {
            left = left.saturating_sub(1);
            requests(into)
        }
    };
    let answers = load::run(&load, &mut next, |_| Ok(()))?.all_answers;
    ensure!(answers == u64::from(count), "{answers} requests were available, {count} are necessary");
    Ok(())
}

/// Reads the number of transactions that have applied plans; `None` on a store without transactions.
fn commits(server: SocketAddr) -> anyhow::Result<Option<f64>> {
    let mut answer = client().get(format!("http://{server}/metrics")).call()?;
    let text = answer.body_mut().read_to_string().context("the metrics cannot be read")?;
    ensure!(answer.status().is_success(), "the metrics were refused: {text}");
    let line = text.lines().find_map(|line| line.strip_prefix("cuepoint_commits_total "));
    line.map(|count| count.trim().parse().context("the number of commits")).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ratio_compares_both_builds() {
        let cost = |instructions| Cost { instructions, plans_per_group: None };
        let both = cells("memory: list", 16, cost(1_500.0), Some(cost(1_000.0)));
        assert_eq!(both, ["memory: list", "16", "1500", "", "1000", "", "1.500"]);
        let one = cells("sqlite: list", 1, Cost { plans_per_group: Some(2.5), ..cost(10.0) }, None);
        assert_eq!(one, ["sqlite: list", "1", "10", "2.50", "", "", ""]);
    }
}
