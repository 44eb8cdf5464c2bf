//! Whatever is done to the rows behind the store's back, the self-check finds it and names it.
//!
//! What it cannot find leaves no contradiction behind: a move without money (pending to accepted, approved to
//! processing), a thing that moved none, who was behind an operation and why, and a newest operation that was erased
//! with every trace of it.

use cuepoint_domain::adjustment::{Adjustment, Correction};
use cuepoint_domain::ids::UserId;
use cuepoint_domain::ledger::{Auditor, Finding, Outcome, Plan, Summary};
use cuepoint_domain::money::{BasisPoints, Money};
use cuepoint_domain::music_request::{self, MusicRequest, NewRequest, RequestTerms};
use cuepoint_domain::people::{ArtistType, Field, ProfileChange, User};
use cuepoint_domain::plans;
use cuepoint_domain::ports::{Audit, Ids, Ledger, PasswordHash, People};
use cuepoint_domain::text::{Email, Line, MusicUrl};
use cuepoint_domain::topup::Charge;
use cuepoint_domain::withdrawal;
use cuepoint_store_postgres::PostgresStore;
use cuepoint_store_postgres::testing::TestDatabase;
use time::Duration;
use tokio_postgres::Client;

use crate::world::{amount, client, guest, now, open, origin, withdrawal};

/// The tables, in an order in which they can be filled.
const TABLES: [&str; 8] = [
    "users",
    "wallets",
    "music_requests",
    "withdrawals",
    "topups",
    "operations",
    "ledger_entries",
    "postings",
];

/// Takes every rule out of the database that would refuse a row: who can do the rest can do this, too.
const LAWLESS: &str = "
    SET session_replication_role = replica;
    DO $$
    DECLARE rule record;
    BEGIN
        FOR rule IN
            SELECT conname, conrelid::regclass AS relation, contypid
            FROM pg_constraint WHERE contype = 'c' AND connamespace = 'public'::regnamespace
        LOOP
            IF rule.contypid <> 0 THEN
                EXECUTE format('ALTER DOMAIN %s DROP CONSTRAINT %I', rule.contypid::regtype, rule.conname);
            ELSE
                EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', rule.relation, rule.conname);
            END IF;
        END LOOP;
    END $$;
    CREATE SCHEMA untouched;";

