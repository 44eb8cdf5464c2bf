//! Commands about requests and withdrawals, and the expiry of requests.

use super::*;
use crate::address::{AddressPolicy, DestinationRefusal};
use crate::application::executor::Expiry;
use crate::money::Currency;
use crate::music_request::{Agreement, OpenRefusal, QueueRefusal, RequestStatus};
use crate::operation::Entity;
use crate::withdrawal::{self, Limit, NewWithdrawal, WithdrawalAmount, WithdrawalState};

const ANSWER: AnswerRequest = AnswerRequest { id: RequestId::new(7).unwrap() };
const CANCEL: CancelRequest = CancelRequest { id: RequestId::new(7).unwrap() };

type MoveError = CommandError<InvalidTransition, Infallible>;

/// Requests whose first load finds the request, and each further one the next of these states.
fn stored(states: Vec<RequestState>) -> MockMusicRequests {
    let mut kept = MockMusicRequests::new();
    let mut turn = mockall::Sequence::new();
    for state in states {
        let found = MusicRequest { state, ..request() };
        kept.expect_request().once().in_sequence(&mut turn).returning(move |_| Ok(Some(found.clone())));
    }
    kept
}

#[test]
fn a_stale_transition_is_retried_as_the_same_operation() {
    let mut ledger = MockLedger::new();
    let mut turn = mockall::Sequence::new();
    let same = |plan: &Plan| plan.metadata().operation == OperationId(42);
    ledger.expect_apply().withf(same).once().in_sequence(&mut turn).returning(|_| rejected(Rejection::Stale));
    ledger
        .expect_apply()
        .withf(same)
        .once()
        .in_sequence(&mut turn)
        .returning(|_| Ok(Applied::Fresh(receipt())));
    let kept = stored(vec![request().state, request().state]);
    let executor = requests(ledger, kept, MockPeople::new());
    let answered = run(executor.run(&context(2), ANSWER, input(DjAnswer::Accept)));
    assert_eq!(answered.unwrap(), done(request(), false));
}

#[test]
fn a_command_fails_with_a_conflict_after_three_stale_attempts() {
    let mut ledger = MockLedger::new();
    ledger.expect_apply().times(3).returning(|_| rejected(Rejection::Stale));
    let mut kept = MockMusicRequests::new();
    kept.expect_request().returning(|_| Ok(Some(request())));
    let executor = requests(ledger, kept, MockPeople::new());
    let answered = run(executor.run(&context(2), ANSWER, input(DjAnswer::Accept)));
    assert!(matches!(answered, Err(MoveError::Failed(Failure::Conflict))), "{answered:?}");
}

#[test]
fn a_stale_transition_can_be_refused_on_retry() {
    let mut ledger = MockLedger::new();
    ledger.expect_apply().once().returning(|_| rejected(Rejection::Stale));
    let kept = stored(vec![request().state, RequestState::Cancelled { at: now() }]);
    let executor = requests(ledger, kept, MockPeople::new());
    let answered = run(executor.run(&context(2), ANSWER, input(DjAnswer::Accept)));
    let Err(MoveError::Refused(InvalidTransition { current, allowed })) = answered else {
        panic!("{answered:?}")
    };
    assert_eq!((current, allowed), ("cancelled", vec![]));
}

#[test]
fn a_request_of_an_ended_gig_can_only_be_rejected_by_its_dj() {
    let mut ledger = MockLedger::new();
    ledger.expect_apply().once().returning(|_| rejected(Rejection::GigEnded(RequestStatus::Pending)));
    let executor = requests(ledger, stored(vec![request().state]), MockPeople::new());
    let answered = run(executor.run(&context(2), ANSWER, input(DjAnswer::Play)));
    let Err(MoveError::Refused(InvalidTransition { current, allowed })) = answered else {
        panic!("{answered:?}")
    };
    assert_eq!((current, allowed), ("pending", vec!["rejected"]));
}

