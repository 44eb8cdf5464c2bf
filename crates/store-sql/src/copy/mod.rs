//! Copies of all data from one store to another, while no server uses either.
//!
//! The target is written in one transaction and compared before its commit. Before the commit the source is
//! durably marked, so that servers never use both: a copy that was interrupted between mark and commit is
//! finished or aborted according to the id of the copy in the target.

mod endpoint;
mod endpoint_secrets;
mod value;

use anyhow::{Context, anyhow, ensure};
use cuepoint_domain::audit::{Auditor, Progress, Summary};
use cuepoint_domain::money::Currency;
use futures_util::future::try_join;
use uuid::Uuid;

pub use endpoint::{
    CopyEndpoint, CopyOrigin, CopyRole, CopySession, Deployment, Mark, MarkState, Report, Stage,
    ensure_completed,
};
pub use endpoint_secrets::AcceptSecrets;
pub use value::{CopiedRow, TableDigest, Value, canonical_json};

use crate::crash_points::{self, CopyStep};
use crate::schema::{COUNTERS, TABLES};
use crate::table::Table;
use value::Digester;

/// The maximum number of rows in memory, twice: one batch is written while the next is read.
const BATCH: i64 = 2_000;

/// The result of a copy.
#[derive(Debug)]
pub struct Copied {
    /// The digest of each table, in the order of [`TABLES`].
    pub tables: Vec<(&'static str, TableDigest)>,
    /// The rows of the audit of the target.
    pub audited: Summary,
    /// Whether the source is a backup, so that the target has to be restored before servers use it.
    pub is_from_backup: bool,
}

/// What to do with a verified copy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Completion {
    /// Commit it, and mark the source.
    Commit,
    /// Roll it back, and leave the source unmarked.
    RollBack,
}

/// Copies all data; `copy` is an id that no other copy has.
///
/// # Errors
/// When an endpoint cannot be used, the source is inconsistent, `accept` refuses its secrets, the target is not
/// empty, or they differ at the end. Unless the error names `--finish`, the target is left empty and the source
/// unmarked.
pub async fn copy(
    from: &dyn CopyEndpoint,
    to: &dyn CopyEndpoint,
    currency: &Currency,
    copy: Uuid,
    completion: Completion,
    accept: AcceptSecrets<'_>,
    report: &Report,
) -> anyhow::Result<Copied> {
    ensure!(
        from.backend() != to.backend(),
        "both stores are {}: a copy leads to another kind of store",
        to.backend()
    );
    let mut source = from.open(CopyRole::Source).await.context("the source")?;
    let done = copy_from(&mut *source, to, currency, copy, completion, accept, report).await;
    close_after(source, done).await
}

async fn copy_from(
    source: &mut dyn CopySession,
    to: &dyn CopyEndpoint,
    currency: &Currency,
    copy: Uuid,
    completion: Completion,
    accept: AcceptSecrets<'_>,
    report: &Report,
) -> anyhow::Result<Copied> {
    let deployment =
        source.deployment().await?.context("the source was never used: there is nothing to copy")?;
    deployment.ensure_usable(currency).context("the source")?;
    deployment.ensure_newest_level().context("the source")?;
    accept(&endpoint_secrets::read(source).await.context("the source")?)?;
    let mut target = to.open(CopyRole::Target).await.context("the target")?;
    let done = async {
        ensure_empty(&mut *target, currency).await.context("the target")?;
        let deployment = Deployment { origin: Some(copy), mark: None, ..deployment };
        if completion == Completion::Commit {
            target.begin(copy, &deployment).await.context("the target")?;
        }
        let copied = write_and_verify(source, &mut *target, &deployment, report).await?;
        if completion == Completion::Commit {
            commit(source, &mut *target, copy).await?;
        }
        Ok(copied)
    };
    let done = done.await;
    close_after(target, done).await
}

