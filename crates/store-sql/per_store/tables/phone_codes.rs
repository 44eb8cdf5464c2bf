//! Counts of codes sent to phones. Each sending first takes one lock that all servers share, so that
//! concurrent ones cannot exceed a quota.

use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::code_quotas::{CodeQuota, CountedCode, KeptCode, TooMany};
use cuepoint_domain::user::session::{Candidates, TokenHash};
use cuepoint_store_sql::schema::phone_codes;
use cuepoint_store_sql::sql_types::ColumnTime;
use diesel::prelude::*;

use crate::dialect::{Connection, RunQueryDsl, StoreFailure};

/// The quotas that a code would exceed.
pub(crate) async fn used_up(
    connection: &mut Connection,
    code: &CountedCode,
) -> Result<Vec<TooMany>, StoreFailure> {
    let mut used_up = Vec::new();
    for (quota, most) in code.quotas() {
        let filled_by = nth_newest(connection, code, quota, most).await?;
        used_up.extend(code.refused(quota, most, filled_by));
    }
    Ok(used_up)
}

/// The time of the oldest among the newest codes that fill a quota.
async fn nth_newest(
    connection: &mut Connection,
    code: &CountedCode,
    quota: CodeQuota,
    most: u32,
) -> Result<Option<Timestamp>, StoreFailure> {
    let newest = phone_codes::table
        .filter(phone_codes::sent_at.gt(ColumnTime(code.since())))
        .order(phone_codes::sent_at.desc())
        .offset(i64::from(most.saturating_sub(1)))
        .select(phone_codes::sent_at)
        .into_boxed();
    let newest = match quota {
        CodeQuota::Number => newest.filter(phone_codes::number.eq_any(bytes(&code.number))),
        CodeQuota::Network => newest.filter(phone_codes::network.eq_any(bytes(&code.network))),
        CodeQuota::Deployment => newest,
        CodeQuota::Hour => return Ok(None),
    };
    Ok(newest.first(connection).await.optional()?)
}

/// The hashes as the columns hold them.
fn bytes(hashes: &Candidates<TokenHash>) -> Vec<Vec<u8>> {
    hashes.iter().map(|hash| hash.0.to_vec()).collect()
}

/// Counts a code from now on.
pub(crate) async fn count(connection: &mut Connection, code: &CountedCode) -> Result<(), StoreFailure> {
    let KeptCode { number, network, sent_at } = code.into();
    diesel::insert_into(phone_codes::table)
        .values((
            phone_codes::number.eq(number.0.to_vec()),
            phone_codes::network.eq(network.0.to_vec()),
            phone_codes::sent_at.eq(ColumnTime(sent_at)),
        ))
        .execute(connection)
        .await?;
    Ok(())
}
