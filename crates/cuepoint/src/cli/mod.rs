//! The command line.

mod backup;
mod client;
mod core_dumps;
mod doctor;
mod endpoint_keys;
mod key_rotation;
mod ledger_verify;
mod operators;
mod password;
mod restore;
pub mod serve;
mod service_manager;
mod signals;
mod storage_copy;

use std::future::Future;
use std::io::{self, Write};
use std::num::NonZeroU16;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::LazyLock;

use anyhow::{Context, bail};
use clap::error::ErrorKind;
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use cuepoint_domain::operation::feature_level::FeatureLevel;
use cuepoint_domain::ports::RestoreSource;
use time::Duration;
use tokio::runtime::Runtime;

use crate::composition;
use crate::config::{KeyPurpose, Layers, Options, Problems, Settings};
use client::users::UsersCommand;
use client::withdrawals::WithdrawalsCommand;
use cuepoint_adapters::clock::SystemClock;
use cuepoint_adapters::observability::log_queue::LogQueue;
use cuepoint_adapters::observability::telemetry::{self, LogFormat};
use cuepoint_adapters::security::keys::{Algorithm, OlderKeys, Rotation};
use cuepoint_adapters::security::random::RandomSecrets;
use doctor::DoctorArguments;
use endpoint_keys::WithoutWebhookKeys;
use operators::OperatorCommand;
use storage_copy::CopyArguments;

/// The default delay before a new key signs: longer than servers need to read it and verifiers to fetch it,
/// even if their clocks differ.
const SIGNS_IN_SECONDS: u32 = 60;

/// The version with what identifies a build. `cargo xtask release` names the commit.
static LONG_VERSION: LazyLock<String> = LazyLock::new(|| {
    let commit = option_env!("CUEPOINT_COMMIT").unwrap_or("unknown");
    format!("{} (commit {commit}, SQLite {})", env!("CARGO_PKG_VERSION"), composition::sqlite_version())
});

/// Further help of the command.
const AFTER_HELP: &str = "\
Examples:
  cuepoint                                      run on SQLite in ./cuepoint-data
  cuepoint --ephemeral --port 9000              run without a database, for a trial
  CUEPOINT_ENV=production cuepoint --config /etc/cuepoint/cuepoint.toml config check
  cuepoint backup --data /var/lib/cuepoint backup.sqlite

Environment:
  CUEPOINT_ENV     development (the default), test or production
  CUEPOINT_CONFIG  a configuration file, in TOML, unless --config names one
  CUEPOINT_LOG     the log level: error, warn, info, debug or trace
`cuepoint config check` prints all settings. Each key can be set by a variable: CUEPOINT__SERVER__PORT sets server.port.

Exit status:
  0  done
  1  failed; of `doctor`: a check failed; of `ledger verify`: the ledger is inconsistent
  2  wrong usage; of `ledger verify`: the audit was not completed
  3  of `users` and `withdrawals`: the service cannot be reached, or cannot do it now";

/// Paid song requests for DJs.
#[derive(Parser)]
#[command(name = "cuepoint", version, long_version = LONG_VERSION.as_str(), after_help = AFTER_HELP)]
struct Arguments {
    #[command(flatten)]
    configuration: ConfigurationArguments,
    #[command(subcommand)]
    command: Option<Command>,
}

/// The options of all commands that override the configuration.
#[derive(Args)]
#[command(next_help_heading = "Configuration")]
struct ConfigurationArguments {
    /// Read this configuration file, in TOML.
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Use the SQLite database in this data directory (storage.backend and storage.dir).
    #[arg(long, global = true, value_name = "DIR")]
    data: Option<String>,
    /// Store the data in memory, until the process ends.
    #[arg(long, global = true)]
    ephemeral: bool,
    /// The address to listen on (server.host).
    #[arg(long, global = true, value_name = "ADDRESS")]
    host: Option<String>,
    /// The port to listen on; 0 selects a free one (server.port).
    #[arg(long, global = true)]
    port: Option<String>,
    /// The public address of the service, such as https://example.com (server.public_url).
    #[arg(long, global = true, value_name = "URL")]
    public_url: Option<String>,
}

impl ConfigurationArguments {
    /// Returns the options. Two stores are a usage error, which ends the process: the parser does not detect the
    /// conflict on both sides of a subcommand.
    fn options(self) -> Options {
        if self.data.is_some() && self.ephemeral {
            let conflict = "the options --data and --ephemeral cannot be used together";
            Arguments::command().error(ErrorKind::ArgumentConflict, conflict).exit()
        }
        let mut options = Options::default();
        if self.ephemeral {
            options = options.ephemeral();
        }
        options = with(options, self.config, Options::file);
        options = with(options, self.data, Options::data);
        options = with(options, self.host, Options::host);
        options = with(options, self.port, Options::port);
        with(options, self.public_url, Options::public_url)
    }
}