/// Writes the copy to the target's transaction, and verifies it there.
async fn write_and_verify(
    source: &mut dyn CopySession,
    target: &mut dyn CopySession,
    deployment: &Deployment,
    report: &Report,
) -> anyhow::Result<Copied> {
    audit(source, Stage::AuditSource, report).await.context("the source, of which nothing was copied")?;
    let tables = write(source, target, report).await?;
    let next_ids = source.next_ids().await?;
    target.complete(&next_ids, deployment).await?;
    crash_points::at_copy(CopyStep::Written);
    compare(target, &tables, &next_ids, report).await.context("the copy differs, and was rolled back")?;
    let written = target.deployment().await?;
    ensure!(written.as_ref() == Some(deployment), "the deployment differs, and the copy was rolled back");
    let audited =
        audit(target, Stage::AuditTarget, report).await.context("the copy, which was rolled back")?;
    crash_points::at_copy(CopyStep::Verified);
    Ok(Copied { tables, audited, is_from_backup: source.is_backup() })
}

/// Commits a verified copy between the two marks of its source.
async fn commit(
    source: &mut dyn CopySession,
    target: &mut dyn CopySession,
    copy: Uuid,
) -> anyhow::Result<()> {
    let mark = Mark { state: MarkState::Moving, copy, target: target.identity().to_owned() };
    source.mark(Some(&mark)).await.context("the source cannot be marked")?;
    crash_points::at_copy(CopyStep::Marked);
    target.commit().await.with_context(|| mark.refusal())?;
    crash_points::at_copy(CopyStep::Committed);
    let moved = Mark { state: MarkState::Moved, ..mark.clone() };
    source.mark(Some(&moved)).await.with_context(|| mark.refusal())
}

/// Closes a session after its use, so that its lock is released before the result is returned.
async fn close_after<T>(end: Box<dyn CopySession>, done: anyhow::Result<T>) -> anyhow::Result<T> {
    let closed = end.close().await;
    let done = done?;
    closed?;
    Ok(done)
}

/// Marks the source of an interrupted copy as moved, provided that the target has the copy.
///
/// # Errors
/// When an endpoint cannot be used, no copy was interrupted, or the target does not have it. Nothing is
/// changed.
pub async fn finish(from: &dyn CopyEndpoint, to: &dyn CopyEndpoint) -> anyhow::Result<Mark> {
    let mut source = from.open(CopyRole::Source).await.context("the source")?;
    let done = finish_from(&mut *source, to).await;
    close_after(source, done).await
}

async fn finish_from(source: &mut dyn CopySession, to: &dyn CopyEndpoint) -> anyhow::Result<Mark> {
    let mark = interrupted(source).await?;
    let CopyOrigin { identity, copy, .. } = to.look_up(false).await.context("the target")?;
    ensure!(
        copy == Some(mark.copy),
        "{identity} does not have the copy {}: run `cuepoint storage copy --abort` if {} does not have it",
        mark.copy,
        mark.target
    );
    let mark = Mark { state: MarkState::Moved, target: identity, ..mark };
    source.mark(Some(&mark)).await?;
    Ok(mark)
}

/// The statement by which an operator removes the mark of a source with an unknown target.
const REMOVE_MARK: &str = "UPDATE deployment SET copy_state = NULL, copy_id = NULL, copy_target = NULL";

/// Removes the mark of the source of an interrupted copy, provided that the target does not have the copy.
///
/// # Errors
/// When an endpoint cannot be used, no copy was interrupted, or the target is another one or has the copy.
/// Nothing is changed.
pub async fn abort(from: &dyn CopyEndpoint, to: &dyn CopyEndpoint) -> anyhow::Result<Mark> {
    let mut source = from.open(CopyRole::Source).await.context("the source")?;
    let done = abort_from(&mut *source, to).await;
    close_after(source, done).await
}

async fn abort_from(source: &mut dyn CopySession, to: &dyn CopyEndpoint) -> anyhow::Result<Mark> {
    let mark = interrupted(source).await?;
    let CopyOrigin { identity, copy, begun } = to.look_up(true).await.context("the target")?;
    let has_it = "run `cuepoint storage copy --finish`";
    ensure!(copy != Some(mark.copy), "{identity} has the copy {}: {has_it}", mark.copy);
    ensure!(
        begun == Some(mark.copy),
        "the interrupted copy went to {}, but --to names {identity}, which has no record of its beginning: name the \
         target of the copy. If it was deleted or a version without such records began the copy, make sure that no \
         copy is in use, and execute `{REMOVE_MARK}` in the source, as the owner of its tables (docs/storage.md, \
         Interrupted copies)",
        mark.target
    );
    source.mark(None).await?;
    Ok(mark)
}

