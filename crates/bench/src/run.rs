//! The whole sequence of measurements, repeated as often as requested.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, ensure};

use crate::context::{Bench, Programs};
use crate::datasets::{Dataset, READ, SEEDED, WRITTEN};
use crate::figures::{Figures, mebibytes, number, per_thousand};
use crate::file_limits::{self, FILE_LIMITS};
use crate::limits::{LIMITS, Limit};
use crate::load::requests::{at_random, request};
use crate::load::{self, Load, Requests};
use crate::operations::{BARE_HANDLER, Operation, Store};
use crate::options::Options;
use crate::processes::Process;
use crate::seeding::seed_postgres;
use crate::service::{Service, command, succeed};
use crate::table::{Conditions, Row, Table, best};
use crate::usage::Usage;

/// Measures the rows that the options select.
///
/// # Errors
/// If a measurement fails, a response is not a success, or the ledger is inconsistent afterwards.
pub(crate) fn run(options: Options) -> anyhow::Result<Table> {
    let options = options.settled();
    let bench = Bench::seeded(options)?;
    if LIMITS.iter().any(|limit| bench.options.wants(limit.name)) {
        bench.prepare_limits()?;
    }
    let copies = if bench.uses_files() { Some(bench.prepare_file(&bench.programs)?) } else { None };
    let mut table = Table::new(Conditions::of(&bench.options, &bench.cluster)?, copies);
    for number in 1..=bench.options.runs {
        eprintln!("run {number} of {}", bench.options.runs);
        table.add(bench.once()?);
    }
    Ok(table)
}

/// A row that measures the service.
pub(crate) struct Ours {
    pub(crate) name: String,
    pub(crate) operation: Operation,
    pub(crate) store: Store,
    pub(crate) servers: usize,
    pub(crate) connections: Vec<usize>,
}

impl Bench {
    /// Seeds a database, and copies it for reads.
    pub(crate) fn prepare(&self) -> anyhow::Result<()> {
        let began = Instant::now();
        self.cluster.create(SEEDED)?;
        let url = self.cluster.url_of(SEEDED);
        self.cluster.block_on(async { seed_postgres(&url, &self.population).await })?;
        self.cluster.copy(SEEDED, READ)?;
        eprintln!("seeded at scale {} in {:.1} s", self.options.scale, began.elapsed().as_secs_f64());
        Ok(())
    }

    /// Whether rows are selected that need a SQLite file.
    pub(crate) fn uses_files(&self) -> bool {
        FILE_LIMITS.iter().any(|limit| self.options.wants(limit))
            || self.wanted().iter().any(|ours| ours.store == Store::Sqlite)
    }

    /// Drops the prepared databases, to make room for another population.
    pub(crate) fn clear(&self) -> anyhow::Result<()> {
        self.cluster.remove(READ)?;
        self.cluster.remove(SEEDED)
    }

    /// Measures every row once, each right after its limits: the machine may be slower some minutes later.
    fn once(&self) -> anyhow::Result<Vec<Row>> {
        let mut rows = Vec::new();
        for ours in self.wanted() {
            let limits = ours.operation.limits(ours.store);
            for limit in &limits {
                self.add_limit(&limit.row, &mut rows)?;
            }
            let measured = self.measure(&ours, &self.programs).with_context(|| ours.name.clone())?;
            let best = limits.first().and_then(|limit| best(&rows, &limit.row));
            let held = |row: Row| {
                let of_limit = best.map(|best| row.figures.per_second / best);
                Row { figures: Figures { of_limit, ..row.figures }, ..row }
            };
            rows.extend(measured.into_iter().map(held));
        }
        for name in LIMITS.iter().map(|limit| limit.name).chain(FILE_LIMITS).chain([BARE_HANDLER]) {
            self.add_limit(name, &mut rows)?;
        }
        Ok(rows)
    }

    /// Measures a limit that the options select, unless it was measured already.
    fn add_limit(&self, name: &str, rows: &mut Vec<Row>) -> anyhow::Result<()> {
        if rows.iter().any(|row| row.name == name) || !self.options.wants(name) {
            return Ok(());
        }
        let measured = if let Some(limit) = LIMITS.iter().find(|limit| limit.name == name) {
            self.limit(limit)
        } else if FILE_LIMITS.contains(&name) {
            self.file_limit(name).map(|row| vec![row])
        } else if name == BARE_HANDLER {
            self.bare_handler()
        } else {
            return Ok(());
        };
        rows.extend(measured.with_context(|| name.to_owned())?);
        Ok(())
    }

