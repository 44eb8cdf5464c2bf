//! Receipts: the outcome of an operation reads back exactly as it was returned, a profile for seven days,
//! everything else forever.

use std::sync::Arc;

use cuepoint_domain::account::{
    AccountStatusChange, ArtistType, Coordinates, Field, Kilometres, Locate, ProfileChange, Role,
};
use cuepoint_domain::ids::UserId;
use cuepoint_domain::ledger::plans;
use cuepoint_domain::ledger::{Actor, OperationMetadata, Plan, Receipt, Rejection};
use cuepoint_domain::music_request;
use cuepoint_domain::ports::{Applied, Store};
use cuepoint_domain::text::PaymentUrl;
use cuepoint_domain::topup::{Charge, Orders, Topup, TopupStatus};
use cuepoint_domain::withdrawal;
use time::Duration;

use crate::world::{World, amount, at, key, line, money, request_of, topup_of, withdrawal_of};

/// Plans with their receipts, to be read back after everything has moved on.
struct Tape {
    world: World,
    played: Vec<(Plan, Receipt)>,
}

impl Tape {
    fn new(world: World) -> Self {
        Self { world, played: Vec::new() }
    }

    async fn play(&mut self, plan: Plan) -> Receipt {
        let receipt = self.world.fresh(plan.clone()).await;
        self.played.push((plan, receipt.clone()));
        receipt
    }

    /// A change by the service with a reason, a microsecond after a whole second.
    fn metadata(&self) -> OperationMetadata {
        let seconds = i64::try_from(self.played.len()).unwrap();
        let now = at(seconds).plus(Duration::MICROSECOND);
        OperationMetadata { reason: Some(line("a reason")), ..self.world.metadata(Actor::System, now) }
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
        assert_eq!(self.world.stored_topup(topup.id).await, settled);
    }

    /// Submits every plan again and expects its first receipt.
    async fn rewind(self) {
        for (plan, receipt) in self.played {
            assert_eq!(self.world.apply(plan).await, Ok(Applied::Replayed(receipt)));
        }
    }
}

/// The receipts of requests, in each of their states, with a boost and a commission.
pub async fn receipts_of_requests_read_back(store: Arc<dyn Store>) {
    use music_request::Move::{Accept, Cancel, Expire, Play, Refund, Reject};
    let mut tape = Tape::new(World::new(store).with_commission(333));
    let (guest, dj) = (tape.world.guest(10_000).await, tape.world.dj(100).await);
    let lives: [&[music_request::Move]; 5] =
        [&[Accept, Play, Refund], &[Reject], &[Cancel], &[Play], &[Expire]];
    for moves in lives {
        let boost = Some(money(177));
        let metadata = tape.metadata();
        let plan = tape.world.request_plan(metadata, guest, dj, ArtistType::Upcoming, boost).await.unwrap();
        let mut request = request_of(&tape.play(plan).await);
        for to in moves {
            let mut metadata = tape.metadata();
            if *to == Expire {
                metadata.at = at(5_000);
            }
            let plan = plans::move_request(metadata, &request, *to, &tape.world.requests).unwrap();
            request = request_of(&tape.play(plan).await);
            assert_eq!(tape.world.stored_request(request.id).await, request);
        }
    }
    tape.rewind().await;
}

/// The receipts of withdrawals, in each of their states, with and without a transaction.
pub async fn receipts_of_withdrawals_read_back(store: Arc<dyn Store>) {
    use withdrawal::Move::{
        Accepted, Approve, Broadcast, Cancel, Complete, Fail, Process, Refused, Reject, Review, Send,
    };
    let mut tape = Tape::new(World::new(store));
    let (guest, operator) = (tape.world.guest(10_000).await, tape.world.guest(0).await);
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
        vec![Cancel { by: guest }],
        vec![Reject { by: operator }],
    ];
    for moves in lives {
        let plan = tape.world.withdrawal_plan(tape.metadata(), guest, 123).await.unwrap();
        let mut withdrawal = withdrawal_of(&tape.play(plan).await);
        for to in moves {
            let plan = plans::move_withdrawal(tape.metadata(), &withdrawal, to).unwrap();
            withdrawal = withdrawal_of(&tape.play(plan).await);
            assert_eq!(tape.world.stored_withdrawal(withdrawal.id).await, withdrawal);
        }
    }
    tape.rewind().await;
}

/// The receipts of top-ups, in each of their states, and of adjustments.
pub async fn receipts_of_topups_and_adjustments_read_back(store: Arc<dyn Store>) {
    let mut tape = Tape::new(World::new(store));
    let guest = tape.world.guest(0).await;
    let page = PaymentUrl::new("https://pay.example.com/session?id=1&x=ü").ok();
    let ordered = |attempts, next_at| Orders { attempts, next_at };
    for (charge, settled) in [
        (Charge::Confirmed, None),
        (Charge::Pending, Some(false)),
        (Charge::Ordered(ordered(1, Some(at(30)))), Some(true)),
        (Charge::Ordered(ordered(1, Some(at(30)))), Some(false)),
    ] {
        let id = tape.world.ids.next_topup().await.unwrap();
        let plan = plans::open_topup(tape.metadata(), id, guest, amount(100), charge);
        let mut topup = topup_of(&tape.play(plan).await);
        if matches!(charge, Charge::Ordered(_)) {
            for (orders, page) in [(ordered(2, Some(at(60))), None), (ordered(2, None), page.clone())] {
                let plan = plans::order_topup(tape.metadata(), &topup, orders, page);
                topup = topup_of(&tape.play(plan).await);
            }
        }
        if let Some(confirmed) = settled {
            let plan = plans::settle_topup(tape.metadata(), &topup, confirmed);
            let settled = topup_of(&tape.play(plan).await);
            assert_eq!(tape.world.stored_topup(topup.id).await, settled);
            tape.take_back_or_suspend(guest, settled).await;
        }
    }
    for cents in [50, -20] {
        let plan = tape.world.adjust_plan(tape.metadata(), guest, cents).await;
        tape.play(plan).await;
    }
    tape.rewind().await;
}