async fn interrupted(source: &mut dyn CopySession) -> anyhow::Result<Mark> {
    let mark = source.deployment().await?.and_then(|deployment| deployment.mark);
    let mark = mark.context("no copy of the source was interrupted")?;
    ensure!(mark.state == MarkState::Moving, "{}", mark.refusal());
    Ok(mark)
}

/// Refuses a target with rows, or with another currency.
async fn ensure_empty(target: &mut dyn CopySession, currency: &Currency) -> anyhow::Result<()> {
    if let Some(deployment) = target.deployment().await? {
        deployment.ensure_usable(currency)?;
        ensure!(deployment.origin.is_none(), "{} was written by a copy", target.identity());
    }
    for table in TABLES {
        let rows = target.count(table).await?;
        ensure!(rows == 0, "{} is not empty: {} has {rows} rows", target.identity(), table.name);
    }
    Ok(())
}

/// Audits a ledger.
async fn audit(session: &mut dyn CopySession, stage: Stage, report: &Report) -> anyhow::Result<Summary> {
    let shown = Report::clone(report);
    let mut auditor =
        Auditor::new().reporting(move |Progress { done, expected }| shown(stage, done, expected));
    session.audit(&mut auditor).await.context("the ledger could not be read completely")?;
    let seen = auditor.seen();
    auditor.finish().map_err(|finding| anyhow!("the ledger is broken: {finding}"))?;
    Ok(seen)
}

/// Copies the rows of every table, and returns the digests of the rows that were read.
async fn write(
    source: &mut dyn CopySession,
    target: &mut dyn CopySession,
    report: &Report,
) -> anyhow::Result<Vec<(&'static str, TableDigest)>> {
    let (mut done, mut expected) = (0_u64, 0_u64);
    for table in TABLES {
        expected = expected.saturating_add(source.count(table).await?);
    }
    let mut tables = Vec::new();
    for table in TABLES {
        let failed = || format!("the table {}", table.name);
        let mut digester = Digester::of(table);
        let mut rows = source.read(table, None, BATCH).await.with_context(failed)?;
        while let Some(after) = rows.last().map(|row| key(table, row)) {
            digester.add(&rows);
            done = done.saturating_add(u64::try_from(rows.len()).unwrap_or_default());
            let (next, ()) = try_join(source.read(table, Some(&after), BATCH), target.insert(table, rows))
                .await
                .with_context(failed)?;
            report(Stage::Copy, done, expected);
            rows = next;
        }
        tables.push((table.name, digester.finish()));
    }
    Ok(tables)
}

/// Reads every table back from the target, and compares the digests; with that of the wallets, also the head
/// of each chain.
async fn compare(
    target: &mut dyn CopySession,
    tables: &[(&'static str, TableDigest)],
    next_ids: &[i64],
    report: &Report,
) -> anyhow::Result<()> {
    let (mut done, mut expected) = (0_u64, 0_u64);
    for (_, digest) in tables {
        expected = expected.saturating_add(digest.rows);
    }
    for (table, (_, read)) in TABLES.iter().zip(tables) {
        let rows = target.count(table).await?;
        ensure!(rows == read.rows, "{} has {rows} rows instead of {}", table.name, read.rows);
        let mut digester = Digester::of(table);
        let mut after = None;
        loop {
            let rows = target.read(table, after.as_deref(), BATCH).await?;
            let Some(last) = rows.last() else { break };
            after = Some(key(table, last));
            digester.add(&rows);
            done = done.saturating_add(u64::try_from(rows.len()).unwrap_or_default());
            report(Stage::Compare, done, expected);
        }
        ensure!(digester.finish() == *read, "the rows of {} are not those that were read", table.name);
    }
    let copied = target.next_ids().await?;
    for (counter, (next, copied)) in COUNTERS.iter().zip(next_ids.iter().zip(&copied)) {
        ensure!(next == copied, "the next id of {} is {copied} instead of {next}", counter.name);
    }
    ensure!(copied.len() == next_ids.len(), "a counter was not copied");
    Ok(())
}

fn key(table: &Table, row: &CopiedRow) -> Vec<Value> {
    row.iter().take(table.key().len()).cloned().collect()
}
