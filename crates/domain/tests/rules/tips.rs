//! Tips: who can give them, how their money moves, and what the audit expects of them.

use crate::support::{DJ, GUEST, Ledger, OPERATOR, amount, at, balance, money, new_gig, user};
use cuepoint_domain::audit::{Finding, Flaw};
use cuepoint_domain::entity_ref::EntityRef;
use cuepoint_domain::event::{Audience, EventType};
use cuepoint_domain::gig::{AssignedCode, DjCode, Gig};
use cuepoint_domain::ids::{GigId, TipId};
use cuepoint_domain::ledger::{EntryKind, TransferKind};
use cuepoint_domain::money::BasisPoints;
use cuepoint_domain::operation::feature_level::FeatureLevel;
use cuepoint_domain::operation::{Entity, Plan, Receipt, Rejection, StoredReceipt, plans};
use cuepoint_domain::tip::{Tip, TipDirection, TipFilter, TipRefusal, TipTerms, TippedDj, sum};
use cuepoint_domain::topup::Charge;
use time::Duration;

fn id(number: i64) -> TipId {
    TipId::new(number).unwrap()
}

fn terms(bps: u16) -> TipTerms {
    TipTerms { commission: BasisPoints::new(bps).unwrap(), ..TipTerms::default() }
}

/// A ledger whose guest has this amount, and an open gig of the DJ.
fn evening(available: i128) -> (Ledger, Gig) {
    let mut ledger = Ledger::new(1_000, available);
    let new = new_gig();
    let code = AssignedCode { code: DjCode::new("K7TW3M").unwrap(), dj: user(DJ), at: at(0) };
    let gig = GigId::new(1).unwrap();
    let plan = plans::open_gig(ledger.metadata(at(10)), gig, code, true, new).unwrap();
    ledger.apply(&plan).unwrap();
    let gig = ledger.book.get(gig).unwrap().clone();
    (ledger, gig)
}

fn plan(ledger: &mut Ledger, number: i64, gig: &Gig, cents: i128, bps: u16) -> Plan {
    let (metadata, to) = (ledger.metadata(at(20)), TippedDj { gig, blocks_guest: false });
    plans::tip(metadata, id(number), user(GUEST), to, amount(cents), &terms(bps)).unwrap()
}

fn give(ledger: &mut Ledger, number: i64, gig: &Gig, cents: i128, bps: u16) -> Result<Receipt, Rejection> {
    let plan = plan(ledger, number, gig, cents, bps);
    ledger.apply(&plan)
}

/// A change of a stored tip.
type Edit<'e> = &'e dyn Fn(&mut Tip);

fn edit(ledger: &mut Ledger, edit: impl Fn(&mut Tip)) {
    edit(ledger.book.get_mut(id(1)).unwrap());
}

#[test]
fn a_tip_moves_available_money_to_the_dj_less_the_commission() {
    let (mut ledger, gig) = evening(1_000);
    let receipt = give(&mut ledger, 1, &gig, 400, 1_250).unwrap();
    assert_eq!((ledger.balance(GUEST), ledger.balance(DJ)), (balance(600, 0, 0), balance(350, 0, 0)));
    assert_eq!(receipt.outcome.balance, Some(balance(600, 0, 0)), "the answer shows the guest's balance");
    let Entity::Tip(tip) = receipt.outcome.entity else { panic!("no tip") };
    let expected = Tip {
        id: id(1),
        guest: user(GUEST),
        dj: user(DJ),
        gig: gig.id,
        amount: amount(400),
        commission: money(50),
        created_at: at(20),
    };
    assert_eq!(tip, expected);
    let kinds: Vec<_> = ledger.entries[1..].iter().map(|entry| (entry.wallet, entry.kind)).collect();
    assert_eq!(kinds, [(user(GUEST), EntryKind::Tip), (user(DJ), EntryKind::Earning)]);
    assert!(ledger.entries[1..].iter().all(|entry| entry.reference == EntityRef::Tip(id(1))));
    ledger.audit().unwrap();
}