/// What is done, and what the self-check must say of it: the words that name it.
///
/// Wallet 1 is a guest's, with sixteen entries: top-up 1; holds of requests 1 (pending), 2 (rejected at 4), 3 (played at
/// 6) and 4 (played at 8, refunded at 9); withdrawals 1 (pending), 2 (completed at 12) and 3 (cancelled at 14); top-up
/// 3, adjustment 1. Wallet 2 is the DJ's: two earnings and a reversal. Wallet 3 is empty.
const TAMPERED: &[(&str, &str, &str)] = &[
    (
        "an amount",
        "UPDATE ledger_entries SET available_change = available_change + 0.01 WHERE wallet_id = 1 AND seq = 3",
        "entry 3 of wallet 1: the balances after it",
    ),
    (
        "a balance after an entry",
        "UPDATE ledger_entries SET held_after = held_after + 1 WHERE wallet_id = 1 AND seq = 16",
        "entry 16 of wallet 1: the balances after it",
    ),
    (
        "an amount with the balance after it",
        "UPDATE ledger_entries SET available_change = 8, available_after = available_after + 1 \
            WHERE wallet_id = 1 AND seq = 16",
        "entry 16 of wallet 1: its hash",
    ),
    (
        "a deleted first entry",
        "DELETE FROM ledger_entries WHERE wallet_id = 1 AND seq = 1",
        "entry 2 where entry 1",
    ),
    (
        "a deleted entry in the middle",
        "DELETE FROM ledger_entries WHERE wallet_id = 1 AND seq = 8",
        "wallet 1 has entry 9 where entry 8 should be",
    ),
    (
        "a deleted newest entry",
        "DELETE FROM ledger_entries WHERE wallet_id = 1 AND seq = 16",
        "entry 16 of wallet 1 is missing",
    ),
    (
        "a deleted newest entry, the wallet set to the one before",
        "DELETE FROM ledger_entries WHERE wallet_id = 1 AND seq = 16; \
            UPDATE wallets SET (available, held, owed, seq, last_at, head) = \
            (SELECT available_after, held_after, owed_after, seq, at, hash FROM ledger_entries \
            WHERE wallet_id = 1 AND seq = 15) WHERE user_id = 1",
        "adjustment 1: its adjustment entry is missing",
    ),
    (
        "all entries of a wallet deleted, the wallet emptied",
        "DELETE FROM ledger_entries WHERE wallet_id = 2; \
            UPDATE wallets SET available = 0, held = 0, owed = 0, seq = 0, last_at = 'epoch', \
            head = decode(repeat('00', 32), 'hex') WHERE user_id = 2",
        "music request 3: its earning entry is missing",
    ),
    (
        "two swapped entries",
        "UPDATE ledger_entries SET seq = 1003 WHERE wallet_id = 1 AND seq = 3; \
            UPDATE ledger_entries SET seq = 3 WHERE wallet_id = 1 AND seq = 5; \
            UPDATE ledger_entries SET seq = 5 WHERE wallet_id = 1 AND seq = 1003",
        "entry 3 of wallet 1: its hash",
    ),
    (
        "an entry's number",
        "UPDATE ledger_entries SET seq = 17 WHERE wallet_id = 1 AND seq = 16",
        "wallet 1 has entry 17 where entry 16 should be",
    ),
    (
        "an entry's kind",
        "UPDATE ledger_entries SET kind = 'refund' WHERE wallet_id = 1 AND seq = 4",
        "entry 4 of wallet 1: its hash",
    ),
    (
        "what an entry is about",
        "UPDATE ledger_entries SET reference_id = 1 WHERE wallet_id = 1 AND seq = 4",
        "entry 4 of wallet 1: its hash",
    ),
    (
        "an entry's operation",
        "UPDATE ledger_entries SET operation_id = gen_random_uuid() WHERE wallet_id = 1 AND seq = 4",
        "entry 4 of wallet 1: its hash",
    ),
    (
        "an entry's time",
        "UPDATE ledger_entries SET at = at + interval '1 microsecond' WHERE wallet_id = 1 AND seq = 4",
        "entry 4 of wallet 1: its hash",
    ),
    (
        "an entry's hash",
        "UPDATE ledger_entries SET hash = previous WHERE wallet_id = 1 AND seq = 4",
        "entry 4 of wallet 1: its hash",
    ),
    (
        "an entry's link",
        "UPDATE ledger_entries SET previous = hash WHERE wallet_id = 1 AND seq = 4",
        "entry 4 of wallet 1: its hash",
    ),
    (
        "an entry moved to another wallet",
        "UPDATE ledger_entries SET wallet_id = 3, seq = 1 WHERE wallet_id = 1 AND seq = 16",
        "entry 16 of wallet 1 is missing",
    ),
    (
        "an entry of nobody's wallet",
        "INSERT INTO ledger_entries SELECT 99, seq, operation_id, kind, reference_kind, reference_id, available_change, \
            held_change, owed_change, available_after, held_after, owed_after, at, previous, hash \
            FROM ledger_entries WHERE wallet_id = 1 AND seq = 1",
        "entry 1 of wallet 99 belongs to no wallet",
    ),
    ("a balance", "UPDATE wallets SET available = available + 1 WHERE user_id = 1", "wallet 1: its balance"),
    (
        "a balance moved to another wallet",
        "UPDATE wallets SET available = available + CASE user_id WHEN 1 THEN -1 ELSE 1 END WHERE user_id IN (1, 2)",
        "wallet 1: its balance",
    ),
    (
        "a hold given back by hand",
        "UPDATE wallets SET available = available + held, held = 0 WHERE user_id = 1",
        "wallet 1: its balance",
    ),
    ("a debt", "UPDATE wallets SET owed = 5 WHERE user_id = 2", "wallet 2: its balance"),
    (
        "a wallet's time",
        "UPDATE wallets SET last_at = last_at + interval '1 microsecond' WHERE user_id = 1",
        "wallet 1: its balance, time or head",
    ),
    ("a wallet's number lowered", "UPDATE wallets SET seq = 15 WHERE user_id = 1", "wallet 1: its balance"),
    (
        "a wallet's number raised",
        "UPDATE wallets SET seq = 17 WHERE user_id = 1",
        "entry 17 of wallet 1 is missing",
    ),
    ("a wallet's head", "UPDATE wallets SET head = sha256(head) WHERE user_id = 1", "wallet 1: its balance"),
    ("a deleted wallet", "DELETE FROM wallets WHERE user_id = 2", "entry 1 of wallet 2 belongs to no wallet"),
    (
        "a wallet out of nowhere",
        "INSERT INTO wallets SELECT 99, 5, 0, 0, 0, 'epoch', decode(repeat('00', 32), 'hex')",
        "wallet 99: its balance",
    ),
    (
        "a posting's amount",
        "UPDATE postings SET amount = -99 WHERE id = 1",
        "top-up 1: the postings of operation",
    ),
    (
        "a posting's account",
        "UPDATE postings SET account = 'outside_adjustments' WHERE id = 1",
        "top-up 1: the postings of operation",
    ),
    (
        "a posting's time",
        "UPDATE postings SET at = at + interval '1 day' WHERE id = 1",
        "top-up 1: the postings of operation",
    ),
    (
        "a deleted posting of the house",
        "DELETE FROM postings WHERE id = (SELECT min(id) FROM postings WHERE account = 'platform_commission')",
        "music request 3: the postings of operation",
    ),
    (
        "two postings that cancel each other, in an operation",
        "INSERT INTO postings (operation_id, account, amount, at) SELECT operation_id, account, side, at \
            FROM postings, (VALUES (5), (-5)) AS sides (side) WHERE id = 1",
        "top-up 1: the postings of operation",
    ),
    (
        "two postings that cancel each other, in no operation",
        "INSERT INTO postings (operation_id, account, amount, at) SELECT gen_random_uuid(), account, side, at \
            FROM postings, (VALUES (5), (-5)) AS sides (side) WHERE id = 1",
        "a posting to outside_topups belongs to operation",
    ),
    (
        "the postings of two top-ups swapped",
        "UPDATE postings SET operation_id = (SELECT operation_id FROM postings AS other \
            WHERE other.account = 'outside_topups' AND other.id <> postings.id) WHERE account = 'outside_topups'",
        "top-up 1: the postings of operation",
    ),
    (
        "a fee times ten",
        "UPDATE music_requests SET fee = fee * 10 WHERE id = 1",
        "music request 1: entry 2 of wallet 1",
    ),
    (
        "a fee of nothing",
        "UPDATE music_requests SET fee = 0 WHERE id = 1",
        "music request 1: entry 2 of wallet 1",
    ),
    (
        "a pending request played",
        "UPDATE music_requests SET status = 'played', expires_at = NULL, commission = 1 WHERE id = 1",
        "music request 1: its capture entry is missing",
    ),
    (
        "a pending request rejected",
        "UPDATE music_requests SET status = 'rejected', expires_at = NULL WHERE id = 1",
        "music request 1: its release entry is missing",
    ),
    (
        "a rejected request cancelled",
        "UPDATE music_requests SET status = 'cancelled' WHERE id = 2",
        "music request 2: it is not as operation",
    ),
    (
        "a rejected request pending again",
        "UPDATE music_requests SET status = 'pending', expires_at = changed_at WHERE id = 2",
        "music request 2: entry 4 of wallet 1 is one more",
    ),
    (
        "a played request accepted again",
        "UPDATE music_requests SET status = 'accepted', expires_at = changed_at, commission = NULL WHERE id = 3",
        "music request 3: entry 6 of wallet 1 is one more",
    ),
    (
        "a refunded request played again",
        "UPDATE music_requests SET status = 'played' WHERE id = 4",
        "music request 4: entry 9 of wallet 1 is one more",
    ),
    (
        "a played request refunded",
        "UPDATE music_requests SET status = 'refunded' WHERE id = 3",
        "music request 3: its refund entry is missing",
    ),
    (
        "a commission",
        "UPDATE music_requests SET commission = 2 WHERE id = 3",
        "music request 3: entry 1 of wallet 2",
    ),
    (
        "a commission above its fee",
        "UPDATE music_requests SET commission = 11 WHERE id = 3",
        "music request 3: entry 6 of wallet 1 is not what",
    ),
    (
        "another DJ",
        "UPDATE music_requests SET dj_id = 3 WHERE id = 3",
        "music request 3: its earning entry is missing",
    ),
    (
        "another song",
        "UPDATE music_requests SET song_title = 'x' WHERE id = 1",
        "music request 1: it is not as",
    ),
    (
        "a deleted request",
        "DELETE FROM music_requests WHERE id = 3",
        "entry 5 of wallet 1 is about music request 3, which does not exist",
    ),
    (
        "a withdrawal's amount",
        "UPDATE withdrawals SET amount = 6 WHERE id = 1",
        "withdrawal 1: entry 10 of wallet 1",
    ),
    (
        "a withdrawal's address",
        "UPDATE withdrawals SET wallet_address = 'mine' WHERE id = 1",
        "withdrawal 1: it is not as operation",
    ),
    (
        "a pending withdrawal completed",
        "UPDATE withdrawals SET status = 'completed', txid = 'x' WHERE id = 1",
        "withdrawal 1: its capture entry is missing",
    ),
    (
        "a completed withdrawal approved again",
        "UPDATE withdrawals SET status = 'approved', txid = NULL WHERE id = 2",
        "withdrawal 2: entry 12 of wallet 1 is one more",
    ),
    (
        "a completed withdrawal failed",
        "UPDATE withdrawals SET status = 'failed' WHERE id = 2",
        "withdrawal 2: entry 12 of wallet 1 is not what",
    ),
    (
        "another transaction",
        "UPDATE withdrawals SET txid = 'x' WHERE id = 2",
        "withdrawal 2: it is not as operation",
    ),
    (
        "a cancelled withdrawal rejected",
        "UPDATE withdrawals SET status = 'rejected' WHERE id = 3",
        "withdrawal 3: it is not as operation",
    ),
    (
        "a deleted withdrawal",
        "DELETE FROM withdrawals WHERE id = 1",
        "entry 10 of wallet 1 is about withdrawal 1, which does not exist",
    ),
    (
        "a pending top-up confirmed",
        "UPDATE topups SET status = 'confirmed' WHERE id = 2",
        "top-up 2: its topup entry is missing",
    ),
    (
        "a confirmed top-up failed",
        "UPDATE topups SET status = 'failed' WHERE id = 3",
        "top-up 3: entry 15 of wallet 1",
    ),
    ("a top-up's amount", "UPDATE topups SET amount = 1000 WHERE id = 1", "top-up 1: entry 1 of wallet 1"),
    (
        "another's top-up",
        "UPDATE topups SET user_id = 2 WHERE id = 1",
        "top-up 1: its topup entry is missing",
    ),
    (
        "a deleted top-up",
        "DELETE FROM topups WHERE id = 1",
        "entry 1 of wallet 1 is about top-up 1, which does not exist",
    ),
    (
        "a deleted operation",
        "DELETE FROM operations WHERE id = (SELECT operation_id FROM ledger_entries WHERE wallet_id = 1 AND seq = 4)",
        "music request 2: the record of operation",
    ),
    (
        "a deleted operation that adjusts",
        "DELETE FROM operations WHERE kind = 'adjust'",
        "entry 16 of wallet 1 is about adjustment 1, which does not exist",
    ),
    (
        "an operation's kind",
        "UPDATE operations SET kind = 'profile' WHERE kind = 'adjust'",
        "entry 16 of wallet 1 is about adjustment 1, which does not exist",
    ),
    (
        "what an operation recorded",
        "UPDATE operations SET receipt = jsonb_set(receipt, '{request,song_title}', '\"x\"') \
            WHERE id = (SELECT operation_id FROM ledger_entries WHERE wallet_id = 1 AND seq = 4)",
        "music request 2: it is not as operation",
    ),
    (
        "the balance that an operation recorded",
        "UPDATE operations SET receipt = jsonb_set(receipt, '{adjustment,balance,available}', '\"1.00\"') \
            WHERE kind = 'adjust'",
        "adjustment 1: it is not as operation",
    ),
    (
        "an operation dated later than its entry",
        "UPDATE operations SET at = at + interval '1 day' \
            WHERE id = (SELECT operation_id FROM ledger_entries WHERE wallet_id = 1 AND seq = 4)",
        "music request 2: entry 4 of wallet 1",
    ),
    ("a record of nothing", "UPDATE operations SET receipt = '{}' WHERE kind = 'adjust'", "cannot be read"),
    (
        "NaN in a wallet",
        "UPDATE wallets SET held = 'NaN' WHERE user_id = 2",
        "the wallet after wallet 1 cannot be read",
    ),
    (
        "NaN in an entry",
        "UPDATE ledger_entries SET held_after = 'NaN' WHERE wallet_id = 1 AND seq = 5",
        "the entry after entry 4 of wallet 1 cannot be read",
    ),
    (
        "NaN in a posting",
        "UPDATE postings SET amount = 'NaN' WHERE id = 1",
        "the first posting cannot be read",
    ),
    (
        "NaN in a fee",
        "UPDATE music_requests SET fee = 'NaN' WHERE id = 2",
        "after music request 1 cannot be read",
    ),
    (
        "NaN in a withdrawal",
        "UPDATE withdrawals SET amount = 'NaN' WHERE id = 1",
        "the first withdrawal cannot be read",
    ),
    (
        "NaN in a top-up",
        "UPDATE topups SET amount = 'NaN' WHERE id = 3",
        "the top-up after top-up 2 cannot be read",
    ),
    (
        "less than a cent in a wallet",
        "UPDATE wallets SET owed = 0.001 WHERE user_id = 3",
        "wallet 3 cannot be read",
    ),
    (
        "less than a cent in an entry",
        "UPDATE ledger_entries SET owed_after = 0.001 WHERE wallet_id = 1 AND seq = 7",
        "entry 7 of wallet 1 cannot be read: the column owed_after",
    ),
    (
        "less than a cent in a posting",
        "UPDATE postings SET amount = 0.00000001 WHERE id = 2",
        "posting 2 cannot be read",
    ),
    (
        "less than a cent in a fee",
        "UPDATE music_requests SET fee = 0.001 WHERE id = 4",
        "music request 4 cannot be read",
    ),
    (
        "an unknown status",
        "UPDATE withdrawals SET status = 'lost' WHERE id = 2",
        "withdrawal 2 cannot be read",
    ),
    (
        "a status that lacks its data",
        "UPDATE music_requests SET commission = NULL WHERE id = 3",
        "request 3 cannot be",
    ),
    (
        "an unknown kind",
        "UPDATE ledger_entries SET kind = 'gift' WHERE wallet_id = 1 AND seq = 7",
        "entry 7 of wallet 1 cannot be read",
    ),
    ("an unknown account", "UPDATE postings SET account = 'mine' WHERE id = 1", "posting 1 cannot be read"),
    ("half a hash", "UPDATE wallets SET head = '\\x00' WHERE user_id = 1", "wallet 1 cannot be read"),
    (
        "a time beyond all times",
        "UPDATE wallets SET last_at = 'infinity' WHERE user_id = 1",
        "the first wallet cannot be read",
    ),
];

