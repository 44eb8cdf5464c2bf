//! Receipts: the outcome of an operation reads back exactly as it was returned, a profile for seven days,
//! everything else forever.

use std::sync::Arc;

use cuepoint_domain::ids::UserId;
use cuepoint_domain::music_request;
use cuepoint_domain::operation::{Actor, OperationMetadata, Plan, Receipt, Rejection, plans};
use cuepoint_domain::ports::{Applied, Store};
use cuepoint_domain::text::PaymentUrl;
use cuepoint_domain::topup::{Charge, Orders, Topup, TopupStatus};
use cuepoint_domain::user::{
    ArtistType, Coordinates, Field, Kilometres, Locate, ProfileChange, Role, UserStatusChange,
};
use cuepoint_domain::withdrawal;
use time::Duration;

use crate::harness::scenario::{Scenario, amount, at, key, line, money, request_of, topup_of, withdrawal_of};

promises! { ($) receipts as receipts_promises {
    receipts_of_requests_round_trip,
    receipts_of_withdrawals_round_trip,
    receipts_of_topups_and_adjustments_round_trip,
    receipts_of_user_changes_round_trip,
    idempotency_keys_return_the_receipts_of_their_operations,
    profiles_in_receipts_are_kept_for_seven_days,
}}

/// Plans with their receipts, to be read back after everything has moved on.
struct ReceiptLog {
    scenario: Scenario,
    played: Vec<(Plan, Receipt)>,
}

impl ReceiptLog {
    fn new(scenario: Scenario) -> Self {
        Self { scenario, played: Vec::new() }
    }

    async fn play(&mut self, plan: Plan) -> Receipt {
        let receipt = self.scenario.fresh(plan.clone()).await;
        self.played.push((plan, receipt.clone()));
        receipt
    }

    /// A change by the service with a reason, a microsecond after a whole second.
    fn metadata(&self) -> OperationMetadata {
        let seconds = i64::try_from(self.played.len()).unwrap();
        let now = at(seconds).plus(Duration::MICROSECOND);
        OperationMetadata { reason: Some(line("a reason")), ..self.scenario.metadata(Actor::System, now) }
    }

    /// Reverses a confirmed top-up; takes the money of a failed one into suspense, and settles it.
    async fn take_back_or_suspend(&mut self, operator: UserId, topup: Topup) {
        if topup.status == TopupStatus::Confirmed {
            let reversed = plans::reverse_topup(self.metadata(), &topup).unwrap();
            self.play(reversed).await;
            return;
        }
        let suspended = plans::suspend_topup(self.metadata(), &topup);
        let suspended = topup_of(&self.play(suspended).await);
        let settled =
            plans::settle_suspense(self.metadata(), &suspended, operator, line("sent back")).unwrap();
        let settled = topup_of(&self.play(settled).await);
        assert_eq!(self.scenario.stored_topup(topup.id).await, settled);
    }

    /// Submits every plan again and expects its first receipt.
    async fn rewind(self) {
        for (plan, receipt) in self.played {
            assert_eq!(self.scenario.apply(plan).await, Ok(Applied::Replayed(receipt)));
        }
    }
}

/// The receipts of requests, in each of their states, with a boost and a commission.
pub async fn receipts_of_requests_round_trip(store: Arc<dyn Store>) {
    use music_request::Move::{Accept, Cancel, Expire, Play, Refund, Reject};
    let mut log = ReceiptLog::new(Scenario::new(store).with_commission(333));
    let (guest, dj) = (log.scenario.guest(10_000).await, log.scenario.dj(100).await);
    let lives: [&[music_request::Move]; 5] =
        [&[Accept, Play, Refund], &[Reject], &[Cancel], &[Play], &[Expire]];
    for moves in lives {
        let boost = Some(money(177));
        let metadata = log.metadata();
        let plan = log.scenario.request_plan(metadata, guest, dj, ArtistType::Upcoming, boost).await.unwrap();
        let mut request = request_of(&log.play(plan).await);
        for to in moves {
            let mut metadata = log.metadata();
            if *to == Expire {
                metadata.at = at(5_000);
            }
            let plan = plans::move_request(metadata, &request, *to, &log.scenario.requests).unwrap();
            request = request_of(&log.play(plan).await);
            assert_eq!(log.scenario.stored_request(request.id).await, request);
        }
    }
    log.rewind().await;
}

