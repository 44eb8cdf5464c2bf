//! `cuepoint operator`: adds, lists and removes operators in the storage, without a server.

use anyhow::{Context, anyhow, ensure};
use clap::Subcommand;
use cuepoint_domain::application::{
    CommandError, DismissalRefusal, NewOperator, NewOperatorRefusal, Operators,
};
use cuepoint_domain::ports::Opening;
use cuepoint_domain::text::{Email, Line, Password};
use cuepoint_domain::user::{Role, User};

use crate::cli::{password, print};
use crate::composition;
use crate::config::Settings;

/// The maximum number of characters of a shown name of a user of the system.
const LONGEST_NAME: usize = 64;

#[derive(Subcommand)]
pub(super) enum OperatorCommand {
    /// Give an account the role of an operator. Without such an account, create one, and ask for its password.
    Add {
        /// The e-mail address of the account.
        email: String,
        /// The display name of a new account.
        #[arg(long, default_value = "Operator")]
        name: String,
        /// Accept an account whose e-mail address was never verified. Anybody can register any address.
        #[arg(long)]
        unverified: bool,
    },
    /// List the active operators.
    List,
    /// Make an operator a member again. The last active operator cannot be removed.
    Remove {
        /// The e-mail address of the operator.
        email: String,
    },
}

/// Executes the command in the configured storage. Changes are recorded in the security log with the name of the
/// system's user.
///
/// # Errors
/// When the storage is not durable or in use, or the change is refused.
pub(super) async fn run(settings: Settings, command: OperatorCommand) -> anyhow::Result<()> {
    let backend = composition::backend(&settings);
    ensure!(
        backend.is_durable(),
        "storage.backend is {}: its operators end with the server's process",
        backend.name()
    );
    // Before a store is opened, which may create it.
    if let OperatorCommand::Add { email, .. } | OperatorCommand::Remove { email } = &command {
        address(email)?;
    }
    // An operator is removed from a store that exists; a wrong directory must not become one.
    if matches!(command, OperatorCommand::Remove { .. }) {
        composition::open(&settings, Opening::WithoutMigrations).await?.close().await;
    }
    let opening = match command {
        OperatorCommand::List => Opening::WithoutMigrations,
        OperatorCommand::Add { .. } | OperatorCommand::Remove { .. } => Opening::AsConfigured,
    };
    let (store, use_cases) = composition::without_server(&settings, opening).await?;
    let done = execute(&use_cases.operators, command).await;
    store.close().await;
    done
}

async fn execute(operators: &Operators, command: OperatorCommand) -> anyhow::Result<()> {
    match command {
        OperatorCommand::Add { email, name, unverified } => {
            let email = address(&email)?;
            match operators.find(&email).await? {
                Some(user) => promote(operators, &user, unverified).await,
                None => create(operators, email, &name).await,
            }
        }
        OperatorCommand::List => list(&operators.active().await?),
        OperatorCommand::Remove { email } => {
            let found = operators.find(&address(&email)?).await?;
            let user = found.filter(|user| user.role == Role::Operator);
            let user = user.with_context(|| format!("{email} is not the address of an operator"))?;
            operators.dismiss(&user, &person()).await.map_err(|error| match error {
                CommandError::Refused(DismissalRefusal::LastOperator) => {
                    anyhow!("{} is the last active operator: add another one first", shown(&user))
                }
                CommandError::Failed(failure) => anyhow!(failure),
            })?;
            print(&format!("{} is a member now\n", shown(&user)))
        }
    }
}

async fn promote(operators: &Operators, user: &User, unverified: bool) -> anyhow::Result<()> {
    let shown = shown(user);
    if user.role == Role::Operator {
        operators.promote(user, &person()).await?;
        return print(&format!("{shown} is an operator already\n"));
    }
    ensure!(user.suspended_at.is_none(), "{shown} is suspended");
    ensure!(
        user.email_verified || unverified,
        "{shown} never verified this address, and anybody could have registered it: pass --unverified if you know that \
         the account belongs to its owner"
    );
    operators.promote(user, &person()).await?;
    print(&format!("{shown} is an operator now\n"))
}

async fn create(operators: &Operators, email: Email, name: &str) -> anyhow::Result<()> {
    let name = Line::new(name).map_err(|error| anyhow!("--name: {error}"))?;
    let password = password::asked_twice("Password of the new operator: ")?;
    let password = Password::new(&password).map_err(|error| anyhow!("the password: {error}"))?;
    let new = NewOperator { name, email, password };
    let user = operators.create(new, &person()).await.map_err(|error| match error {
        CommandError::Refused(NewOperatorRefusal::BreachedPassword) => {
            anyhow!("the password is known from breaches: choose another one")
        }
        CommandError::Refused(refused @ NewOperatorRefusal::EmailTaken) => anyhow!(refused),
        CommandError::Failed(failure) => anyhow!(failure),
    })?;
    print(&format!("{} was created as an operator\n", shown(&user)))
}

fn list(operators: &[User]) -> anyhow::Result<()> {
    if operators.is_empty() {
        return print("there is no active operator\n");
    }
    print(&operators.iter().map(|user| format!("{}\n", shown(user))).collect::<String>())
}

/// A user as shown to the person at the machine.
fn shown(user: &User) -> String {
    format!("user {} ({}, {})", user.id, user.email.as_str(), user.name.as_str())
}

fn address(written: &str) -> anyhow::Result<Email> {
    Email::to_own(written).map_err(|error| anyhow!("{written} is not an e-mail address: {error}"))
}

/// The person at the machine, for the security log.
fn person() -> Line {
    let user = name(&whoami::username().unwrap_or_else(|_| "unknown".to_owned()));
    let behind = std::env::var_os("SUDO_USER").map(|behind| name(&behind.to_string_lossy()));
    let behind = behind.filter(|behind| !behind.is_empty() && *behind != user);
    let behind = behind.map(|behind| format!(", sudo by {behind}")).unwrap_or_default();
    Line::from_stored(format!("the system's user {user}{behind}"))
}

/// The beginning of the name of a user of the system, without characters that could pose as other text.
fn name(written: &str) -> String {
    let shown = |letter: char| if letter.is_ascii_graphic() { letter } else { '?' };
    written.chars().take(LONGEST_NAME).map(shown).collect()
}