#[test]
fn the_commission_of_a_tip_is_rounded_as_of_a_fee() {
    for (cents, bps, commission) in
        [(1, 5_000, 0), (3, 5_000, 2), (345, 1_000, 34), (355, 1_000, 36), (7, 0, 0), (7, 10_000, 7)]
    {
        let (mut ledger, gig) = evening(1_000);
        assert_eq!(money(cents).share(BasisPoints::new(bps).unwrap()), Some(money(commission)));
        give(&mut ledger, 1, &gig, cents, bps).unwrap();
        assert_eq!(ledger.balance(DJ).available, money(cents - commission), "{cents} at {bps}");
        assert_eq!(ledger.balance(GUEST).available, money(1_000 - cents));
        ledger.audit().unwrap();
    }
}

#[test]
fn the_transfers_of_a_tip_need_feature_level_2() {
    let (mut ledger, gig) = evening(1_000);
    let plan = plan(&mut ledger, 1, &gig, 100, 1_000);
    assert_eq!(plan.feature_level(), FeatureLevel::Level2);
    ledger.book.feature_level = FeatureLevel::Level1;
    assert_eq!(ledger.apply(&plan), Err(Rejection::NotFinalized));
    assert_eq!(TransferKind::Tip.debit_entry(), EntryKind::Tip);
    assert_eq!(TransferKind::Tip.credit_entry(), EntryKind::Earning);
}

#[test]
fn a_tip_is_an_event_for_the_guest_and_the_dj() {
    let (mut ledger, gig) = evening(1_000);
    let plan = plan(&mut ledger, 1, &gig, 100, 0);
    let receipt = ledger.apply(&plan).unwrap();
    assert_eq!(EventType::of(plan.kind(), &receipt.outcome), Some(EventType::TipCreated));
    let stored = StoredReceipt::Whole(receipt);
    let audience = Audience::of(Some(plan.kind()), &stored);
    assert_eq!(audience, Audience { owner: Some(user(GUEST)), dj: Some(user(DJ)) });
}

#[test]
fn refused_tips_state_the_first_reason() {
    let (mut ledger, mut gig) = evening(1_000);
    let limited = TipTerms { min_amount: Some(amount(50)), max_amount: Some(amount(500)), ..terms(0) };
    let mut refusal = |gig: &Gig, blocks_guest, cents| {
        let to = TippedDj { gig, blocks_guest };
        plans::tip(ledger.metadata(at(20)), id(1), user(GUEST), to, amount(cents), &limited).err()
    };
    assert_eq!((refusal(&gig, false, 50), refusal(&gig, false, 500)), (None, None));
    assert_eq!(refusal(&gig, false, 49), Some(TipRefusal::TooSmall(amount(50))));
    assert_eq!(refusal(&gig, false, 501), Some(TipRefusal::AboveLimit(amount(500))));
    for cents in [49, 501] {
        assert_eq!(refusal(&gig, true, cents), Some(TipRefusal::Blocked));
    }
    gig.dj = user(GUEST);
    assert_eq!(refusal(&gig, true, 501), Some(TipRefusal::Oneself));
}

#[test]
fn a_gig_is_recent_until_24_hours_after_its_end() {
    let (_, gig) = evening(0);
    let day = Duration::hours(24);
    assert!(gig.is_recent(at(10).plus(day).plus(day)), "while it is open");
    let ended = Gig { ended_at: Some(at(100)), ..gig };
    assert!(ended.is_recent(at(100).plus(day).minus(Duration::microseconds(1))));
    assert!(!ended.is_recent(at(100).plus(day)));
}

#[test]
fn a_tip_needs_the_whole_amount_and_a_wallet_without_debt() {
    let (mut ledger, gig) = evening(1_000);
    let short = Err(Rejection::InsufficientFunds { available: money(1_000) });
    // The remainder after the commission alone would be covered.
    assert_eq!(give(&mut ledger, 1, &gig, 1_001, 5_000), short);
    ledger.topup(1, GUEST, 500, Charge::Confirmed).unwrap();
    ledger.withdraw(1, GUEST, 1_200).unwrap();
    ledger.reverse(1).unwrap();
    assert_eq!(give(&mut ledger, 1, &gig, 1, 0), Err(Rejection::WalletOwes { owed: money(200) }));
}