/// The receipts of withdrawals, in each of their states, with and without a transaction.
pub async fn receipts_of_withdrawals_round_trip(store: Arc<dyn Store>) {
    use withdrawal::Move::{
        Accepted, Approve, Broadcast, Cancel, Complete, Fail, Process, Refused, Reject, Review, Send,
    };
    let mut log = ReceiptLog::new(Scenario::new(store));
    let (guest, operator) = (log.scenario.guest(10_000).await, log.scenario.guest(0).await);
    let txid = line("f00dfeed");
    let approve = Approve { by: Some(operator), second_above: None };
    let broadcast = Broadcast { txid: txid.clone() };
    let send = |seconds| Send { now: at(2), again_at: at(seconds) };
    let lives = [
        vec![approve.clone(), Process, broadcast, Review, Complete { txid: None }],
        vec![approve.clone(), Process, Review, Complete { txid: Some(txid) }],
        vec![approve.clone(), Process, Fail],
        vec![approve.clone(), send(1), send(2), Accepted, Review, Fail],
        vec![approve, send(1), Accepted, Refused],
        vec![Cancel],
        vec![Reject { by: operator }],
    ];
    for moves in lives {
        let plan = log.scenario.withdrawal_plan(log.metadata(), guest, 123).await.unwrap();
        let mut withdrawal = withdrawal_of(&log.play(plan).await);
        for to in moves {
            let plan = plans::move_withdrawal(log.metadata(), &withdrawal, to).unwrap();
            withdrawal = withdrawal_of(&log.play(plan).await);
            assert_eq!(log.scenario.stored_withdrawal(withdrawal.id).await, withdrawal);
        }
    }
    log.rewind().await;
}

/// The receipts of top-ups, in each of their states, and of adjustments.
pub async fn receipts_of_topups_and_adjustments_round_trip(store: Arc<dyn Store>) {
    let mut log = ReceiptLog::new(Scenario::new(store));
    let guest = log.scenario.guest(0).await;
    let page = PaymentUrl::new("https://pay.example.com/session?id=1&x=ü").ok();
    let ordered = |attempts, next_at| Orders { attempts, next_at };
    for (charge, settled) in [
        (Charge::Confirmed, None),
        (Charge::Pending, Some(false)),
        (Charge::Ordered(ordered(1, Some(at(30)))), Some(true)),
        (Charge::Ordered(ordered(1, Some(at(30)))), Some(false)),
    ] {
        let id = log.scenario.ids.next_topup().await.unwrap();
        let plan = plans::open_topup(log.metadata(), id, guest, amount(100), charge);
        let mut topup = topup_of(&log.play(plan).await);
        if matches!(charge, Charge::Ordered(_)) {
            for (orders, page) in [(ordered(2, Some(at(60))), None), (ordered(2, None), page.clone())] {
                let plan = plans::order_topup(log.metadata(), &topup, orders, page);
                topup = topup_of(&log.play(plan).await);
            }
        }
        if let Some(confirmed) = settled {
            let plan = plans::settle_topup(log.metadata(), &topup, confirmed);
            let settled = topup_of(&log.play(plan).await);
            assert_eq!(log.scenario.stored_topup(topup.id).await, settled);
            log.take_back_or_suspend(guest, settled).await;
        }
    }
    for cents in [50, -20] {
        let plan = log.scenario.adjust_plan(log.metadata(), guest, cents).await;
        log.play(plan).await;
    }
    log.rewind().await;
}

/// The receipts of a profile, full and empty, with the balance of that time.
pub async fn receipts_of_user_changes_round_trip(store: Arc<dyn Store>) {
    let mut log = ReceiptLog::new(Scenario::new(store));
    let (guest, dj) = (log.scenario.guest(100).await, log.scenario.dj(100).await);
    let here = Coordinates::new(59.913_868_8, -0.300_000_000_000_000_04).unwrap();
    let change = ProfileChange {
        name: Field::Set(line("DJ Ünïcode 🎧")),
        phone: Field::Set(Some(line("+4722000000"))),
        city: Field::Set(Some(line("Oslo"))),
        place: Locate {
            latitude: Field::Set(Some(here.latitude())),
            longitude: Field::Set(Some(here.longitude())),
        },
        radius: Field::Set(Some(Kilometres::new(0.1).unwrap())),
        ..ProfileChange::default()
    };
    for user in [guest, dj] {
        log.play(plans::change_profile(log.metadata(), user, change.clone())).await;
        let plan = log.scenario.adjust_plan(log.metadata(), user, 7).await;
        log.play(plan).await;
        let nothing = plans::change_profile(log.metadata(), user, ProfileChange::default());
        log.play(nothing).await;
        for to in
            [UserStatusChange::Suspend, UserStatusChange::Role(Role::Auditor), UserStatusChange::Restore]
        {
            let plan = plans::change_user_status(log.metadata(), user, to);
            log.play(plan).await;
        }
    }
    log.rewind().await;
}

