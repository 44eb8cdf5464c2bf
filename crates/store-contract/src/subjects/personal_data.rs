//! Personal data of a user: every list is complete, whatever is added or deleted while it is read.

use std::sync::Arc;

use cuepoint_domain::entity_ref::EntityRef;
use cuepoint_domain::event::Feed;
use cuepoint_domain::ids::UserId;
use cuepoint_domain::music_request::Move;
use cuepoint_domain::operation::{Entity, OperationMetadata, Outcome, Receipt, plans};
use cuepoint_domain::ports::{Recorded, Store};
use cuepoint_domain::privacy::personal_data::{ActedBy, ExportKey, ExportList, ExportRecord, OperationNote};
use cuepoint_domain::provider_message::{
    Contradiction, Excerpt, MessageRecord, MessageSource, PresentedPayment, WebhookId,
};
use cuepoint_domain::security_log::{SecurityEvent, SecurityEventKind};
use cuepoint_domain::topup::TopupFilter;
use cuepoint_domain::user::challenge::{Challenge, Purpose};
use cuepoint_domain::user::session::{ClientInfo, TokenHash};
use cuepoint_domain::user::{Block, Field, ProfileChange, UserStatusChange};

use crate::harness::scenario::{Scenario, at, line};
use crate::subjects::sessions::log_in;
use crate::subjects::webhook_endpoints::add;

promises! { ($) personal_data as personal_data_promises {
    money_and_requests_are_exported_completely,
    sessions_codes_blocks_security_events_and_endpoints_are_exported,
    operations_about_a_user_are_exported,
    an_export_neither_skips_nor_repeats_records_if_rows_change_between_pages,
}}

/// A whole list, read in pages of this size.
async fn all(scenario: &Scenario, user: UserId, list: ExportList, limit: u32) -> Vec<ExportRecord> {
    let mut records: Vec<ExportRecord> = Vec::new();
    loop {
        let after = records.last().map(ExportRecord::key);
        let page = scenario.store.records(user, list, after, limit).await.unwrap();
        let full = page.len() == usize::try_from(limit).unwrap();
        records.extend(page);
        if !full {
            return records;
        }
    }
}

/// Checks that a list has these records, on pages of any size, and that no other user has any of them.
async fn check(scenario: &Scenario, user: UserId, list: ExportList, expected: &[ExportRecord]) {
    assert!(!expected.is_empty(), "{list:?}");
    for limit in [1, 2, 100] {
        assert_eq!(all(scenario, user, list, limit).await, expected, "{list:?} by {limit}");
    }
    let stranger = scenario.guest(0).await;
    assert_eq!(all(scenario, stranger, list, 100).await, [], "{list:?} of another user");
}

/// Requests, money and messages about them are listed newest first, each once, for the users concerned.
pub async fn money_and_requests_are_exported_completely(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store).with_commission(100);
    let (guest, dj) = (scenario.guest(1_000).await, scenario.dj(100).await);
    let mut requests = Vec::new();
    for seconds in [1, 1, 3, 2] {
        requests.push(scenario.request(guest, dj, at(seconds)).await);
    }
    scenario.move_request(requests[0].id, Move::Play, at(4)).await.unwrap();
    let mut stored = Vec::new();
    for request in &requests {
        stored.push(ExportRecord::Request(scenario.stored_request(request.id).await));
    }
    stored.sort_by_key(|record| std::cmp::Reverse(record.key()));
    let made: Vec<ExportRecord> = stored
        .iter()
        .map(|record| match record {
            ExportRecord::Request(request) => ExportRecord::RequestMade(request.clone(), None),
            other => panic!("no request: {other:?}"),
        })
        .collect();
    check(&scenario, guest, ExportList::RequestsMade, &made).await;
    check(&scenario, dj, ExportList::RequestsReceived, &stored).await;

    for _ in 0..3 {
        scenario.withdraw(guest, 10, at(5)).await.unwrap();
    }
    let page = cuepoint_domain::page::PageRequest::new(1, 100);
    let filter = cuepoint_domain::withdrawal::WithdrawalFilter::of(guest);
    let withdrawals = scenario.store.withdrawals(&filter, page).await.unwrap().rows;
    let listed: Vec<ExportRecord> = withdrawals.iter().cloned().map(ExportRecord::Withdrawal).collect();
    check(&scenario, guest, ExportList::Withdrawals, &listed).await;
    scenario.fund(guest, 7).await;
    let topups = scenario.store.topups(&TopupFilter::of(guest), page).await.unwrap().rows;
    let listed: Vec<ExportRecord> = topups.iter().cloned().map(ExportRecord::Topup).collect();
    check(&scenario, guest, ExportList::Topups, &listed).await;

    // The reason is that of the operation.
    let operator = scenario.guest(0).await;
    let metadata = OperationMetadata { reason: Some(line("a mistake")), ..scenario.by(operator, at(6)) };
    let adjusted = scenario.fresh(scenario.adjust_plan(metadata, guest, 5).await).await;
    let entries = scenario.store.entries(guest, page).await.unwrap().rows;
    let entry = |entry: &cuepoint_domain::ledger::Entry| {
        let reason = (entry.operation == adjusted.operation).then(|| line("a mistake"));
        ExportRecord::Entry(entry.clone(), reason)
    };
    let listed: Vec<ExportRecord> = entries.iter().map(entry).collect();
    check(&scenario, guest, ExportList::Entries, &listed).await;

    // Messages about the user's rows, from either provider, are listed; those about another user's row or an
    // unknown one are not.
    let mut kept = Vec::new();
    for (number, source, row) in [
        ("1", MessageSource::Topups, Some(topups[0].id.get())),
        ("2", MessageSource::Payouts, Some(withdrawals[0].id.get())),
        ("3", MessageSource::Topups, None),
        ("4", MessageSource::Payouts, Some(i64::MAX)),
    ] {
        let message = message(source, number, row);
        assert_eq!(scenario.store.record_message(&message, 10).await.unwrap(), Recorded::Added);
        kept.push(message);
    }
    let records = all(&scenario, guest, ExportList::ProviderMessages, 1).await;
    let listed: Vec<&MessageRecord> = records
        .iter()
        .map(|record| match record {
            ExportRecord::ProviderMessage(message) => &message.record,
            other => panic!("no message: {other:?}"),
        })
        .collect();
    assert_eq!(listed, [&kept[1], &kept[0]]);
    check(&scenario, guest, ExportList::ProviderMessages, &records).await;
}

