//! The steps of a copy between two stores in memory: a difference is found, and the marks enclose the commit.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a failure fails the test")]

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use anyhow::bail;
use async_trait::async_trait;
use cuepoint_domain::audit::Auditor;
use cuepoint_domain::money::Currency;
use cuepoint_domain::operation::feature_level::FeatureLevel;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_store_sql::copy::{
    self, AcceptSecrets, Completion, Copied, CopiedRow, CopyEndpoint, CopyOrigin, CopyRole, CopySession,
    Deployment, Mark, Report, Value,
};
use cuepoint_store_sql::schema::{COUNTERS, TABLES};
use cuepoint_store_sql::table::{Column, Table};
use uuid::Uuid;

/// A change of a value.
type Change<T> = fn(&mut T);

const COPY: Uuid = Uuid::from_u128(7);

/// A store in memory.
#[derive(Clone, Default)]
struct Content {
    rows: BTreeMap<&'static str, Vec<CopiedRow>>,
    deployment: Option<Deployment>,
    next_ids: Vec<i64>,
}

/// A store in memory, which records its events.
struct FakeStore {
    /// Its identity, and its kind of store.
    name: &'static str,
    content: Mutex<Content>,
    events: Arc<Mutex<Vec<String>>>,
    /// The copy that was begun last.
    begun: Mutex<Option<Uuid>>,
    /// Changes the rows that were written, before they are compared.
    spoil: fn(&mut Content),
    commits: bool,
}

/// An open store: its transaction, which begins with a copy of the content.
struct FakeSession {
    store: Arc<FakeStore>,
    transaction: Content,
}

#[derive(Clone)]
struct FakeEndpoint(Arc<FakeStore>);

#[async_trait]
impl CopyEndpoint for FakeEndpoint {
    fn backend(&self) -> &'static str {
        self.0.name
    }

    async fn open(&self, _: CopyRole) -> anyhow::Result<Box<dyn CopySession>> {
        let transaction = self.0.content.lock().unwrap().clone();
        Ok(Box::new(FakeSession { store: Arc::clone(&self.0), transaction }))
    }

    async fn look_up(&self, _: bool) -> anyhow::Result<CopyOrigin> {
        let copy =
            self.0.content.lock().unwrap().deployment.as_ref().and_then(|deployment| deployment.origin);
        let begun = *self.0.begun.lock().unwrap();
        Ok(CopyOrigin { identity: self.0.name.to_owned(), copy, begun })
    }
}

#[async_trait]
impl CopySession for FakeSession {
    fn identity(&self) -> &str {
        self.store.name
    }

    async fn deployment(&mut self) -> anyhow::Result<Option<Deployment>> {
        Ok(self.transaction.deployment.clone())
    }

    async fn begin(&mut self, copy: Uuid, _: &Deployment) -> anyhow::Result<()> {
        *self.store.begun.lock().unwrap() = Some(copy);
        Ok(())
    }

    async fn count(&mut self, table: &'static Table) -> anyhow::Result<u64> {
        Ok(u64::try_from(self.transaction.rows.get(table.name).map_or(0, Vec::len))?)
    }

    async fn read(
        &mut self,
        table: &'static Table,
        after: Option<&[Value]>,
        _: i64,
    ) -> anyhow::Result<Vec<CopiedRow>> {
        let rows = self.transaction.rows.get(table.name).cloned().unwrap_or_default();
        // One row at a time.
        let start = after
            .map_or(0, |after| rows.iter().position(|row| row[0] == after[0]).unwrap().saturating_add(1));
        Ok(rows.into_iter().skip(start).take(1).collect())
    }

    async fn next_ids(&mut self) -> anyhow::Result<Vec<i64>> {
        Ok(self.transaction.next_ids.clone())
    }

    async fn audit(&mut self, _: &mut Auditor) -> anyhow::Result<()> {
        Ok(())
    }

    async fn insert(&mut self, table: &'static Table, rows: Vec<CopiedRow>) -> anyhow::Result<()> {
        self.transaction.rows.entry(table.name).or_default().extend(rows);
        Ok(())
    }

    async fn complete(&mut self, next_ids: &[i64], deployment: &Deployment) -> anyhow::Result<()> {
        self.transaction.next_ids = next_ids.to_vec();
        self.transaction.deployment = Some(deployment.clone());
        (self.store.spoil)(&mut self.transaction);
        Ok(())
    }

    async fn commit(&mut self) -> anyhow::Result<()> {
        if !self.store.commits {
            bail!("the connection was lost");
        }
        *self.store.content.lock().unwrap() = self.transaction.clone();
        self.store.events.lock().unwrap().push("commit".to_owned());
        Ok(())
    }

