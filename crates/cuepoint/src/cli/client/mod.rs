//! Commands that call the HTTP API of a service, as every other client does: [`users`] and [`withdrawals`].

mod named_user;
mod object;
mod session;
mod table;
pub(super) mod users;
mod wallet_link;
pub(super) mod withdrawals;

use std::io::{self, Write as _};
use std::process::ExitCode;

use anyhow::{anyhow, ensure};
use clap::Args;

use crate::cli::serve::local_origin;
use crate::cli::signals::Signals;
use crate::cli::{block_on, password, print};
use crate::config::{Layers, Options};
use cuepoint_adapters::api_calls::ApiCalls;
use cuepoint_adapters::observability::telemetry;
use cuepoint_domain::text::Line;
use object::ApiObject;
use session::{ApiSession, NotNow};
use table::TableColumn;

/// Exit status: the service cannot do it now, or cannot be reached.
const NOT_NOW: u8 = 3;

/// Further help of these commands.
const AFTER_HELP: &str = "\
The command asks for the password on the terminal. Without a terminal, the password is the first line of standard
input. The command logs in, and logs out before it ends.

Exit status:
  0  done
  1  refused by the service, or failed
  2  wrong usage
  3  the service cannot be reached, or cannot do it now (429, 5xx): repeat the command, which makes no change twice";

/// The service to call, and the operator who calls it.
#[derive(Args)]
pub(super) struct ServiceArguments {
    /// The e-mail address of the operator.
    #[arg(long)]
    email: String,
    /// The address of the service, such as https://api.example.com. Default: server.public_url, or else the configured
    /// address to listen on.
    #[arg(long)]
    url: Option<String>,
    /// Print JSON, as the API does.
    #[arg(long)]
    json: bool,
}

/// The reason of a change, and the service that makes it.
#[derive(Args)]
pub(super) struct ChangeArguments {
    /// The reason, stored with the operator and the time.
    #[arg(long, value_parser = Line::new)]
    reason: Line,
    #[command(flatten)]
    service: ServiceArguments,
}

/// What a command prints.
struct Output {
    /// The text for standard output.
    text: String,
    /// A sentence for standard error.
    note: Option<String>,
}

impl Output {
    /// One object, as JSON or as a line for each field.
    fn of(object: &ApiObject, columns: &[TableColumn], json: bool) -> Self {
        let text = if json { format!("{}\n", object.json()) } else { table::fields(columns, object) };
        Self { text, note: None }
    }
}

/// Logs in, does the work, and logs out, also after a failure or an interruption. Then prints the result.
///
/// # Errors
/// When the service cannot be called, or refuses the login or the work.
fn run<W>(service: &ServiceArguments, options: Options, work: W) -> anyhow::Result<()>
where
    W: AsyncFnOnce(&ApiSession) -> anyhow::Result<Output>,
{
    let calls = match &service.url {
        Some(url) => ApiCalls::new(url)?,
        None => ApiCalls::new(&configured_url(options)?)?,
    };
    let password = password::asked(&format!("Password of {} at {}: ", service.email, calls.origin()))?;
    ensure!(!password.is_empty(), "no password was entered");
    let Output { text, note } = block_on(async {
        // A signal during the login takes effect after it, so that its session can be ended.
        let mut signals = Signals::of_terminal()?;
        let session = ApiSession::begin(calls, &service.email, &password).await?;
        let done = tokio::select! {
            done = work(&session) => done,
            () = signals.next() => Err(anyhow!("interrupted: if the command makes a change, it is unknown whether it was made")),
        };
        if let Err(error) = session.end().await {
            say(&format!("the session could not be ended: {error:#}"));
        }
        done
    })?;
    print(&text)?;
    if let Some(note) = note {
        say(&note);
    }
    Ok(())
}

/// The address that the configuration gives the service.
fn configured_url(options: Options) -> anyhow::Result<String> {
    let server = Layers::of_process(options)?.settings()?.server;
    if let Some(url) = server.public_url {
        return Ok(url);
    }
    ensure!(server.port != 0, "pass --url: server.public_url is not set, and server.port is 0");
    Ok(local_origin(&server.host, server.port))
}

/// Writes a line to standard error. A failure is ignored, because the exit status carries the result.
fn say(sentence: &str) {
    let _ = io::stderr().write_all(telemetry::failure_lines(&[sentence.to_owned()]).as_bytes());
}

/// The exit status of a failure that a repetition may cure; `None` for any other failure.
pub(super) fn status_of(error: &anyhow::Error) -> Option<ExitCode> {
    error.downcast_ref::<NotNow>().map(|_| ExitCode::from(NOT_NOW))
}