fn message(source: MessageSource, number: &str, row: Option<i64>) -> MessageRecord {
    MessageRecord {
        source,
        webhook_id: WebhookId::new(number).unwrap(),
        kind: Excerpt::of("kind"),
        contradiction: Contradiction::StatusContradiction,
        reference: Excerpt::of("reference"),
        stated_id: None,
        row,
        presented: PresentedPayment::default(),
        received_at: at(7),
    }
}

/// Ended sessions, issued challenges, blocks in both directions, events and webhook endpoints are listed, each
/// with its fields.
pub async fn sessions_codes_blocks_security_events_and_endpoints_are_exported(store: Arc<dyn Store>) {
    let scenario = Scenario::new(Arc::clone(&store));
    let (user, other) = (scenario.dj(100).await, scenario.dj(100).await);
    for number in 1..=3 {
        log_in(&store, user, number, at(i64::from(number))).await;
    }
    store.end(&TokenHash([2; 32]), at(9)).await.unwrap();
    let sessions = all(&scenario, user, ExportList::Sessions, 100).await;
    let ends: Vec<_> = sessions
        .iter()
        .map(|record| match record {
            ExportRecord::Session(session, ended_at) => (session.began_at, *ended_at),
            other => panic!("no session: {other:?}"),
        })
        .collect();
    assert_eq!(ends, [(at(3), None), (at(2), Some(at(9))), (at(1), None)]);
    check(&scenario, user, ExportList::Sessions, &sessions).await;

    let person = scenario.user(user).await;
    let mut challenges = Vec::new();
    for (hash, purpose) in [(7, Purpose::Email), (9, Purpose::Password), (8, Purpose::Email)] {
        let challenge = Challenge::issue(&person, purpose, TokenHash([hash; 32]), at(10)).unwrap();
        store.issue(&challenge, None).await.unwrap();
        challenges.push(challenge);
    }
    // The second code replaced the first.
    challenges[0].ended_at = Some(at(10));
    let expected = [1, 2, 0].map(|place: usize| ExportRecord::Challenge(challenges[place].clone()));
    check(&scenario, user, ExportList::Challenges, &expected).await;

    let mut blocks = Vec::new();
    for seconds in [5, 3, 4] {
        let guest = scenario.guest(0).await;
        blocks.push(ExportRecord::Block(store.block(user, guest, at(seconds)).await.unwrap().unwrap()));
    }
    blocks.sort_by_key(|record| std::cmp::Reverse(record.key()));
    check(&scenario, user, ExportList::Blocks, &blocks).await;
    store.block(other, user, at(6)).await.unwrap();
    check(&scenario, user, ExportList::BlockedBy, &[ExportRecord::BlockedBy { dj: other, at: at(6) }]).await;

    for seconds in [5, 4] {
        let event =
            SecurityEvent::about(SecurityEventKind::LoggedIn, Some(user), ClientInfo::default(), at(seconds));
        store.append(&event).await.unwrap();
    }
    let events = all(&scenario, user, ExportList::Events, 100).await;
    let times: Vec<_> = events
        .iter()
        .map(|record| match record {
            ExportRecord::Event(_, event) => event.at,
            other => panic!("no event: {other:?}"),
        })
        .collect();
    assert_eq!(times, [at(4), at(5)], "as they were added");
    check(&scenario, user, ExportList::Events, &events).await;

    let mut endpoints = Vec::new();
    for feed in [Feed::Own, Feed::All, Feed::Own] {
        endpoints.insert(0, ExportRecord::WebhookEndpoint(add(&scenario, user, feed).await));
    }
    check(&scenario, user, ExportList::WebhookEndpoints, &endpoints).await;
}

