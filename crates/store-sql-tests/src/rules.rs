//! SQL conditions and constraints that repeat a rule of the domain agree with it on the same rows.

use cuepoint_domain::ids::SessionId;
use cuepoint_domain::page::PageRequest;
use cuepoint_domain::security_log::SecurityEvent;
use cuepoint_domain::text::Line;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::session::{ClientInfo, Session};
use cuepoint_domain::withdrawal::{NextSend, WithdrawalState, WithdrawalStatus};
use time::Duration;

use crate::SqlFixture;
use crate::fixtures::{guest, now};

/// Offsets from now in microseconds: before, at and after it.
const AROUND: [i64; 3] = [-1, 0, 1];

fn at(offset: i64) -> Timestamp {
    Timestamp::from_unix_micros(now().unix_micros() + offset)
}

/// A time in SQL.
fn time(at: Timestamp) -> String {
    format!("{{time {}}}", at.unix_micros())
}

/// The time at an offset, if there is one, in SQL.
fn optional_time(offset: Option<i64>) -> String {
    offset.map_or("NULL".to_owned(), |offset| time(at(offset)))
}

/// The start of every row, in SQL.
fn start() -> String {
    time(now().minus(Duration::days(31)))
}

/// Covers the conditions of listing and of ending sessions.
pub async fn sql_and_domain_agree_on_live_sessions(database: &dyn SqlFixture) {
    let store = database.store();
    let user = guest(store, 0).await;
    let start = start();
    let mut alive = Vec::new();
    let mut id = 0;
    for expires in AROUND {
        for ended in [None, Some(-1), Some(0), Some(1)] {
            id += 1;
            let add = format!(
                "INSERT INTO sessions (id, user_id, began_at, used_at, expires_at, ended_at) \
                 VALUES ({id}, {user}, {start}, {start}, {}, {})",
                optional_time(Some(expires)),
                optional_time(ended)
            );
            database.execute(&add).await;
            let session = Session {
                id: SessionId::new(id).unwrap(),
                user,
                client: ClientInfo::default(),
                began_at: at(0),
                used_at: at(0),
                expires_at: at(expires),
            };
            if session.is_alive(ended.map(at), now()) {
                alive.push(session.id);
            }
        }
    }
    let all = PageRequest::new(1, 100);
    let listed = store.sessions(user, now(), all).await.unwrap();
    let mut listed: Vec<SessionId> = listed.rows.iter().map(|session| session.id).collect();
    listed.sort_unstable();
    assert_eq!(listed, alive);
    assert!(!alive.is_empty());

    let (first, others) = alive.split_first().unwrap();
    for id in 1..=id {
        let id = SessionId::new(id).unwrap();
        if !others.contains(&id) {
            assert_eq!(store.end_session(user, id, now()).await.unwrap(), id == *first, "{id}");
        }
    }
    let ended = store.end_sessions(user, None, now()).await.unwrap();
    assert_eq!(ended, u64::try_from(others.len()).unwrap());
}

/// Covers the condition of the list of due payouts.
pub async fn sql_and_domain_agree_on_due_payouts(database: &dyn SqlFixture) {
    let store = database.store();
    let (user, debtor) = (guest(store, 0).await, guest(store, 0).await);
    let start = start();
    database
        .execute(&format!("UPDATE wallets SET owed = {{money 1}}, seq = 1 WHERE user_id = {debtor}"))
        .await;
    let mut due = Vec::new();
    let mut id = 0;
    for status in WithdrawalStatus::all() {
        for (txid, attempts) in [(None, 0), (None, 1), (Some("tx"), 0)] {
            for (retry, owner) in [None, Some(-1), Some(0), Some(1)]
                .into_iter()
                .flat_map(|retry| [(retry, user), (retry, debtor)])
            {
                let line = txid.map(|txid| Line::new(txid).unwrap());
                let Some(state) = WithdrawalState::stored(status, line, attempts, retry.map(at)) else {
                    continue;
                };
                id += 1;
                let add = format!(
                    "INSERT INTO withdrawals (id, user_id, amount, wallet_address, currency, network, status, txid, \
                         created_at, updated_at, attempts, retry_at) \
                     VALUES ({id}, {owner}, {{money 1}}, 'T1', 'USDT', 'TRC20', '{}', {}, {start}, {start}, \
                         {attempts}, {})",
                    status.name(),
                    txid.map_or("NULL".to_owned(), |txid| format!("'{txid}'")),
                    optional_time(retry)
                );
                database.execute(&add).await;
                let next = state.next_send().filter(|next| next.is_due(now()));
                due.extend(
                    next.filter(|next| owner == user || *next != NextSend::AtOnce).map(|next| (next, id)),
                );
            }
        }
    }
    due.sort_unstable();
    assert!(due.iter().any(|(next, _)| *next == NextSend::AtOnce) && due.len() > 2, "{due:?}");
    let found = store.due_payouts(now(), 100).await.unwrap();
    let found: Vec<i64> = found.iter().map(|withdrawal| withdrawal.id.get()).collect();
    let due: Vec<i64> = due.into_iter().map(|(_, id)| id).collect();
    assert_eq!(found, due);
}

/// Covers the constraint of the table, and the retention of the purge.
pub async fn sql_and_domain_agree_on_event_retention(database: &dyn SqlFixture) {
    let seconds = SecurityEvent::RETENTION.whole_seconds();
    // The clock moves on between two statements, but not by a minute.
    for (younger, deleted) in [(-60, 1), (60, 0)] {
        let add = format!(
            "INSERT INTO security_events (kind, at) \
             VALUES ('logged_in', {{now}} - {{interval {seconds} second}} + {{interval {younger} second}})"
        );
        database.execute(&add).await;
        let done = database.try_execute("DELETE FROM security_events").await;
        assert_eq!(done.is_ok(), deleted == 1, "{younger}: {done:?}");
        assert_eq!(database.number("SELECT count(*) FROM security_events").await, 1 - deleted);
    }
}