#[test]
fn overdue_fees_are_released_if_a_guest_lacks_funds_for_a_request() {
    let mut ledger = MockLedger::new();
    let mut turn = mockall::Sequence::new();
    let kind = |wanted: &'static str| move |plan: &Plan| plan.kind().name() == wanted;
    ledger.expect_apply().withf(kind("open_request")).once().in_sequence(&mut turn).returning(|_| broke());
    ledger
        .expect_apply()
        .withf(kind("move_request"))
        .once()
        .in_sequence(&mut turn)
        .returning(|_| Ok(Applied::Fresh(receipt())));
    ledger
        .expect_apply()
        .withf(kind("open_request"))
        .once()
        .in_sequence(&mut turn)
        .returning(|_| Ok(Applied::Fresh(receipt())));
    let mut kept = MockMusicRequests::new();
    let overdue = MusicRequest { state: RequestState::Pending { answer_by: now() }, ..request() };
    kept.expect_overdue()
        .withf(|which| which.requester == Some(user(1)))
        .returning(move |_| Ok(vec![overdue.clone()]));
    let executor = requests(ledger, kept, people_with(true));
    assert!(run(executor.run(&context(1), OpenRequest, input(wish()))).is_ok());
}

#[test]
fn a_guest_who_lacks_funds_is_refused_if_no_fee_is_overdue() {
    let mut ledger = MockLedger::new();
    ledger.expect_apply().times(2).returning(|_| broke());
    let mut kept = MockMusicRequests::new();
    kept.expect_overdue().once().returning(|_| Ok(vec![]));
    let executor = requests(ledger, kept, people_with(true));
    let opened = run(executor.run(&context(1), OpenRequest, input(wish())));
    assert!(matches!(opened, Err(OpenError::Refused(OpenRequestRefusal::InsufficientFunds))), "{opened:?}");
}

#[test]
fn overdue_fees_are_released_only_for_rejections_that_released_money_can_prevent() {
    let (owed, cleared) = (Money::from_minor(1), Limit::Cleared(Money::ZERO));
    let single = Limit::Single(Amount::new(Money::from_minor(1)).unwrap());
    for (rejection, attempts) in [
        (Rejection::InsufficientFunds { available: Money::ZERO }, 2),
        (Rejection::WalletOwes { owed }, 2),
        (Rejection::LimitExceeded(cleared), 2),
        (Rejection::LimitExceeded(single), 1),
        (Rejection::EmailUnverified, 1),
    ] {
        let mut ledger = MockLedger::new();
        ledger.expect_apply().times(attempts).returning(move |_| rejected(rejection));
        let mut kept = MockMusicRequests::new();
        kept.expect_overdue().times(attempts - 1).returning(|_| Ok(vec![]));
        let executor = requests(ledger, kept, people_with(true));
        assert!(run(executor.run(&context(1), OpenRequest, input(wish()))).is_err(), "{rejection:?}");
    }
}

/// The answer to a keyed request to an offline DJ, if the ledger has this record of its key by then.
fn refused_with(known: Option<KeyRecord>) -> Result<Done<MusicRequest>, OpenError> {
    let context = Context { key: Some(key(b"{}")), ..context(1) };
    let executor = requests(known_later(known), MockMusicRequests::new(), people_with(false));
    run(executor.run(&context, OpenRequest, input(wish())))
}

#[test]
fn a_concurrent_use_of_the_idempotency_key_overrides_a_refusal() {
    let record = |body: &[u8], at| KeyRecord { key: key(body), receipt: StoredReceipt::Whole(receipt()), at };
    let offline =
        |answer| matches!(answer, Err(OpenError::Refused(OpenRequestRefusal::Rule(OpenRefusal::DjOffline))));
    assert!(offline(refused_with(None)));
    assert_eq!(refused_with(Some(record(b"{}", now()))).unwrap(), done(request(), true));
    let other = refused_with(Some(record(b"other", now())));
    assert!(matches!(other, Err(OpenError::Failed(Failure::KeyReused))), "{other:?}");
    let old = now().minus(KeyRecord::RETENTION);
    assert!(offline(refused_with(Some(record(b"other", old)))));
}

