//! The rows that are measured on: a history that the domain's own rules made, so that the self-check passes on it.
//!
//! Everything follows from the [`Scale`]: the same people, requests and money every time, in either store.

mod evening;
mod history;
mod memory;
mod population;
mod postgres;
mod random;
mod writer;

pub use memory::seed_memory;
pub use population::{History, Population, Scale};
pub use postgres::seed_postgres;

use cuepoint_domain::account::User;
use cuepoint_domain::ledger::{Outcome, Plan};
use cuepoint_domain::ports::PasswordHash;

/// Where a history goes.
trait Sink {
    /// Adds a person.
    async fn register(&mut self, user: &User, password: &PasswordHash) -> anyhow::Result<()>;

    /// Applies a plan, and says what it came to.
    async fn apply(&mut self, plan: Plan) -> anyhow::Result<Outcome>;

    /// Hears that no request, withdrawal or top-up so far moves any more.
    async fn settled(&mut self) -> anyhow::Result<()>;
}
