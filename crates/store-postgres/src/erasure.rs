//! Erasing a person: every row that tells who they were, in one transaction.

use std::collections::BTreeMap;

use cuepoint_domain::ids::UserId;
use cuepoint_domain::money::Currency;
use cuepoint_domain::people::{User, erase as erase_person};
use cuepoint_domain::ports::Erased;
use cuepoint_domain::timestamp::Timestamp;
use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool};
use diesel_async::{AsyncPgConnection, RunQueryDsl};

use crate::database::Failure;
use crate::networks;
use crate::people::{ACTING_OPERATOR, write};
use crate::rows::{Corrupt, UserRow, WalletRow};
use crate::schema::{blocks, challenges, sessions, users, wallets};
use crate::sessions::end_all;

/// The hash that no password verifies against.
const NO_PASSWORD: &str = "!";
/// Redacts every answer that showed the person.
const SCRUB_ANSWERS: &str = "UPDATE operations SET receipt = jsonb_build_object('profile', \
        jsonb_build_object('user', jsonb_build_object('id', $1))) \
    WHERE receipt ? 'profile' AND (receipt #>> '{profile,user,id}')::bigint = $1";

/// A person and, where they are an operator, all the others who were not erased, locked by id, as the writer does.
///
/// Somebody who becomes an operator while this waits is locked alone. Then no other one is found, and the erasure is refused
/// rather than wrongly done.
async fn lock_person(
    connection: &mut AsyncPgConnection,
    id: UserId,
    currency: &Currency,
) -> Result<BTreeMap<UserId, User>, Failure> {
    let is_operator = sql::<Bool>(ACTING_OPERATOR)
        .sql(" AND EXISTS (SELECT FROM users AS erased WHERE erased.role = 'operator' AND erased.id = ")
        .bind::<BigInt, _>(id.get())
        .sql(")");
    let rows: Vec<UserRow> = users::table
        .filter(users::id.eq(id.get()).or(is_operator))
        .order(users::id)
        .for_no_key_update()
        .select(UserRow::as_select())
        .load(connection)
        .await?;
    let people = rows.into_iter().map(|row| row.user(currency).map(|user| (user.id, user)));
    Ok(people.collect::<Result<_, Corrupt>>()?)
}

/// Erases a person, whose row is locked before their wallet, as the writer does.
pub(crate) async fn erase(
    connection: &mut AsyncPgConnection,
    id: UserId,
    now: Timestamp,
    currency: &Currency,
) -> Result<Erased, Failure> {
    let people = lock_person(connection, id, currency).await?;
    let Some(person) = people.get(&id).filter(|user| user.erased_at.is_none()) else {
        return Ok(Erased::Nobody);
    };
    let wallet: WalletRow = wallets::table
        .find(id.get())
        .for_no_key_update()
        .select(WalletRow::as_select())
        .get_result(connection)
        .await?;
    let erased = match erase_person(person, &wallet.wallet(currency)?, people.values(), now) {
        Ok(erased) => erased,
        Err(refusal) => return Ok(Erased::Refused(refusal)),
    };
    // The password first: the row of somebody who was erased must have none.
    diesel::update(users::table.find(id.get()))
        .set(users::password_hash.eq(NO_PASSWORD))
        .execute(connection)
        .await?;
    write(connection, &erased, currency).await?;
    diesel::sql_query(SCRUB_ANSWERS).bind::<BigInt, _>(id.get()).execute(connection).await?;
    end_all(connection, id, None, now).await?;
    diesel::update(sessions::table.filter(sessions::user_id.eq(id.get())))
        .set((sessions::address.eq(None::<String>), sessions::agent.eq(None::<String>)))
        .execute(connection)
        .await?;
    networks::forget(connection, id).await?;
    diesel::delete(challenges::table.filter(challenges::user_id.eq(id.get()))).execute(connection).await?;
    let theirs = blocks::dj_id.eq(id.get()).or(blocks::guest_id.eq(id.get()));
    // In one order, so that two who blocked each other and are erased at once do not wait for each other.
    let _: Vec<i64> = blocks::table
        .filter(theirs)
        .order((blocks::dj_id, blocks::guest_id))
        .for_update()
        .select(blocks::dj_id)
        .load(connection)
        .await?;
    diesel::delete(blocks::table.filter(theirs)).execute(connection).await?;
    Ok(Erased::Done)
}
