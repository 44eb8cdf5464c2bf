//! The measured data: a history made by the domain's own rules, so that the ledger audit passes on it.
//!
//! The [`Scale`] determines everything: the same users, requests and money every time, in either store.

mod evening;
mod history;
mod memory;
mod population;
mod postgres;
mod random;
#[cfg(test)]
mod tests;
mod writer;

pub(crate) use memory::seed_memory;
pub(crate) use population::{Population, Scale};
pub(crate) use postgres::seed_postgres;

use anyhow::Context;
use cuepoint_domain::money::Currency;
use cuepoint_domain::operation::{Outcome, Plan};
use cuepoint_domain::ports::PasswordHash;
use cuepoint_domain::user::User;

/// The currency of all amounts.
fn currency() -> anyhow::Result<Currency> {
    Currency::new("USD", 2).context("the currency is invalid")
}

/// The destination of a history.
trait Sink {
    /// Adds a user.
    async fn register(&mut self, user: &User, password: &PasswordHash) -> anyhow::Result<()>;

    /// Applies a plan, and returns its outcome.
    async fn apply(&mut self, plan: Plan) -> anyhow::Result<Outcome>;

    /// Marks every request, withdrawal and top-up so far as final.
    async fn settled(&mut self) -> anyhow::Result<()>;
}
