//! The ledger audit: a consistent ledger passes, also while it is in use.

use std::sync::Arc;

use cuepoint_domain::audit::{Auditor, Progress, Summary};
use cuepoint_domain::music_request::Move;
use cuepoint_domain::ports::Store;
use futures_util::future::join_all;

use crate::harness::scenario::{Scenario, at};

promises! { ($) audit as audit_promises {
    an_empty_ledger_is_consistent,
    a_consistent_ledger_passes_the_audit,
    an_audit_reports_its_progress,
    an_audit_of_a_ledger_in_use_finds_no_inconsistency,
}}

/// A ledger without wallets, and one of empty wallets, are consistent.
pub async fn an_empty_ledger_is_consistent(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    assert_eq!(scenario.audit().await, Summary::default());
    scenario.guest(0).await;
    assert_eq!(scenario.audit().await, Summary { wallets: 1, ..Summary::default() });
}

/// Every wallet, entry, posting and entity is shown, and the ledger sums to zero.
pub async fn a_consistent_ledger_passes_the_audit(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store).with_commission(1_000);
    let (guest, dj) = (scenario.guest(1_000).await, scenario.dj(300).await);
    for (seconds, end) in [(1, Move::Play), (2, Move::Reject), (3, Move::Cancel), (4, Move::Play)] {
        let request = scenario.request(guest, dj, at(seconds)).await;
        scenario.move_request(request.id, end, at(seconds)).await.unwrap();
        if seconds == 4 {
            scenario.move_request(request.id, Move::Refund, at(5)).await.unwrap();
        }
    }
    let withdrawn = scenario.withdraw(dj, 100, at(6)).await.unwrap();
    assert_eq!(scenario.balance(dj).await, crate::harness::scenario::balance(170, 100), "{withdrawn:?}");
    // Guest: a top-up, four holds, two captures, two releases, a refund. DJ: two earnings, a reversal, a
    // hold. Postings: the top-up, two commissions, one of them returned.
    let summary = Summary { wallets: 2, entries: 14, postings: 4, entities: 6 };
    assert_eq!(scenario.audit().await, summary);
    // An adjustment is an entity as well, though no list shows it.
    scenario.fresh(scenario.adjust_plan(scenario.by(guest, at(7)), guest, -1).await).await;
    assert_eq!(scenario.audit().await, Summary { entries: 15, postings: 5, entities: 7, ..summary });
}

/// The progress of an audit reaches the announced total and never exceeds it.
pub async fn an_audit_reports_its_progress(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    for guest in [scenario.guest(1_000).await, scenario.guest(0).await] {
        scenario.fund(guest, 100).await;
    }
    let (sender, reports) = std::sync::mpsc::channel();
    let mut auditor = Auditor::new().reporting(move |progress| sender.send(progress).unwrap());
    scenario.store.show(&mut auditor).await.unwrap();
    auditor.finish().unwrap();
    let reports: Vec<Progress> = reports.into_iter().collect();
    assert!(reports.iter().all(|progress| progress.expected == 6), "{reports:?}");
    assert!(reports.windows(2).all(|two| two[0].done <= two[1].done), "{reports:?}");
    assert_eq!(reports.last().map(|progress| progress.done), Some(6));
}

/// An audit that runs while money moves reports no inconsistency.
pub async fn an_audit_of_a_ledger_in_use_finds_no_inconsistency(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store).with_commission(1_000);
    let dj = scenario.dj(10).await;
    let mut guests = Vec::new();
    for _ in 0..4 {
        guests.push(scenario.guest(1_000).await);
    }
    let traffic: Vec<_> = guests
        .into_iter()
        .map(|guest| {
            let scenario = scenario.clone();
            tokio::spawn(async move {
                for second in 0..25 {
                    let request = scenario.request(guest, dj, at(second)).await;
                    let end = if second % 2 == 0 { Move::Play } else { Move::Cancel };
                    scenario.move_request(request.id, end, at(second)).await.unwrap();
                }
            })
        })
        .collect();
    let traffic = tokio::spawn(join_all(traffic));
    while !traffic.is_finished() {
        scenario.audit().await;
    }
    assert!(traffic.await.unwrap().into_iter().all(|task| task.is_ok()));
    assert_eq!(scenario.audit().await.wallets, 5);
}