#[test]
fn a_concurrent_success_overrides_the_refusal_of_a_destination() {
    let open = |known: Option<KeyRecord>| {
        let withdrawals =
            WithdrawalTerms { address_policy: AddressPolicy::Strict, ..WithdrawalTerms::default() };
        let terms = Terms { withdrawals, ..Terms::default() };
        let executor = Doubles { ledger: known_later(known), terms, ..Doubles::default() }.executor();
        let line = |text| Line::new(text).unwrap();
        let amount = Amount::new(Money::from_minor(500)).unwrap();
        let new = NewWithdrawal {
            amount: WithdrawalAmount::new(amount, &Currency::new("USD", 2).unwrap()).unwrap(),
            wallet_address: line("somewhere"),
            currency: line("BTC"),
            network: line("bitcoin"),
        };
        let context = Context { key: Some(key(b"{}")), ..context(1) };
        let command = OpenWithdrawal { address_policy: AddressPolicy::Lenient };
        run(executor.run(&context, command, input(new)))
    };
    let refused = open(None);
    let Err(CommandError::Refused(OpenWithdrawalRefusal::Rule(withdrawal::OpenRefusal::Destination(
        refusal,
    )))) = refused
    else {
        panic!("{refused:?}")
    };
    assert_eq!(refusal, DestinationRefusal::Currency);
    let withdrawal = operators::withdrawal(WithdrawalState::Pending);
    let outcome = Outcome {
        entity: Entity::Withdrawal(withdrawal.clone()),
        balance: Some(crate::ledger::Balance::default()),
    };
    let receipt = StoredReceipt::Whole(Receipt { outcome, ..receipt() });
    let replayed = open(Some(KeyRecord { key: key(b"{}"), receipt, at: now() })).unwrap();
    assert_eq!((replayed.value.withdrawal, replayed.replayed), (withdrawal, true));
}

#[test]
fn only_the_dj_answers_a_request_and_strangers_cannot_see_it() {
    let answer = |number, id| {
        let mut kept = MockMusicRequests::new();
        kept.expect_request().returning(|id| Ok((id == request().id).then(request)));
        let mut ledger = MockLedger::new();
        ledger.expect_apply().returning(|_| Ok(Applied::Fresh(receipt())));
        let executor = requests(ledger, kept, MockPeople::new());
        let command = AnswerRequest { id: RequestId::new(id).unwrap() };
        run(executor.run(&context(number), command, input(DjAnswer::Accept)))
    };
    assert!(answer(2, 7).is_ok());
    assert!(matches!(answer(1, 7), Err(MoveError::Failed(Failure::Denied(_)))));
    assert!(matches!(answer(3, 7), Err(MoveError::Failed(Failure::NotFound))));
    assert!(matches!(answer(2, 8), Err(MoveError::Failed(Failure::NotFound))));
}

#[test]
fn the_dj_of_a_request_cannot_cancel_it() {
    let mut kept = MockMusicRequests::new();
    kept.expect_request().returning(|_| Ok(Some(request())));
    let executor = requests(MockLedger::new(), kept, MockPeople::new());
    let cancelled = run(executor.run(&context(2), CANCEL, input(())));
    assert!(matches!(cancelled, Err(MoveError::Failed(Failure::Denied(_)))), "{cancelled:?}");
}

/// The expiry of two overdue requests, the first of which the ledger rejects.
fn sweep(first: Rejection) -> Result<u64, Failure> {
    let mut ledger = MockLedger::new();
    let mut turn = mockall::Sequence::new();
    ledger.expect_apply().once().in_sequence(&mut turn).return_once(move |_| rejected(first));
    ledger.expect_apply().once().in_sequence(&mut turn).returning(|_| Ok(Applied::Fresh(receipt())));
    let mut requests = MockMusicRequests::new();
    let overdue = MusicRequest { state: RequestState::Pending { answer_by: now() }, ..request() };
    requests.expect_overdue().once().returning(move |_| Ok(vec![overdue.clone(), overdue.clone()]));
    run(Expiry { env: &Doubles { ledger, requests, ..Doubles::default() }.env() }.settle())
}