/// Changes of a profile, status or role are listed, as are operators' changes with a reason. After seven days
/// the profile is redacted, and the rest is retained.
pub async fn operations_about_a_user_are_exported(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (user, operator) = (scenario.guest(1_000).await, scenario.guest(0).await);
    let change = ProfileChange { name: Field::Set(line("Ada")), ..ProfileChange::default() };
    let reason = |plan: OperationMetadata| OperationMetadata { reason: Some(line("a reason")), ..plan };
    let renamed = scenario.fresh(plans::change_profile(scenario.by(user, at(1)), user, change)).await;
    let suspend =
        plans::change_user_status(reason(scenario.by(operator, at(2))), user, UserStatusChange::Suspend);
    let suspended = scenario.fresh(suspend).await;
    // Without a reason, a user's own operations on their money are listed as money alone.
    scenario.withdraw(user, 10, at(3)).await.unwrap();
    let adjust = scenario.adjust_plan(scenario.by(operator, at(4)), user, 5).await;
    let adjusted = scenario.fresh(adjust).await;

    let note = |receipt: &Receipt, kind: &str, reason: Option<&str>, reference| {
        let profile = match &receipt.outcome {
            Outcome { entity: Entity::User(person), balance: Some(balance) } => {
                Some((person.clone(), *balance))
            }
            _ => None,
        };
        OperationNote {
            id: receipt.operation,
            kind: kind.to_owned(),
            acted_by: if reason.is_some() { ActedBy::Operator } else { ActedBy::Themselves },
            reason: reason.map(line),
            reference,
            profile,
            at: receipt.at,
        }
    };
    let Entity::Adjustment(adjustment) = &adjusted.outcome.entity else { panic!("{adjusted:?}") };
    let mut notes = [
        note(&adjusted, "adjust", Some("a mistake"), Some(EntityRef::Adjustment(adjustment.id))),
        note(&suspended, "suspend", Some("a reason"), None),
        note(&renamed, "profile", None, None),
    ];
    assert!(notes[1].profile.is_some() && notes[2].profile.is_some());
    check(&scenario, user, ExportList::Operations, &notes.clone().map(ExportRecord::Operation)).await;

    scenario.store.purge_expired(at(1).plus(Receipt::RETENTION)).await.unwrap();
    notes[2].profile = None;
    check(&scenario, user, ExportList::Operations, &notes.clone().map(ExportRecord::Operation)).await;
}

/// While a list is read page by page, a deletion hides no other record, and an addition repeats none.
pub async fn an_export_neither_skips_nor_repeats_records_if_rows_change_between_pages(store: Arc<dyn Store>) {
    let scenario = Scenario::new(Arc::clone(&store));
    let dj = scenario.dj(100).await;
    let mut blocks: Vec<Block> = Vec::new();
    for seconds in 1..=6 {
        let guest = scenario.guest(0).await;
        blocks.push(store.block(dj, guest, at(seconds)).await.unwrap().unwrap());
    }
    blocks.reverse();
    let page =
        async |after: Option<ExportKey>| store.records(dj, ExportList::Blocks, after, 2).await.unwrap();
    let first = page(None).await;
    assert_eq!(first, [&blocks[0], &blocks[1]].map(|block| ExportRecord::Block(block.clone())));
    // Both records that were read are deleted, including the one at which the next page begins, and a new one
    // is added.
    for gone in &blocks[..2] {
        assert!(store.unblock(dj, gone.guest).await.unwrap());
    }
    let late = scenario.guest(0).await;
    store.block(dj, late, at(9)).await.unwrap();
    let second = page(first.last().map(ExportRecord::key)).await;
    assert_eq!(second, [&blocks[2], &blocks[3]].map(|block| ExportRecord::Block(block.clone())));
    let third = page(second.last().map(ExportRecord::key)).await;
    assert_eq!(third, [&blocks[4], &blocks[5]].map(|block| ExportRecord::Block(block.clone())));
    assert_eq!(page(third.last().map(ExportRecord::key)).await, []);
}