#[tokio::test(flavor = "multi_thread")]
async fn whatever_is_done_to_the_rows_is_found_and_named() {
    let database = TestDatabase::create().await;
    let store = open(database.url()).await;
    populate(&store).await;
    let whole = Summary { wallets: 3, entries: 19, postings: 7, things: 11 };
    assert_eq!(audit(&store).await, Ok(whole));
    let vandal = client(database.url()).await;
    vandal.batch_execute(LAWLESS).await.unwrap();
    for table in TABLES {
        vandal.batch_execute(&format!("CREATE TABLE untouched.{table} AS TABLE {table}")).await.unwrap();
    }
    let mut missed = Vec::new();
    for (name, statements, words) in TAMPERED {
        vandal.batch_execute(statements).await.unwrap_or_else(|error| panic!("{name}: {error:?}"));
        match audit(&store).await {
            Err(finding) if finding.to_string().contains(words) => {}
            other => {
                missed.push(format!("{name}: {}", other.map_or_else(|one| one.to_string(), |_| "-".into())))
            }
        }
        restore(&vandal).await;
    }
    assert!(missed.is_empty(), "not found, or not named:\n{}", missed.join("\n"));
    assert_eq!(audit(&store).await, Ok(whole));
}

async fn audit(store: &PostgresStore) -> Result<Summary, Finding> {
    let mut auditor = Auditor::new();
    store.show(&mut auditor).await.unwrap();
    auditor.finish()
}