#[test]
fn a_sweep_skips_requests_closed_concurrently() {
    assert_eq!(sweep(Rejection::Stale).unwrap(), 1);
}

#[test]
fn a_sweep_continues_past_a_broken_request_and_reports_it() {
    let swept = sweep(Rejection::Broken("a cent is gone"));
    assert!(matches!(swept, Err(Failure::Broken("a cent is gone"))), "{swept:?}");
}

#[test]
fn a_blocked_guest_is_refused_before_the_price_is_disclosed() {
    let cheap = NewRequest { fee: Some(Agreement::Exactly(Money::ZERO)), ..wish() };
    let executor = requests(MockLedger::new(), MockMusicRequests::new(), people_with(true));
    let opened = run(executor.run(&context(4), OpenRequest, input(cheap)));
    assert!(
        matches!(opened, Err(OpenError::Refused(OpenRequestRefusal::Rule(OpenRefusal::Blocked)))),
        "{opened:?}"
    );
}

#[test]
fn a_request_with_a_fee_is_decided_again_if_the_queue_is_full() {
    let full = QueueRefusal::Full(300);
    for (artist_type, refusal, decisions) in [
        (ArtistType::Popular, full, 2),
        (ArtistType::Upcoming, full, 1),
        (ArtistType::Popular, QueueRefusal::TooManyMade(20_000), 1),
    ] {
        let mut ledger = MockLedger::new();
        ledger.expect_apply().times(decisions).returning(move |_| rejected(Rejection::NoRoom(refusal)));
        let mut gigs = MockGigs::new();
        gigs.expect_open_gig().returning(|_| Ok(Some(gig_endings::gig(None))));
        gigs.expect_gig_requests().times(decisions - 1).returning(|_, which, _| {
            assert_eq!(which, GigRequests::OpenInGig);
            Ok(vec![request()])
        });
        let mut blocks = MockBlocks::new();
        blocks.expect_is_blocked().returning(|_, _| Ok(false));
        let people = people_with(true);
        let executor = Doubles { ledger, gigs, people, blocks, ..Doubles::default() }.executor();
        let new = NewRequest { artist_type, ..wish() };
        let opened = run(executor.run(&context(1), OpenRequest, input(new)));
        let expected = OpenRequestRefusal::NoRoom(refusal);
        assert!(matches!(opened, Err(OpenError::Refused(ref refused)) if *refused == expected), "{opened:?}");
    }
}

#[test]
fn entities_that_the_caller_may_not_read_are_not_found() {
    for (number, concealed) in [(2, false), (4, true)] {
        let kept = stored(vec![request().state]);
        let executor = requests(MockLedger::new(), kept, MockPeople::new());
        let cancelled = run(executor.run(&context(number), CANCEL, input(())));
        match cancelled {
            Err(MoveError::Failed(Failure::NotFound)) => assert!(concealed),
            Err(MoveError::Failed(Failure::Denied(_))) => assert!(!concealed, "the DJ may read it"),
            other => panic!("{other:?}"),
        }
    }
    let mut withdrawals = MockWithdrawals::new();
    let found = super::operators::withdrawal(WithdrawalState::Pending);
    withdrawals.expect_withdrawal().once().return_once(move |_| Ok(Some(found)));
    let executor = Doubles { withdrawals, ..Doubles::default() }.executor();
    let cancel = CancelWithdrawal { id: WithdrawalId::new(5).unwrap() };
    let cancelled = run(executor.run(&context(2), cancel, input(())));
    assert!(matches!(cancelled, Err(CommandError::Failed(Failure::NotFound))), "{cancelled:?}");
}
