//! The history in a PostgreSQL database.

use std::mem;

use anyhow::bail;
use cuepoint_domain::ledger::Wallet;
use cuepoint_domain::operation::{Book, Outcome, Plan, Verdict, apply};
use cuepoint_domain::ports::PasswordHash;
use cuepoint_domain::user::User;
use cuepoint_store_postgres::seed::Seeder;

use super::history::play;
use super::population::Population;
use super::{Sink, currency};

/// Migrates an empty database, writes the history of the population into it, and analyzes it.
///
/// # Errors
/// If the database cannot be reached, has users already, or rejects a row. No error repeats the URL.
pub(crate) async fn seed_postgres(url: &str, population: &Population) -> anyhow::Result<()> {
    let mut writing = Writing { book: Book::default(), seeder: Seeder::open(url, currency()?).await? };
    play(population, &mut writing).await?;
    writing.seeder.finish().await
}

/// A sink that applies plans to a book of the entities that can still change, and writes the changes.
struct Writing {
    book: Book,
    seeder: Seeder,
}

impl Sink for Writing {
    async fn register(&mut self, user: &User, password: &PasswordHash) -> anyhow::Result<()> {
        self.seeder.register(user, password);
        self.book.wallets.insert(user.id, Wallet::empty(user.id));
        self.book.put(user.clone());
        Ok(())
    }

    async fn apply(&mut self, plan: Plan) -> anyhow::Result<Outcome> {
        match apply(&mut self.book, &plan) {
            Ok(Verdict::Fresh(receipt, changes)) => {
                self.seeder.add(&changes)?;
                Ok(receipt.outcome)
            }
            Ok(Verdict::Replayed(receipt)) => bail!("{} is there twice", receipt.operation),
            Err(rejection) => bail!("{} is rejected: {rejection:?}", plan.kind().name()),
        }
    }

    /// Continues with a book of users and wallets alone, because no later plan names any other entity in it.
    async fn settled(&mut self) -> anyhow::Result<()> {
        let mut book = Book::default();
        self.book.all::<User>().for_each(|user| book.put(user.clone()));
        book.wallets = mem::take(&mut self.book.wallets);
        self.book = book;
        self.seeder.write().await
    }
}