/// Sets an option if it is given.
fn with<T>(options: Options, given: Option<T>, set: fn(Options, T) -> Options) -> Options {
    match given {
        Some(value) => set(options, value),
        None => options,
    }
}

#[derive(Subcommand)]
enum Command {
    /// Run the service (the default).
    Serve(WithoutWebhookKeys),
    /// Apply the missing database migrations.
    Migrate,
    /// Copy the SQLite database to a file, while the server may run, and audit the copy.
    Backup {
        /// The file, which must not exist; with --keep, a directory.
        file: PathBuf,
        /// Name the file in the directory after the time, and keep this number of newest backups there.
        #[arg(long, value_name = "NUMBER")]
        keep: Option<NonZeroU16>,
    },
    /// Check the deployment: configuration, keys, storage, disk, network, providers and backups. It works while the server runs.
    #[command(after_help = doctor::AFTER_HELP)]
    Doctor(DoctorArguments),
    /// Restore a backup into an empty data directory, or prepare a PostgreSQL database that was restored or moved
    /// to another cluster. Run it before servers start.
    Restore {
        /// The backup of a SQLite database.
        #[arg(required_unless_present = "database_name", conflicts_with = "database_name")]
        file: Option<PathBuf>,
        /// The name of the PostgreSQL database, to confirm that the configuration points to the intended one.
        #[arg(long, value_name = "NAME")]
        database_name: Option<String>,
        #[command(flatten)]
        without_keys: WithoutWebhookKeys,
    },
    /// Finalize an upgrade after all servers of the earlier version have stopped. From then on, servers write
    /// values that the earlier version cannot read.
    FinalizeUpgrade {
        /// The name of the database, to confirm that the configuration points to the intended one.
        #[arg(long, value_name = "NAME")]
        database_name: String,
    },
    /// Add, list and remove operators in the storage. On SQLite, stop the server first.
    #[command(subcommand)]
    Operator(OperatorCommand),
    /// Show, suspend and restore users, and issue wallet links, through the API of a running service.
    #[command(subcommand)]
    Users(UsersCommand),
    /// List, show, approve and reject withdrawals through the API of a running service.
    #[command(subcommand)]
    Withdrawals(WithdrawalsCommand),
    /// Verify the ledger.
    #[command(subcommand)]
    Ledger(LedgerCommand),
    /// Copy the data to another kind of store.
    #[command(subcommand)]
    Storage(StorageCommand),
    /// Manage the signing keys of access tokens, and the keys of webhook secrets.
    #[command(subcommand)]
    Keys(KeysCommand),
    /// Inspect the configuration.
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Print the OpenAPI document.
    Openapi,
    /// Print the completions of the command line for a shell.
    Completions { shell: clap_complete::Shell },
    /// Print the manual page.
    Manual,
}

impl Default for Command {
    fn default() -> Self {
        Self::Serve(WithoutWebhookKeys::default())
    }
}

#[derive(Subcommand)]
enum LedgerCommand {
    /// Audit every entry and balance. Exit status: 0 consistent, 1 inconsistent, 2 audit not completed.
    Verify,
}

#[derive(Subcommand)]
enum StorageCommand {
    /// Copy all data from the configured store to an empty one of another kind, verify the copy, and mark the
    /// configured store as moved.
    Copy(CopyArguments),
}

#[derive(Subcommand)]
enum KeysCommand {
    /// Add a new key to auth.signing_key_file or to the keys in the data directory, creating the file if
    /// necessary. Issued tokens stay valid.
    Rotate {
        /// Rotate the webhook keys instead, which encrypt the secrets of webhook endpoints. All older keys are kept.
        #[arg(long, conflicts_with = "algorithm")]
        webhooks: bool,
        /// The algorithm of the new key. Default: the algorithm of the newest key.
        #[arg(long, value_enum)]
        algorithm: Option<KeyAlgorithm>,
        /// The delay before the new key signs or encrypts. Every server has to read it within that time.
        #[arg(long, value_name = "SECONDS", default_value_t = SIGNS_IN_SECONDS, allow_negative_numbers = true,
            value_parser = clap::value_parser!(u32).range(0..=86_400))]
        signs_in: u32,
    },
}