    async fn mark(&mut self, mark: Option<&Mark>) -> anyhow::Result<()> {
        let mut content = self.store.content.lock().unwrap();
        content.deployment.as_mut().unwrap().mark = mark.cloned();
        let event = mark.map_or("unmarked", |mark| mark.state.name());
        self.store.events.lock().unwrap().push(event.to_owned());
        Ok(())
    }

    async fn close(self: Box<Self>) -> anyhow::Result<()> {
        Ok(())
    }
}

/// The output of a future that never waits.
fn ready<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("a store in memory waits"),
    }
}

fn usd() -> Currency {
    Currency::new("USD", 2).unwrap()
}

/// A source with two rows, and a target.
struct Pair {
    source: FakeEndpoint,
    target: FakeEndpoint,
    events: Arc<Mutex<Vec<String>>>,
}

impl Pair {
    fn new(spoil: fn(&mut Content), commits: bool) -> Self {
        let events = Arc::<Mutex<Vec<String>>>::default();
        let block = |dj, guest| {
            vec![
                Value::Integer(Some(dj)),
                Value::Integer(Some(guest)),
                Value::Time(Some(Timestamp::from_unix_micros(5))),
            ]
        };
        let deployment = Deployment {
            currency: "USD".to_owned(),
            scale: 2,
            created_at: Timestamp::from_unix_micros(1),
            epoch: 3,
            feature_level: FeatureLevel::NEWEST.number(),
            mark: None,
            origin: None,
        };
        let full = Content {
            rows: BTreeMap::from([("blocks", vec![block(1, 2), block(3, 2)])]),
            deployment: Some(deployment),
            next_ids: vec![4; COUNTERS.len()],
        };
        let store = |name, content| {
            let (content, events) = (Mutex::new(content), Arc::clone(&events));
            FakeEndpoint(Arc::new(FakeStore {
                name,
                content,
                events,
                begun: Mutex::default(),
                spoil,
                commits,
            }))
        };
        Self {
            source: store("one", full),
            target: store("two", Content::default()),
            events: Arc::clone(&events),
        }
    }

    fn copy(&self, ending: Completion) -> Result<Copied, String> {
        self.copy_if(ending, &|_| Ok(()))
    }

    fn copy_if(&self, ending: Completion, accept: AcceptSecrets<'_>) -> Result<Copied, String> {
        let silent: Report = Arc::new(|_, _, _| {});
        let copied = ready(copy::copy(&self.source, &self.target, &usd(), COPY, ending, accept, &silent));
        copied.map_err(|error| format!("{error:#}"))
    }

    fn events(&self) -> Vec<String> {
        std::mem::take(&mut *self.events.lock().unwrap())
    }

    fn finish(&self) -> Result<Mark, String> {
        ready(copy::finish(&self.source, &self.target)).map_err(|error| format!("{error:#}"))
    }

    fn abort(&self, target: &FakeEndpoint) -> Result<Mark, String> {
        ready(copy::abort(&self.source, target)).map_err(|error| format!("{error:#}"))
    }
}

#[test]
fn the_source_is_marked_before_and_after_the_commit() {
    let pair = Pair::new(|_| {}, true);
    pair.copy(Completion::RollBack).unwrap();
    assert_eq!(pair.events(), [""; 0]);
    let copied = pair.copy(Completion::Commit).unwrap();
    assert_eq!(pair.events(), ["moving", "commit", "moved"]);
    assert_eq!(copied.tables.iter().map(|(_, digest)| digest.rows).sum::<u64>(), 2);
    let target = pair.target.0.content.lock().unwrap().clone();
    assert_eq!(target.rows, pair.source.0.content.lock().unwrap().rows);
    assert_eq!(target.deployment.unwrap().origin, Some(COPY));
    assert!(pair.copy(Completion::Commit).unwrap_err().contains("in use instead"));
    assert!(pair.finish().unwrap_err().contains("in use instead"));
    assert!(pair.abort(&pair.target).unwrap_err().contains("in use instead"));
    assert_eq!(pair.events(), [""; 0]);
}

#[test]
fn a_difference_in_the_target_rolls_the_copy_back() {
    let spoils: [(Change<Content>, &str); 6] = [
        (|content| drop(content.rows.get_mut("blocks").unwrap().pop()), "blocks has 1 rows instead of 2"),
        (
            |content| drop(content.rows.insert("phone_codes", vec![vec![Value::Integer(Some(1))]])),
            "phone_codes has 1",
        ),
        (
            |content| {
                content.rows.get_mut("blocks").unwrap()[1][2] =
                    Value::Time(Some(Timestamp::from_unix_micros(6)))
            },
            "the rows of blocks are not those that were read",
        ),
        (|content| content.next_ids[0] = 3, "the next id of users is 3 instead of 4"),
        (|content| drop(content.next_ids.split_off(1)), "a counter was not copied"),
        (|content| content.deployment.as_mut().unwrap().epoch = 9, "the deployment differs"),
    ];
    for (spoil, finding) in spoils {
        let pair = Pair::new(spoil, true);
        let refused = pair.copy(Completion::Commit).unwrap_err();
        assert!(refused.contains(finding) && refused.contains("rolled back"), "{refused}");
        assert_eq!(pair.events(), [""; 0], "{finding}");
    }
}

