//! SQL conditions and constraints that repeat a rule of the domain agree with it on the same rows.

use cuepoint_domain::ids::SessionId;
use cuepoint_domain::page::PageRequest;
use cuepoint_domain::ports::{Sessions, Withdrawals};
use cuepoint_domain::security_log::SecurityEvent;
use cuepoint_domain::text::Line;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::session::{ClientInfo, Session};
use cuepoint_domain::withdrawal::{NextSend, WithdrawalState, WithdrawalStatus};
use cuepoint_store_sqlite::testing::TestDirectory;
use diesel::connection::SimpleConnection;

use crate::fixtures::{guest, now, number, open};

/// Offsets from now in microseconds: before, at and after it.
const AROUND: [i64; 3] = [-1, 0, 1];

fn at(offset: i64) -> Timestamp {
    Timestamp::from_unix_micros(now().unix_micros() + offset)
}

/// A timestamp in SQL.
fn literal(offset: Option<i64>) -> String {
    offset.map_or("NULL".to_owned(), |offset| at(offset).unix_micros().to_string())
}

/// The start of every row.
const START: i64 = 1_764_547_200_000_000;

#[tokio::test(flavor = "multi_thread")]
async fn sql_and_domain_agree_on_live_sessions() {
    let directory = TestDirectory::create();
    let store = open(directory.path()).unwrap();
    let user = guest(&store, 0).await;
    let mut connection = directory.connection();
    let mut alive = Vec::new();
    let mut id = 0;
    for expires in AROUND {
        for ended in [None, Some(-1), Some(0), Some(1)] {
            id += 1;
            let add = format!(
                "INSERT INTO sessions (id, user_id, began_at, used_at, expires_at, ended_at) \
                 VALUES ({id}, {user}, {START}, {START}, {}, {})",
                literal(Some(expires)),
                literal(ended)
            );
            connection.batch_execute(&add).unwrap();
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

#[tokio::test(flavor = "multi_thread")]
async fn sql_and_domain_agree_on_due_payouts() {
    let directory = TestDirectory::create();
    let store = open(directory.path()).unwrap();
    let (user, debtor) = (guest(&store, 0).await, guest(&store, 0).await);
    let mut connection = directory.connection();
    let owe = format!("UPDATE wallets SET owed = '100', seq = 1 WHERE user_id = {debtor}");
    connection.batch_execute(&owe).unwrap();
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
                     VALUES ({id}, {owner}, '1', 'T1', 'USDT', 'TRC20', '{}', {}, {START}, {START}, \
                         {attempts}, {})",
                    status.name(),
                    txid.map_or("NULL".to_owned(), |txid| format!("'{txid}'")),
                    literal(retry)
                );
                connection.batch_execute(&add).unwrap();
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

#[test]
fn sql_and_domain_agree_on_the_retention_of_events() {
    let directory = TestDirectory::create();
    let mut connection = directory.migrated();
    let seconds = SecurityEvent::RETENTION.whole_seconds();
    // The clock moves on between two statements, but not by a minute.
    for (younger, deleted) in [(-60, 1), (60, 0)] {
        let add = format!(
            "INSERT INTO security_events (kind, at) \
             VALUES ('logged_in', (unixepoch() - {seconds} + {younger}) * 1000000)"
        );
        connection.batch_execute(&add).unwrap();
        let done = connection.batch_execute("DELETE FROM security_events");
        assert_eq!(done.is_ok(), deleted == 1, "{younger}: {done:?}");
        assert_eq!(number(&mut connection, "SELECT count(*) FROM security_events"), 1 - deleted);
    }
}