/// The receipt of a key is the receipt of its operation.
pub async fn idempotency_keys_return_the_receipts_of_their_operations(store: Arc<dyn Store>) {
    let mut log = ReceiptLog::new(Scenario::new(store));
    let (guest, dj) = (log.scenario.guest(1_000).await, log.scenario.dj(100).await);
    let key = |name| Some(key(guest, name, "body"));
    let metadata = OperationMetadata { key: key("request"), ..log.metadata() };
    let plan = log.scenario.request_plan(metadata, guest, dj, ArtistType::Popular, None).await.unwrap();
    log.play(plan).await;
    let metadata = OperationMetadata { key: key("withdrawal"), ..log.metadata() };
    let plan = log.scenario.withdrawal_plan(metadata, guest, 100).await.unwrap();
    log.play(plan).await;
    let metadata = OperationMetadata { key: key("topup"), ..log.metadata() };
    let id = log.scenario.ids.next_topup().await.unwrap();
    log.play(plans::open_topup(metadata, id, guest, amount(1), Charge::Confirmed)).await;
    let metadata = OperationMetadata { key: key("adjustment"), ..log.metadata() };
    let plan = log.scenario.adjust_plan(metadata, guest, -1).await;
    log.play(plan).await;
    let metadata = OperationMetadata { key: key("profile"), ..log.metadata() };
    log.play(plans::change_profile(metadata, guest, ProfileChange::default())).await;
    for (plan, receipt) in &log.played {
        let scope = plan.metadata().key.unwrap().scope;
        let record = log.scenario.store.find_key(&scope).await.unwrap().unwrap();
        assert_eq!((record.receipt.whole(), record.at), (Some(receipt), plan.metadata().at));
    }
    log.rewind().await;
}

/// After seven days, to the microsecond, a purge redacts profiles in receipts: the repeated operation is
/// stale, and not applied again. Its key is free by then, and receipts about money stay whole.
pub async fn profiles_in_receipts_are_kept_for_seven_days(store: Arc<dyn Store>) {
    let mut log = ReceiptLog::new(Scenario::new(store));
    let (user, operator) = (log.scenario.guest(1_000).await, log.scenario.guest(0).await);
    let key = key(user, "profile", "body");
    let change = ProfileChange { name: Field::Set(line("Ada")), ..ProfileChange::default() };
    let rename = plans::change_profile(
        OperationMetadata { key: Some(key), ..log.scenario.by(user, at(0)) },
        user,
        change.clone(),
    );
    log.play(rename).await;
    for change in
        [UserStatusChange::Suspend, UserStatusChange::Restore, UserStatusChange::Role(Role::Auditor)]
    {
        let metadata =
            OperationMetadata { reason: Some(line("a reason")), ..log.scenario.by(operator, at(0)) };
        log.play(plans::change_user_status(metadata, user, change)).await;
    }
    let young = plans::change_profile(log.scenario.by(user, at(1)), user, ProfileChange::default());
    let money = log.scenario.adjust_plan(log.scenario.by(operator, at(0)), user, 7).await;
    let kept =
        [(young.clone(), log.scenario.fresh(young).await), (money.clone(), log.scenario.fresh(money).await)];
    let end = at(0).plus(Receipt::RETENTION);

    log.scenario.store.purge_expired(end.minus(Duration::MICROSECOND)).await.unwrap();
    let again = plans::change_profile(
        OperationMetadata { key: Some(key), ..log.scenario.by(user, at(2)) },
        user,
        change,
    );
    let whole = log.played[0].1.clone();
    assert_eq!(log.scenario.apply(again.clone()).await, Ok(Applied::Replayed(whole)));
    for (plan, receipt) in &log.played {
        assert_eq!(log.scenario.apply(plan.clone()).await, Ok(Applied::Replayed(receipt.clone())));
    }

    log.scenario.store.purge_expired(end).await.unwrap();
    for (plan, _) in &log.played {
        assert_eq!(log.scenario.apply(plan.clone()).await, Err(Rejection::Stale), "{:?}", plan.kind());
    }
    assert_eq!(log.scenario.store.find_key(&key.scope).await.unwrap(), None);
    for (plan, receipt) in kept {
        assert_eq!(log.scenario.apply(plan).await, Ok(Applied::Replayed(receipt)));
    }
    log.scenario.fresh(again).await;
    log.scenario.audit().await;
}