#[test]
fn an_uncommitted_copy_can_only_be_aborted() {
    let pair = Pair::new(|_| {}, false);
    for refused in [pair.finish(), pair.abort(&pair.target)] {
        assert!(refused.unwrap_err().contains("no copy of the source was interrupted"));
    }
    assert!(pair.copy(Completion::Commit).unwrap_err().contains("storage copy --finish"));
    assert_eq!(pair.events(), ["moving"]);
    assert!(pair.finish().unwrap_err().contains("does not have the copy"));
    let other = |name, begun| {
        let (content, events) = (Mutex::default(), Arc::clone(&pair.events));
        let begun = Mutex::new(begun);
        FakeEndpoint(Arc::new(FakeStore { name, content, events, begun, spoil: |_| {}, commits: true }))
    };
    for at_its_place in [other("two", None), other("two", Some(Uuid::nil()))] {
        assert!(pair.abort(&at_its_place).unwrap_err().contains("the interrupted copy went to two"));
    }
    assert_eq!(pair.events(), [""; 0]);
    let moved = other("three", Some(COPY));
    pair.abort(&moved).unwrap();
    assert_eq!(pair.events(), ["unmarked"]);
}

#[test]
fn a_committed_copy_can_only_be_finished() {
    let pair = Pair::new(|_| {}, true);
    pair.copy(Completion::Commit).unwrap();
    // As after an end between the commit and the second mark.
    let mark = pair.source.0.content.lock().unwrap().deployment.as_mut().unwrap().mark.take().unwrap();
    let interrupted = Mark { state: copy::MarkState::Moving, ..mark };
    pair.source.0.content.lock().unwrap().deployment.as_mut().unwrap().mark = Some(interrupted);
    pair.events();
    assert!(pair.abort(&pair.target).unwrap_err().contains("two has the copy"));
    assert_eq!(pair.events(), [""; 0]);
    pair.finish().unwrap();
    assert_eq!(pair.events(), ["moved"]);
}

#[test]
fn a_different_currency_or_feature_level_is_refused() {
    let changes: [(Change<Deployment>, &str); 4] = [
        (|deployment| deployment.currency = "EUR".to_owned(), "uses EUR with 2 decimals"),
        (|deployment| deployment.scale = 3, "uses USD with 3 decimals"),
        (|deployment| deployment.feature_level = 0, "finalize-upgrade"),
        (|deployment| deployment.feature_level = i16::MAX, "later version"),
    ];
    for (change, finding) in changes {
        let pair = Pair::new(|_| {}, true);
        change(pair.source.0.content.lock().unwrap().deployment.as_mut().unwrap());
        let refused = pair.copy(Completion::Commit).unwrap_err();
        assert!(refused.contains(finding), "{refused}");
    }
    let pair = Pair::new(|_| {}, true);
    pair.source.0.content.lock().unwrap().deployment = None;
    assert!(pair.copy(Completion::Commit).unwrap_err().contains("never used"));
}

#[test]
fn refused_webhook_secrets_leave_both_stores_unchanged() {
    let pair = Pair::new(|_| {}, true);
    let table = TABLES.iter().find(|table| table.name == "webhook_endpoints").unwrap();
    let row = |id, reason: Option<&str>| -> CopiedRow {
        let value = |column: &Column| match column.name {
            "id" => Value::Integer(Some(id)),
            "secrets" => Value::Text(Some("webhook/a:AAAA\nwebhook/b:BBBB 5".to_owned())),
            "disabled_reason" => Value::Text(reason.map(str::to_owned)),
            _ => Value::Integer(None),
        };
        table.columns.iter().map(value).collect()
    };
    let rows = vec![row(1, None), row(2, Some("secret_lost")), row(3, Some("gone"))];
    pair.source.0.content.lock().unwrap().rows.insert(table.name, rows);
    let refused = pair.copy_if(Completion::Commit, &|secrets| bail!("{secrets:?}")).unwrap_err();
    let secret = |id| format!("WebhookEndpointId({id}), SealedSecret(\"webhook/a:AAAA\")");
    assert!(refused.contains(&secret(1)) && refused.contains(&secret(3)), "{refused}");
    assert!(!refused.contains("WebhookEndpointId(2)"), "a lost secret needs no key: {refused}");
    assert!(pair.events().is_empty());
}