/// The receipts of a profile, full and empty, with the balance of that time.
pub async fn receipts_of_profiles_read_back(store: Arc<dyn Store>) {
    let mut tape = Tape::new(World::new(store));
    let (guest, dj) = (tape.world.guest(100).await, tape.world.dj(100).await);
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
        tape.play(plans::change_profile(tape.metadata(), user, change.clone())).await;
        let plan = tape.world.adjust_plan(tape.metadata(), user, 7).await;
        tape.play(plan).await;
        let nothing = plans::change_profile(tape.metadata(), user, ProfileChange::default());
        tape.play(nothing).await;
        for to in [
            AccountStatusChange::Suspend,
            AccountStatusChange::Role(Role::Auditor),
            AccountStatusChange::Restore,
        ] {
            let plan = plans::change_account_status(tape.metadata(), user, to);
            tape.play(plan).await;
        }
    }
    tape.rewind().await;
}

/// The receipt of a key is the receipt of its operation.
pub async fn receipts_of_keys_read_back(store: Arc<dyn Store>) {
    let mut tape = Tape::new(World::new(store));
    let (guest, dj) = (tape.world.guest(1_000).await, tape.world.dj(100).await);
    let key = |name| Some(key(guest, name, "body"));
    let metadata = OperationMetadata { key: key("request"), ..tape.metadata() };
    let plan = tape.world.request_plan(metadata, guest, dj, ArtistType::Popular, None).await.unwrap();
    tape.play(plan).await;
    let metadata = OperationMetadata { key: key("withdrawal"), ..tape.metadata() };
    let plan = tape.world.withdrawal_plan(metadata, guest, 100).await.unwrap();
    tape.play(plan).await;
    let metadata = OperationMetadata { key: key("topup"), ..tape.metadata() };
    let id = tape.world.ids.next_topup().await.unwrap();
    tape.play(plans::open_topup(metadata, id, guest, amount(1), Charge::Confirmed)).await;
    let metadata = OperationMetadata { key: key("adjustment"), ..tape.metadata() };
    let plan = tape.world.adjust_plan(metadata, guest, -1).await;
    tape.play(plan).await;
    let metadata = OperationMetadata { key: key("profile"), ..tape.metadata() };
    tape.play(plans::change_profile(metadata, guest, ProfileChange::default())).await;
    for (plan, receipt) in &tape.played {
        let scope = plan.metadata().key.unwrap().scope;
        let record = tape.world.store.find_key(&scope).await.unwrap().unwrap();
        assert_eq!((record.receipt.whole(), record.at), (Some(receipt), plan.metadata().at));
    }
    tape.rewind().await;
}

/// After seven days, to the microsecond, a purge redacts profiles in receipts: the repeated operation is
/// stale, and not applied again. Its key is free by then, and receipts about money stay whole.
pub async fn profiles_in_receipts_are_kept_for_seven_days(store: Arc<dyn Store>) {
    let mut tape = Tape::new(World::new(store));
    let (user, operator) = (tape.world.guest(1_000).await, tape.world.guest(0).await);
    let key = key(user, "profile", "body");
    let change = ProfileChange { name: Field::Set(line("Ada")), ..ProfileChange::default() };
    let rename = plans::change_profile(
        OperationMetadata { key: Some(key), ..tape.world.by(user, at(0)) },
        user,
        change.clone(),
    );
    tape.play(rename).await;
    for change in
        [AccountStatusChange::Suspend, AccountStatusChange::Restore, AccountStatusChange::Role(Role::Auditor)]
    {
        let metadata = OperationMetadata { reason: Some(line("a reason")), ..tape.world.by(operator, at(0)) };
        tape.play(plans::change_account_status(metadata, user, change)).await;
    }
    let young = plans::change_profile(tape.world.by(user, at(1)), user, ProfileChange::default());
    let money = tape.world.adjust_plan(tape.world.by(operator, at(0)), user, 7).await;
    let kept =
        [(young.clone(), tape.world.fresh(young).await), (money.clone(), tape.world.fresh(money).await)];
    let end = at(0).plus(Receipt::RETENTION);

    tape.world.store.purge_expired(end.minus(Duration::MICROSECOND)).await.unwrap();
    let again = plans::change_profile(
        OperationMetadata { key: Some(key), ..tape.world.by(user, at(2)) },
        user,
        change,
    );
    let whole = tape.played[0].1.clone();
    assert_eq!(tape.world.apply(again.clone()).await, Ok(Applied::Replayed(whole)));
    for (plan, receipt) in &tape.played {
        assert_eq!(tape.world.apply(plan.clone()).await, Ok(Applied::Replayed(receipt.clone())));
    }

    tape.world.store.purge_expired(end).await.unwrap();
    for (plan, _) in &tape.played {
        assert_eq!(tape.world.apply(plan.clone()).await, Err(Rejection::Stale), "{:?}", plan.kind());
    }
    assert_eq!(tape.world.store.find_key(&key.scope).await.unwrap(), None);
    for (plan, receipt) in kept {
        assert_eq!(tape.world.apply(plan).await, Ok(Applied::Replayed(receipt)));
    }
    tape.world.fresh(again).await;
    tape.world.audit().await;
}