async fn restore(vandal: &Client) {
    for table in TABLES {
        let again = format!(
            "DELETE FROM {table}; INSERT INTO {table} OVERRIDING SYSTEM VALUE SELECT * FROM untouched.{table}"
        );
        vandal.batch_execute(&again).await.unwrap();
    }
}

/// The wallets that [`TAMPERED`] describes.
async fn populate(store: &PostgresStore) {
    let guest = guest(store, 100_00).await;
    let dj = dj(store).await;
    crate::world::guest(store, 0).await;
    for moves in [
        &[][..],
        &[music_request::Move::Reject],
        &[music_request::Move::Accept, music_request::Move::Play],
        &[music_request::Move::Play, music_request::Move::Refund],
    ] {
        let mut stored = request(store, guest, &dj).await;
        for to in moves {
            let plan = plans::move_request(origin(store, dj.id), &stored, *to, &terms()).unwrap();
            let Outcome::Request(moved) = applied(store, plan).await else { panic!("no request") };
            stored = moved;
        }
    }
    let txid = Line::new("f00d").unwrap();
    let completed = [
        withdrawal::Move::Approve { by: Some(dj.id) },
        withdrawal::Move::Process,
        withdrawal::Move::Broadcast { txid },
        withdrawal::Move::Complete { txid: None },
    ];
    for moves in [&[][..], &completed, &[withdrawal::Move::Cancel { by: guest }]] {
        let opened = withdrawal(store, guest, 5_00, "T1").await;
        let Outcome::Withdrawal(mut stored, _) = applied(store, opened).await else {
            panic!("no withdrawal")
        };
        for to in moves {
            let plan = plans::move_withdrawal(origin(store, dj.id), &stored, to.clone()).unwrap();
            let Outcome::Withdrawal(moved, _) = applied(store, plan).await else { panic!("no withdrawal") };
            stored = moved;
        }
    }
    for confirmed in [false, true] {
        let id = store.next_topup().await.unwrap();
        let charge = Charge::Pending { payment_url: None };
        let opened = plans::open_topup(origin(store, guest), id, guest, amount(20_00), charge);
        let Outcome::Topup(topup) = applied(store, opened).await else { panic!("no top-up") };
        if confirmed {
            applied(store, plans::settle_topup(origin(store, guest), &topup, true)).await;
        }
    }
    let adjustment = Adjustment {
        id: store.next_adjustment().await.unwrap(),
        user: guest,
        correction: Correction::Credit(amount(7_00)),
        reason: Line::new("a gift").unwrap(),
    };
    applied(store, plans::adjust(origin(store, dj.id), adjustment)).await;
}

