//! The table locks of plans, for tests.

use std::collections::{BTreeSet, HashSet};

use cuepoint_domain::money::Currency;
use cuepoint_domain::operation::Plan;
use cuepoint_domain::operation::feature_level::FeatureLevel;
use cuepoint_domain::ports::Applied;
use diesel::sql_types::Text;
use diesel_async::{AsyncPgConnection, RunQueryDsl, SimpleAsyncConnection};
use tokio::sync::Notify;

use super::decide::{GroupContext, decide};
use super::write::{PreparedWrites, Writes};

/// Runs plans up to their commit and rolls them back. Returns the tables of which the transaction locked rows
/// or which it wrote.
///
/// # Errors
/// When a plan is rejected or a statement fails.
pub(crate) async fn tables_locked_by(
    mut connection: &AsyncPgConnection,
    plans: &[&Plan],
    prove: bool,
    currency: &Currency,
) -> anyhow::Result<BTreeSet<String>> {
    let progress = Notify::new();
    let context = GroupContext {
        discards_plans: false,
        currency,
        feature_level: FeatureLevel::NEWEST,
        progress: &progress,
    };
    let decided = decide(connection, plans, prove, &mut HashSet::new(), context).await?;
    for answer in decided.answers {
        anyhow::ensure!(matches!(answer, Ok(Applied::Fresh(_))), "{answer:?}");
    }
    if !decided.writes.is_empty() {
        let writes = Writes::of(decided.writes, None, connection);
        writes.execute(&mut PreparedWrites::default()).await?;
    }
    let locked = "SELECT relation::regclass::text FROM pg_locks JOIN pg_class ON pg_class.oid = relation \
        WHERE pid = pg_backend_pid() AND mode <> 'AccessShareLock' AND relkind = 'r' ORDER BY 1";
    let locked = diesel::dsl::sql::<Text>(locked).load::<String>(&mut connection).await?;
    connection.batch_execute("ROLLBACK").await?;
    Ok(locked.into_iter().collect())
}
