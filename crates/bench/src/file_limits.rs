//! The throughput of SQLite alone on equivalent work: one thread writes the rows of the service in batches,
//! each with one commit.

use std::iter::Cycle;
use std::time::{Duration, Instant};
use std::vec;

use anyhow::{Context, ensure};
use rusqlite::{Connection, Transaction, TransactionBehavior, params};

use crate::data_directory::DataDirectory;
use crate::figures::{Figures, latencies, number, per_thousand};
use crate::processes::Process;
use crate::seeding::Population;

/// Operations per commit: the maximum of the store's groups.
const BATCH: u64 = 64;
/// The time of every row, in microseconds since 1970.
const NOW: i64 = 1_790_000_000_000_000;

/// The acceptance of music requests.
pub(crate) const UPDATE: &str = "sqlite alone: requests-update";
/// Withdrawals on random wallets.
pub(crate) const RANDOM_WITHDRAWAL: &str = "sqlite alone: withdrawal (random)";
/// Withdrawals on one wallet.
pub(crate) const HOT_WITHDRAWAL: &str = "sqlite alone: withdrawal (hot)";

/// Every workload.
pub(crate) const FILE_LIMITS: [&str; 3] = [UPDATE, RANDOM_WITHDRAWAL, HOT_WITHDRAWAL];

const UPDATE_REQUEST: &str = "UPDATE music_requests SET status = 'accepted', expires_at = ?2, changed_at = ?2 \
     WHERE id = ?1 AND status = 'pending'";
const INSERT_OPERATION: &str =
    "INSERT INTO operations (id, kind, actor_user_id, at, receipt, position) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
const NEWEST_POSITION: &str = "SELECT coalesce(max(position), 0) FROM operations";
const SELECT_WALLET: &str = "SELECT available, held, seq, head FROM wallets WHERE user_id = ?1";
const UPDATE_WALLET: &str = "UPDATE wallets SET available = ?2, held = ?3, seq = ?4, last_at = ?5, head = ?6 \
     WHERE user_id = ?1";
const INSERT_WITHDRAWAL: &str = "INSERT INTO withdrawals (id, user_id, amount, wallet_address, currency, network, \
     status, created_at, updated_at, reference) VALUES (?1, ?2, '1', \
     'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq', 'BTC', 'bitcoin', 'pending', ?3, ?3, ?4)";
const INSERT_ENTRY: &str = "INSERT INTO ledger_entries (wallet_id, seq, operation_id, kind, reference_kind, \
     reference_id, available_change, held_change, owed_change, available_after, held_after, owed_after, at, \
     previous, hash) \
     VALUES (?1, ?2, ?3, 'hold', 'withdrawal', ?4, '-1', '1', '0', ?5, ?6, '0', ?7, ?8, ?9)";
/// Receipts of the service's size.
const MOVED: &str = r#"{"request": {"id": 123456, "requester_id": 1234, "dj_id": 123, "song_title": "A song of some length",
 "artist_name": "An artist", "artist_type": "popular", "music_url": "https://music.example.com/songs/123456",
 "fee": "12.50", "status": "accepted", "expires_at": "1790000000000000", "changed_at": "1790000000000000",
 "commission": null, "created_at": "1790000000000000"}}"#;
const OPENED: &str = r#"{"withdrawal": {"withdrawal": {"id": 123456, "user_id": 1234, "amount": "1.00",
 "wallet_address": "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq", "currency": "BTC", "network": "bitcoin",
 "status": "pending", "txid": null, "created_at": "1790000000000000", "updated_at": "1790000000000000",
 "attempts": 0, "retry_at": null}, "balance": {"available": "1234567.00", "held": "1234.00", "owed": "0.00"}}}"#;