    fn limit(&self, limit: &Limit) -> anyhow::Result<Vec<Row>> {
        let measured = self.with_data(limit, |database| limit.measure(self, database))?;
        let rows = self.options.connections.iter().zip(measured);
        Ok(rows.map(|(sessions, ran)| printed_row(limit.name, *sessions, ran.figures)).collect())
    }

    fn file_limit(&self, name: &str) -> anyhow::Result<Row> {
        let directory = self.directory(SEEDED).copy_to(self.directory(WRITTEN).path().to_owned())?;
        let (warm_up, counted) = (self.options.warm_up(), self.options.counted());
        let figures = file_limits::measure(name, &directory, &self.population, warm_up, counted)?;
        directory.remove()?;
        Ok(printed_row(name, 1, figures))
    }

    fn bare_handler(&self) -> anyhow::Result<Vec<Row>> {
        let log = self.options.folder.join("bare.log");
        let servers = [Service::start(&self.programs.bench, &["serve-bare".to_owned()], &[], &log)?];
        let mut cell = |connections: &usize| {
            let mut requests = at_random(&[request("GET", "/", None, None)]);
            let (figures, _) = self.cell(&servers, *connections, &mut requests, false)?;
            Ok(printed_row(BARE_HANDLER, *connections, figures))
        };
        self.options.connections.iter().map(&mut cell).collect()
    }

    /// The rows of the service that the options select.
    pub(crate) fn wanted(&self) -> Vec<Ours> {
        self.ours().into_iter().filter(|ours| self.options.wants(&ours.name)).collect()
    }

    /// The rows of the service: each operation on each store, then two servers on one database.
    fn ours(&self) -> Vec<Ours> {
        let mut rows = Vec::new();
        for operation in Operation::ALL {
            for store in Store::ALL {
                let name = operation.row(store);
                let mut connections = self.options.connections.clone();
                if (store, operation) == (Store::Postgres, Operation::PersonalInfo) {
                    connections.push(self.options.many_connections());
                }
                rows.push(Ours { name, operation, store, servers: 1, connections });
            }
        }
        for operation in [Operation::PersonalInfo, Operation::Withdrawal] {
            let name = format!("{}, 2 servers", operation.row(Store::Postgres));
            let connections = vec![self.options.most_connections()];
            rows.push(Ours { name, operation, store: Store::Postgres, servers: 2, connections });
        }
        rows
    }

    /// Measures a row of the service at each of its numbers of connections.
    pub(crate) fn measure(&self, ours: &Ours, programs: &Programs) -> anyhow::Result<Vec<Row>> {
        let counted_by = ours.operation.counted_by().filter(|_| ours.store != Store::Memory);
        let data = self.dataset(ours.store, if counted_by.is_some() { WRITTEN } else { READ })?;
        // An in-memory store cannot be restored once its pending requests are accepted.
        let anew = ours.store == Store::Memory && ours.operation == Operation::Update;
        let mut rows = Vec::new();
        let mut started = None;
        for connections in &ours.connections {
            if anew {
                started = None;
            }
            if started.is_none() {
                let requests = ours.operation.requests(&self.population, &self.tokens)?;
                started = Some((self.servers(ours, programs, &data)?, requests));
            }
            let Some((servers, requests)) = &mut started else { continue };
            let figures = self.with_effects(&data, counted_by, || {
                self.cell(servers, *connections, requests, ours.store == Store::Postgres)
            })?;
            rows.push(printed_row(&ours.name, *connections, figures));
        }
        drop(started);
        if counted_by.is_some() {
            self.verify_and_remove(programs, &data)?;
        }
        Ok(rows)
    }

    /// Runs work that returns its result and the number of answers, each of which has had one effect if they are
    /// counted.
    pub(crate) fn with_effects<T>(
        &self,
        data: &Dataset,
        counted_by: Option<&str>,
        work: impl FnOnce() -> anyhow::Result<(T, u64)>,
    ) -> anyhow::Result<T> {
        let count = || counted_by.map_or(Ok(0), |query| self.number(data, query));
        let before = count()?;
        let (result, answers) = work()?;
        let added = count()?.saturating_sub(before);
        let is_exact = counted_by.is_none() || u64::try_from(added)? == answers;
        ensure!(is_exact, "{answers} answers had {added} effects");
        Ok(result)
    }

