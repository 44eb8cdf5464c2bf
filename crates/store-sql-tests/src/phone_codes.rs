//! Phone codes: counted over all servers of a database, and retained for as long as they count.

use std::num::NonZeroU32;

use cuepoint_domain::ports::{IssueOutcome, PasswordHash, Registered, Store};
use cuepoint_domain::text::{Email, Line};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::User;
use cuepoint_domain::user::challenge::{Challenge, Purpose};
use cuepoint_domain::user::code_quotas::{CodeQuota, CountedCode, TooMany, WINDOW};
use cuepoint_domain::user::session::{Candidates, TokenHash};
use futures_util::future::join_all;
use time::Duration;

use crate::SqlFixture;
use crate::fixtures::now;

/// The maximum number of codes of the deployment within a day.
const MAX: u32 = 7;

/// Sends a code to a new user with their own number and network.
async fn send(store: &dyn Store, at: Timestamp) -> IssueOutcome {
    let id = store.next_user().await.unwrap();
    let email = Email::new(&format!("person{id}@example.com")).unwrap();
    let phone = Line::new(&format!("+49301{:06}", id.get())).unwrap();
    let user = User::registered(id, Line::new("Guest").unwrap(), email, Some(phone), false, at);
    let registered = store.register(&user, &PasswordHash("hash".into()), None).await.unwrap();
    assert_eq!(registered, Registered::Done);
    let mut own = [0; 32];
    own[..8].copy_from_slice(&id.get().to_be_bytes());
    let own = Candidates { current: TokenHash(own), others: Vec::new() };
    let (number, network) = (own.clone(), own);
    let counted = CountedCode { number, network, most_of_deployment: NonZeroU32::new(MAX), at };
    let challenge = Challenge::issue(&user, Purpose::Phone, TokenHash([1; 32]), at).unwrap();
    store.issue(&challenge, Some(&counted)).await.unwrap()
}

/// Two servers send more codes concurrently than the quota permits.
pub async fn servers_share_the_deployment_code_quota(database: &dyn SqlFixture) {
    let other = database.other_server().await;
    let servers = [database.store(), &*other];
    let answers = join_all((0..30).map(|number| send(servers[number % 2], now()))).await;
    let most = usize::try_from(MAX).unwrap();
    assert_eq!(answers.iter().filter(|issued| **issued == IssueOutcome::Done).count(), most, "{answers:?}");
    let full = TooMany { quota: CodeQuota::Deployment, most: MAX, until: now().plus(WINDOW) };
    let refused = answers.iter().filter(|issued| **issued == IssueOutcome::TooMany(full)).count();
    assert_eq!(refused, 30 - most, "{answers:?}");
}

/// A code counts for a day, so its row is kept for a day.
pub async fn sent_codes_are_kept_for_a_day(database: &dyn SqlFixture) {
    let store = database.store();
    let rows = async || database.number("SELECT count(*) FROM phone_codes").await;
    for number in 0..i64::from(MAX) {
        assert_eq!(send(store, now().plus(Duration::hours(number))).await, IssueOutcome::Done);
    }
    assert!(matches!(send(store, now().plus(Duration::hours(8))).await, IssueOutcome::TooMany(_)));
    assert_eq!(rows().await, i64::from(MAX), "a refused code leaves no row");
    for (hours, kept) in [(23, 7), (24, 6), (27, 3), (30, 0)] {
        store.purge_expired(now().plus(Duration::hours(hours))).await.unwrap();
        assert_eq!(rows().await, kept, "after {hours} hours");
    }
}