#[derive(Clone, Copy, ValueEnum)]
enum KeyAlgorithm {
    /// HMAC with SHA-256: verifiers hold the key and could sign.
    Hs256,
    /// ECDSA on P-256 with SHA-256: anyone can verify with the public key.
    Es256,
}

impl From<KeyAlgorithm> for Algorithm {
    fn from(algorithm: KeyAlgorithm) -> Self {
        match algorithm {
            KeyAlgorithm::Hs256 => Self::Hs256,
            KeyAlgorithm::Es256 => Self::Es256,
        }
    }
}

#[derive(Subcommand)]
enum ConfigCommand {
    /// Validate the configuration and print it with secrets redacted.
    Check,
}

/// Runs the command of the command line. A failure is one line on standard error, or one for each problem of the
/// configuration. The lines of the service have the format of its log.
#[must_use]
pub fn run() -> ExitCode {
    let Arguments { configuration, command } = Arguments::parse();
    let (options, command) = (configuration.options(), command.unwrap_or_else(Command::default));
    let failure = match command {
        Command::Ledger(LedgerCommand::Verify) => ExitCode::from(ledger_verify::NOT_CHECKED),
        Command::Serve(_)
        | Command::Migrate
        | Command::Backup { .. }
        | Command::Doctor(_)
        | Command::Restore { .. }
        | Command::FinalizeUpgrade { .. }
        | Command::Operator(_)
        | Command::Users(_)
        | Command::Withdrawals(_)
        | Command::Storage(_)
        | Command::Keys(_)
        | Command::Config(_)
        | Command::Openapi
        | Command::Completions { .. }
        | Command::Manual => ExitCode::FAILURE,
    };
    // Only the service must keep running while its log is not read; other commands wait and lose no line.
    let queue = matches!(command, Command::Serve(_)).then(telemetry::queue).transpose();
    let (queue, ended) = match queue.context("cannot start the log writer") {
        Ok(queue) => {
            let ended = execute(command, options, queue.as_ref());
            (queue, ended)
        }
        Err(error) => (None, Err(error)),
    };
    match ended {
        Ok(code) => code,
        Err(error) => {
            let sentences = sentences(&error);
            match &queue {
                Some(queue) => telemetry::report_failure(log_format(), queue, &sentences),
                None => drop(io::stderr().write_all(telemetry::failure_lines(&sentences).as_bytes())),
            }
            client::status_of(&error).unwrap_or(failure)
        }
    }
}

/// The format of the log of the service: text if `CUEPOINT_ENV` names no known environment.
fn log_format() -> LogFormat {
    let layers = Layers::of_process(Options::default());
    layers.map_or(LogFormat::Text, |layers| layers.environment.log_format())
}

/// A sentence for each problem of the configuration, or one for another failure, each on one line, even if a library's
/// message has several.
fn sentences(error: &anyhow::Error) -> Vec<String> {
    let sentences = match error.downcast_ref::<Problems>() {
        Some(Problems { sentences }) => sentences.clone(),
        None => vec![format!("{error:#}")],
    };
    let on_one_line = |sentence: &String| sentence.split_whitespace().collect::<Vec<_>>().join(" ");
    sentences.iter().map(on_one_line).collect()
}