async fn applied(store: &PostgresStore, plan: Plan) -> Outcome {
    store.apply(plan).await.unwrap().receipt().outcome.clone()
}

fn terms() -> RequestTerms {
    RequestTerms {
        pending_for: Duration::minutes(15),
        accepted_for: Duration::minutes(60),
        commission: BasisPoints::new(1_000).unwrap(),
    }
}

/// A DJ who takes 10.00 a song.
async fn dj(store: &PostgresStore) -> User {
    let id = store.next_user().await.unwrap();
    let email = Email::new("dj@example.com").unwrap();
    let user = User::registered(id, Line::new("DJ").unwrap(), email, None, true, now());
    store.register(&user, &PasswordHash("hash".into()), None).await.unwrap();
    let change = ProfileChange {
        online: Field::Set(true),
        fee_popular_song: Field::Set(Money::from_minor(10_00)),
        ..ProfileChange::default()
    };
    match applied(store, plans::change_profile(origin(store, id), id, change)).await {
        Outcome::Profile(user, _) => user,
        other => panic!("no profile: {other:?}"),
    }
}

async fn request(store: &PostgresStore, guest: UserId, dj: &User) -> MusicRequest {
    let new = NewRequest {
        dj: dj.id,
        song_title: Line::new("Blue Monday").unwrap(),
        artist_name: Line::new("New Order").unwrap(),
        artist_type: ArtistType::Popular,
        music_url: MusicUrl::new("https://example.com/blue-monday").unwrap(),
        fee: None,
    };
    let id = store.next_request().await.unwrap();
    let plan = plans::open_request(origin(store, guest), id, guest, Some(dj), new, &terms()).unwrap();
    match applied(store, plan).await {
        Outcome::Request(request) => request,
        other => panic!("no request: {other:?}"),
    }
}