    fn servers(&self, ours: &Ours, programs: &Programs, data: &Dataset) -> anyhow::Result<Vec<Service>> {
        (0..ours.servers).map(|number| self.server(number, programs, data)).collect()
    }

    /// Starts the server with this number on the data.
    pub(crate) fn server(
        &self,
        number: usize,
        programs: &Programs,
        data: &Dataset,
    ) -> anyhow::Result<Service> {
        self.server_with(number, programs, data, &[])
    }

    /// Starts the server with this number on the data. `more` has settings that an older build may not know.
    pub(crate) fn server_with(
        &self,
        number: usize,
        programs: &Programs,
        data: &Dataset,
        more: &[(&'static str, &str)],
    ) -> anyhow::Result<Service> {
        let log = self.options.folder.join(format!("server-{number}.log"));
        let (program, arguments) = self.program(programs, data);
        let mut settings = self.settings(data);
        settings.extend(more.iter().map(|(name, value)| (*name, (*value).to_owned())));
        Service::start(program, &arguments, &settings, &log)
    }

    /// The program that serves the data, with its arguments.
    pub(crate) fn program<'a>(&self, programs: &'a Programs, data: &Dataset) -> (&'a Path, Vec<String>) {
        match data {
            Dataset::Database(_) | Dataset::Directory(_) => (&programs.server, Vec::new()),
            Dataset::Memory => {
                let scale = self.options.scale.to_string();
                (&programs.bench, vec!["serve-memory".to_owned(), "--scale".to_owned(), scale])
            }
        }
    }

    /// Measures one cell; returns its figures and the number of all responses.
    pub(crate) fn cell(
        &self,
        servers: &[Service],
        connections: usize,
        requests: &mut Requests<'_>,
        on_database: bool,
    ) -> anyhow::Result<(Figures, u64)> {
        let processes: Vec<Process> = servers.iter().map(Service::process).collect();
        processes.iter().try_for_each(|process| process.forget_peak())?;
        let load = Load {
            servers: servers.iter().map(Service::address).collect(),
            connections,
            warm_up: self.options.warm_up(),
            counted: self.options.counted(),
        };
        let mut usage = Usage::of(self, processes.clone(), on_database);
        let counted = load::run(&load, requests, |moment| usage.record(moment))?;
        let (_, used) = usage.between()?;
        let answers = number(counted.answers);
        let cpu = |cpu| per_thousand(cpu, answers);
        let memory = processes.iter().map(|process| process.peak_memory()).sum::<anyhow::Result<u64>>()?;
        let figures = Figures {
            server_cpu: Some(cpu(used.servers)),
            database_cpu: used.database.map(cpu),
            load_cpu: Some(cpu(used.load)),
            memory: Some(mebibytes(memory)),
            ..Figures::of(answers / counted.lasted.as_secs_f64(), &counted.latencies)
        };
        Ok((figures, counted.all_answers))
    }

    /// Runs a measurement as often as the options say, and returns the medians.
    pub(crate) fn median(&self, measure: impl FnMut() -> anyhow::Result<Figures>) -> anyhow::Result<Figures> {
        let runs = std::iter::repeat_with(measure).take(usize::try_from(self.options.runs)?);
        Ok(Figures::median(&runs.collect::<anyhow::Result<Vec<_>>>()?))
    }

    /// Audits the whole ledger with the service, unless it was in memory, and removes the data.
    pub(crate) fn verify_and_remove(&self, programs: &Programs, data: &Dataset) -> anyhow::Result<()> {
        if !matches!(data, Dataset::Memory) {
            let mut verify = command(&programs.server, &self.settings(data));
            succeed(verify.args(["ledger", "verify"])).context("the ledger is inconsistent afterwards")?;
        }
        self.remove(data)
    }
}

/// Returns a measured row, and prints it as progress.
fn printed_row(name: &str, connections: usize, figures: Figures) -> Row {
    eprintln!("{name} at {connections}: {:.0}/s", figures.per_second);
    Row { name: name.to_owned(), connections, figures }
}