#[test]
fn a_tip_pays_the_debt_of_the_dj_first() {
    let (mut ledger, gig) = evening(1_000);
    ledger.topup(1, DJ, 300, Charge::Confirmed).unwrap();
    ledger.withdraw(1, DJ, 300).unwrap();
    ledger.reverse(1).unwrap();
    give(&mut ledger, 1, &gig, 200, 1_000).unwrap();
    assert_eq!(ledger.balance(DJ), balance(0, 300, 120));
    give(&mut ledger, 2, &gig, 200, 1_000).unwrap();
    assert_eq!(ledger.balance(DJ), balance(60, 300, 0));
    ledger.audit().unwrap();
}

#[test]
fn a_dj_who_is_suspended_or_erased_gets_no_tip() {
    let (mut ledger, gig) = evening(1_000);
    let change = |ledger: &mut Ledger, suspended: bool, erased: bool| {
        let mut dj = ledger.book.get(user(DJ)).unwrap().clone();
        dj.suspended_at = suspended.then(|| at(15));
        dj.erased_at = erased.then(|| at(15));
        ledger.book.put(dj);
    };
    for (suspended, erased) in [(true, false), (false, true)] {
        change(&mut ledger, suspended, erased);
        assert_eq!(give(&mut ledger, 1, &gig, 100, 0), Err(Rejection::Inactive));
    }
    change(&mut ledger, false, false);
    give(&mut ledger, 1, &gig, 100, 0).unwrap();
}

#[test]
fn a_list_of_tips_has_one_direction() {
    let tip = |guest: i64, dj: i64| Tip {
        id: id(1),
        guest: user(guest),
        dj: user(dj),
        gig: GigId::new(1).unwrap(),
        amount: amount(1),
        commission: money(0),
        created_at: at(0),
    };
    for (direction, given, received) in
        [(TipDirection::Given, true, false), (TipDirection::Received, false, true)]
    {
        let filter = TipFilter { user: user(GUEST), direction };
        let shown = [tip(GUEST, DJ), tip(DJ, GUEST), tip(DJ, OPERATOR)].map(|tip| filter.shows(&tip));
        assert_eq!(shown, [given, received, false], "{direction:?}");
    }
}

#[test]
fn tips_that_are_too_much_together_have_no_sum() {
    assert_eq!(sum([]), Some(money(0)));
    assert_eq!(sum([amount(1), amount(2)]), Some(money(3)));
    assert_eq!(sum([amount(i128::MAX), amount(1)]), None);
}

#[test]
fn the_audit_derives_the_records_of_a_tip_from_its_amounts() {
    let (mut sound, gig) = evening(1_000);
    give(&mut sound, 1, &gig, 345, 1_000).unwrap();
    let operation = sound.entries[1].operation;
    let found = |flaw| Err(Finding::Entity { reference: EntityRef::Tip(id(1)), flaw });
    let (guest, dj) = (user(GUEST), user(DJ));
    let changes: [(Edit<'_>, Flaw); 6] = [
        (&|tip| tip.amount = amount(346), Flaw::Entry { wallet: guest, seq: 2 }),
        (&|tip| tip.commission = money(35), Flaw::Entry { wallet: dj, seq: 1 }),
        (&|tip| tip.commission = money(346), Flaw::Terms),
        (&|tip| tip.commission = money(-1), Flaw::Terms),
        (&|tip| tip.dj = user(OPERATOR), Flaw::Lacks(EntryKind::Earning)),
        (&|tip| tip.gig = GigId::new(2).unwrap(), Flaw::Record(operation)),
    ];
    for (change, flaw) in changes {
        let mut ledger = sound.clone();
        edit(&mut ledger, change);
        assert_eq!(ledger.audit(), found(flaw), "{flaw:?}");
    }
    let mut twice = sound.clone();
    let copy = Tip { id: id(2), ..twice.book.get(id(1)).unwrap().clone() };
    twice.book.put(copy);
    let flaw = Flaw::Lacks(EntryKind::Tip);
    assert_eq!(twice.audit(), Err(Finding::Entity { reference: EntityRef::Tip(id(2)), flaw }));
    let mut unposted = sound.clone();
    unposted.postings.pop();
    assert_eq!(unposted.audit(), found(Flaw::Postings(operation)));
}