/// Executes a command. The service logs through the queue.
fn execute(command: Command, options: Options, queue: Option<&LogQueue>) -> anyhow::Result<ExitCode> {
    // An unknown environment is reported with the configuration.
    if let Ok(layers) = Layers::of_process(options.clone()) {
        core_dumps::prevent(layers.environment)?;
    }
    let start = |queue| start(options.clone(), queue);
    match command {
        Command::Serve(without_keys) => {
            let settings = start(queue)?;
            let runtime = runtime()?;
            let served = runtime.block_on(serve::serve(settings, without_keys.into()));
            // Dropped, it would wait for threads that the system blocks, such as those that look up names.
            runtime.shutdown_background();
            served?;
        }
        Command::Migrate => {
            let settings = start(queue)?;
            let applied = block_on(composition::migrate(&settings))?;
            let lines = applied.iter().map(|name| format!("applied {name}\n"));
            print(&format!("{}the schema is up to date\n", lines.collect::<String>()))?;
        }
        Command::Backup { file, keep } => {
            let settings = start(queue)?;
            let done = match keep {
                None => block_on(backup::run(settings, &file)),
                Some(keep) => block_on(backup::run_in(settings, &file, keep)),
            };
            return done.map(ExitCode::from);
        }
        Command::Doctor(arguments) => {
            let runtime = runtime()?;
            let status = runtime.block_on(doctor::run(options, arguments));
            // It does not wait for look-ups that timed out.
            runtime.shutdown_background();
            return status.map(ExitCode::from);
        }
        Command::Restore { file, database_name, without_keys } => {
            let source = match (&file, &database_name) {
                (Some(file), _) => RestoreSource::File(file),
                (None, Some(name)) => RestoreSource::Database(name),
                (None, None) => bail!("restore needs a FILE or --database-name"),
            };
            let settings = start(queue)?;
            return block_on(restore::run(settings, source, without_keys)).map(ExitCode::from);
        }
        Command::FinalizeUpgrade { database_name } => {
            let settings = start(queue)?;
            let before = block_on(composition::finalize_upgrade(&settings, &database_name))?.number();
            let level = FeatureLevel::NEWEST.number();
            print(&format!("{database_name}: feature level {level}, {before} before\n"))?;
        }
        Command::Operator(command) => {
            let settings = start(queue)?;
            block_on(operators::run(settings, command))?;
        }
        Command::Users(command) => client::users::run(command, options)?,
        Command::Withdrawals(command) => client::withdrawals::run(command, options)?,
        Command::Ledger(LedgerCommand::Verify) => {
            let settings = start(queue)?;
            return block_on(ledger_verify::run(settings)).map(ExitCode::from);
        }
        Command::Storage(StorageCommand::Copy(arguments)) => {
            let settings = start(queue)?;
            block_on(storage_copy::run(settings, arguments))?;
        }
        Command::Keys(KeysCommand::Rotate { webhooks, algorithm, signs_in }) => {
            let settings = start(queue)?;
            let signs_in = Duration::seconds(i64::from(signs_in));
            let access_token_ttl = settings.auth.access_token_ttl;
            let (purpose, older) = if webhooks {
                (KeyPurpose::Webhooks, OlderKeys::Keep)
            } else {
                (KeyPurpose::Signing, OlderKeys::Verify)
            };
            let asked = Rotation { algorithm: algorithm.map(Into::into), signs_in, access_token_ttl, older };
            key_rotation::run(&settings, purpose, asked, &SystemClock)?;
        }
        Command::Config(ConfigCommand::Check) => {
            telemetry::configured_filter()?;
            let layers = Layers::of_process(options)?;
            let effective = layers.effective()?;
            let settings = layers.settings()?;
            composition::check(&settings, RandomSecrets::new()?)?;
            let warnings: String =
                settings.warnings().iter().map(|warning| format!("# warning: {warning}\n")).collect();
            print(&format!(
                "# CUEPOINT_ENV is {}\n{effective}{warnings}# The database was not read: whether it has an active \
                 operator is checked at the start\n",
                layers.environment.name()
            ))?;
        }
        Command::Openapi => {
            let document = cuepoint_api::openapi::document().to_pretty_json()?;
            print(&format!("{document}\n"))?;
        }
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Arguments::command(), "cuepoint", &mut script);
            print(&String::from_utf8_lossy(&script))?;
        }
        Command::Manual => {
            let mut page = Vec::new();
            clap_mangen::Man::new(Arguments::command()).render(&mut page)?;
            print(&String::from_utf8_lossy(&page))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Loads the settings and starts logging. The first line of the service names what is started; the lines of other
/// commands are text for people.
fn start(options: Options, queue: Option<&LogQueue>) -> anyhow::Result<Settings> {
    let layers = Layers::of_process(options)?;
    let settings = layers.settings()?;
    if queue.is_none() {
        telemetry::start(LogFormat::Text, None)?;
        return Ok(settings);
    }
    telemetry::start(layers.environment.log_format(), queue)?;
    tracing::info!(
        version = env!("CARGO_PKG_VERSION"),
        environment = layers.environment.name(),
        store = settings.storage.name(),
        configuration = layers.file.as_deref().map(|file| tracing::field::display(file.display())),
        "starting"
    );
    Ok(settings)
}

/// Runs a future to completion on the runtime that owns the pool, the writer and the workers.
fn block_on<T>(work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    runtime()?.block_on(work)
}

fn runtime() -> anyhow::Result<Runtime> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.context("cannot create the runtime")
}

/// Writes to standard output. A closed pipe counts as success, because readers such as `head` stop early.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written.context("standard output cannot be written"),
    }
}

/// Writes text to standard output. A failure is only logged, because the exit status states whether the work is
/// complete.
pub(crate) fn print_outcome(text: &str) {
    if let Err(error) = print(text) {
        tracing::warn!("{error:#}");
    }
}
