//! Tips: the gigs whose DJ can be tipped, and the order of the refusals.

use super::gig_endings::gig;
use super::*;
use crate::gig::{AssignedCode, DjCode, Gig};
use crate::ledger::Balance;
use crate::page::Rows;
use crate::tip::{Tip, TipRefusal};

type TipError = CommandError<TipDjRefusal, Infallible>;

fn code() -> DjCode {
    DjCode::new("K7TW3M").unwrap()
}

fn of(cents: i64) -> Amount {
    Amount::new(Money::from_minor(cents.into())).unwrap()
}

/// A store whose DJ 2 has this code and this newest gig.
fn gigs(newest: Gig) -> MockGigs {
    let assigned = || AssignedCode { code: code(), dj: user(2), at: now() };
    let open = newest.ended_at.is_none().then(|| newest.clone());
    let mut gigs = MockGigs::new();
    gigs.expect_assigned().with(eq(code())).returning(move |_| Ok(Some(assigned())));
    gigs.expect_code_of().returning(move |_| Ok(Some(assigned())));
    gigs.expect_open_gig().returning(move |_| Ok(open.clone()));
    gigs.expect_gigs().returning(move |_, _| Ok(Rows { rows: vec![newest.clone()], total: 1 }));
    gigs
}

/// A tip of this guest to the DJ of the gig, on a ledger that answers like this. The DJ blocks guest 4.
fn tip(guest: i64, newest: Gig, answer: Result<Applied, Rejection>) -> Result<Done<Tipped>, TipError> {
    let mut ledger = MockLedger::new();
    ledger.expect_apply().returning(move |_| answer.clone().map_err(ApplyError::Rejected));
    let mut blocks = MockBlocks::new();
    blocks.expect_is_blocked().returning(|_, guest| Ok(guest == user(4)));
    let mut requests = MockMusicRequests::new();
    requests.expect_overdue().returning(|_| Ok(Vec::new()));
    let terms =
        Terms { tips: TipTerms { max_amount: Some(of(2_000)), ..TipTerms::default() }, ..Terms::default() };
    let doubles = Doubles {
        ledger,
        gigs: gigs(newest),
        blocks,
        requests,
        people: people_with(false),
        ..Doubles::default()
    };
    let executor = Doubles { terms, ..doubles }.executor();
    let amount = of(if guest == 5 { 2_001 } else { 2_000 });
    run(executor.run(&context(guest), TipDj { code: code() }, input(amount)))
}

fn given() -> Tipped {
    let tip = Tip {
        id: TipId::new(6).unwrap(),
        guest: user(1),
        dj: user(2),
        gig: gig(None).id,
        amount: of(2_000),
        commission: Money::ZERO,
        created_at: now(),
    };
    Tipped { tip, balance: Balance::default() }
}

fn applied() -> Result<Applied, Rejection> {
    let Tipped { tip, balance } = given();
    let outcome = Outcome { entity: Entity::Tip(tip), balance: Some(balance) };
    Ok(Applied::Fresh(Receipt { outcome, ..receipt() }))
}

#[test]
fn a_dj_can_be_tipped_less_than_24_hours_after_the_gig() {
    let day = Duration::hours(24);
    let last = day - Duration::microseconds(1);
    for ended_at in [None, Some(now()), Some(now().minus(last))] {
        assert_eq!(tip(1, gig(ended_at), applied()).unwrap(), done(given(), false), "{ended_at:?}");
    }
    let late = tip(1, gig(Some(now().minus(day))), applied());
    assert!(matches!(late, Err(TipError::Failed(Failure::NotFound))), "{late:?}");
}

#[test]
fn a_tip_is_refused_by_its_rules_before_the_ledger_is_asked() {
    for (guest, rule) in
        [(2, TipRefusal::Oneself), (4, TipRefusal::Blocked), (5, TipRefusal::AboveLimit(of(2_000)))]
    {
        let refused = tip(guest, gig(None), Err(Rejection::Stale));
        let Err(TipError::Refused(TipDjRefusal::Rule(refusal))) = refused else { panic!("{refused:?}") };
        assert_eq!(refusal, rule);
    }
}

#[test]
fn a_tip_is_refused_by_what_the_ledger_finds() {
    let owed = Money::from_minor(5);
    let refusal = |rejection| tip(1, gig(None), Err(rejection)).unwrap_err();
    assert!(matches!(refusal(Rejection::Inactive), TipError::Failed(Failure::NotFound)));
    let short = refusal(Rejection::InsufficientFunds { available: Money::ZERO });
    assert!(matches!(short, TipError::Refused(TipDjRefusal::InsufficientFunds)), "{short:?}");
    let owing = refusal(Rejection::WalletOwes { owed });
    assert!(matches!(owing, TipError::Refused(TipDjRefusal::WalletOwes(sum)) if sum == owed), "{owing:?}");
}