/// Writes one operation; `false` when the work is used up.
type Write = Box<dyn FnMut(&Transaction<'_>) -> anyhow::Result<bool>>;

/// Measures a workload on a data directory that no server uses.
///
/// # Errors
/// If a statement fails, or the workload is not one of [`FILE_LIMITS`].
pub(crate) fn measure(
    name: &str,
    directory: &DataDirectory,
    population: &Population,
    warm_up: Duration,
    counted: Duration,
) -> anyhow::Result<Figures> {
    let mut connection = directory.writer()?;
    let mut write = match name {
        UPDATE => acceptances(&connection, population)?,
        RANDOM_WITHDRAWAL => withdrawals(&connection, population, usize::MAX)?,
        HOT_WITHDRAWAL => withdrawals(&connection, population, 1)?,
        other => anyhow::bail!("there is no workload {other}"),
    };
    let began = Instant::now();
    while began.elapsed() < warm_up && batch(&mut connection, &mut write)? > 0 {}
    let (began, cpu) = (Instant::now(), Process::this().cpu()?);
    let (mut written, mut durations) = (0_u64, latencies()?);
    while began.elapsed() < counted {
        let start = Instant::now();
        let added = batch(&mut connection, &mut write)?;
        durations.saturating_record(u64::try_from(start.elapsed().as_micros())?);
        written = written.saturating_add(added);
        if added < BATCH {
            break;
        }
    }
    let (lasted, written) = (began.elapsed(), number(written));
    Ok(Figures {
        database_cpu: Some(per_thousand(Process::this().cpu()?.saturating_sub(cpu), written)),
        ..Figures::of(written / lasted.as_secs_f64(), &durations)
    })
}

/// Writes a batch and commits it; returns its size.
fn batch(connection: &mut Connection, write: &mut Write) -> anyhow::Result<u64> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut written = 0_u64;
    while written < BATCH && write(&transaction)? {
        written = written.saturating_add(1);
    }
    transaction.commit()?;
    Ok(written)
}

/// Accepts each pending request once, in random order.
fn acceptances(connection: &Connection, population: &Population) -> anyhow::Result<Write> {
    let mut pending: Vec<(i64, i64)> =
        population.pending().map(|(request, dj)| (request.get(), dj.get())).collect();
    fastrand::Rng::with_seed(2).shuffle(&mut pending);
    let (mut pending, mut operations) = (pending.into_iter(), Operations::after_newest(connection)?);
    Ok(Box::new(move |transaction| {
        let Some((request, dj)) = pending.next() else { return Ok(false) };
        let moved = transaction.prepare_cached(UPDATE_REQUEST)?.execute(params![request, NOW])?;
        ensure!(moved == 1, "request {request} is not pending");
        let (operation, position) = operations.next();
        let insert = params![operation, "move_request", dj, NOW, MOVED, position];
        transaction.prepare_cached(INSERT_OPERATION)?.execute(insert)?;
        Ok(true)
    }))
}

/// Opens withdrawals of one minor unit on this many random wallets.
fn withdrawals(connection: &Connection, population: &Population, wallets: usize) -> anyhow::Result<Write> {
    let mut users: Vec<i64> = population.users().map(|user| user.get()).take(wallets).collect();
    fastrand::Rng::with_seed(3).shuffle(&mut users);
    let mut users: Cycle<vec::IntoIter<i64>> = users.into_iter().cycle();
    let newest = "SELECT coalesce(max(id), 0) FROM withdrawals";
    let mut id: i64 = connection.query_row(newest, [], |row| row.get(0))?;
    let mut operations = Operations::after_newest(connection)?;
    Ok(Box::new(move |transaction| {
        let user = users.next().context("there is no user")?;
        let (available, held, seq, head): (String, String, i64, Vec<u8>) = transaction
            .prepare_cached(SELECT_WALLET)?
            .query_row([user], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?;
        let available = available.parse::<u64>()?.checked_sub(1).context("a wallet is empty")?.to_string();
        let held = held.parse::<u64>()?.saturating_add(1).to_string();
        let ((operation, position), hash) = (operations.next(), [0x22_u8; 32]);
        let seq = seq.saturating_add(1);
        id = id.saturating_add(1);
        let wallet = params![user, available, held, seq, NOW, hash];
        transaction.prepare_cached(UPDATE_WALLET)?.execute(wallet)?;
        let insert = params![operation, "open_withdrawal", user, NOW, OPENED, position];
        transaction.prepare_cached(INSERT_OPERATION)?.execute(insert)?;
        transaction.prepare_cached(INSERT_WITHDRAWAL)?.execute(params![id, user, NOW, operation])?;
        let entry = params![user, seq, operation, id, available, held, NOW, head, hash];
        transaction.prepare_cached(INSERT_ENTRY)?.execute(entry)?;
        Ok(true)
    }))
}

/// Ascending ids and positions of operations, after all those of the service.
struct Operations {
    written: u64,
    newest: i64,
}

impl Operations {
    fn after_newest(connection: &Connection) -> anyhow::Result<Self> {
        Ok(Self { written: 0, newest: connection.query_row(NEWEST_POSITION, [], |row| row.get(0))? })
    }

    fn next(&mut self) -> ([u8; 16], i64) {
        self.written = self.written.saturating_add(1);
        self.newest = self.newest.saturating_add(1);
        (u128::from(self.written).saturating_add(u128::MAX << 64).to_be_bytes(), self.newest)
    }
}
