//! Messages about one top-up and one withdrawal, on doubles of the ports.

mod sandbox;
mod topups;

use super::*;
use crate::entity_ref::EntityKind;
use crate::ids::ProviderMessageId;
use crate::ledger::Balance;
use crate::operation::{Entity, Step};
use crate::page::{PageRequest, Rows};
use crate::provider_message::{
    AlreadyResolved, Contradiction, Excerpt, MessageFilter, MessageRecord, MessageSource, PresentedPayment,
    ProviderMessage, Resolution, WebhookId,
};
use crate::provider_reference::MessageSubject;
use crate::topup::{Orders, PaidAmount, PaidCurrency, Payment, TopupStatus, TopupUpdate};
use crate::withdrawal::{PayoutUpdate, Withdrawal, WithdrawalState};

const OPENING: OperationId = OperationId(0x0193_a5f0_1c2d_7abc_8def_0011_2233_aabb);
const REFERENCE: &str = "0193a5f0-1c2d-7abc-8def-00112233aabb";
const UNKNOWN: &str = "00000000-0000-0000-0000-000000000001";

fn at(seconds: i64) -> Timestamp {
    Timestamp::EPOCH.plus(Duration::seconds(seconds))
}

fn line(text: &str) -> Line {
    Line::new(text).unwrap()
}

fn topup(status: TopupStatus, opening: Option<OperationId>) -> Topup {
    Topup {
        id: TopupId::new(5).unwrap(),
        opening,
        user: user(1),
        amount: Amount::new(Money::from_minor(500)).unwrap(),
        status,
        payment_url: None,
        page_code: None,
        orders: Some(Orders::default()),
        suspense: None,
        created_at: at(0),
        updated_at: at(0),
    }
}

fn withdrawal(state: WithdrawalState, opening: Option<OperationId>) -> Withdrawal {
    Withdrawal {
        id: WithdrawalId::new(5).unwrap(),
        opening,
        user: user(1),
        amount: Amount::new(Money::from_minor(500)).unwrap(),
        wallet_address: line("bc1q"),
        currency: line("BTC"),
        network: line("bitcoin"),
        state,
        approvals: Vec::new(),
        created_at: at(0),
        updated_at: at(0),
    }
}

/// One top-up and one withdrawal, the plans that moved them, and the stored messages.
struct Scene {
    topup: Mutex<Topup>,
    withdrawal: Mutex<Withdrawal>,
    /// A concurrent change of the top-up before the next plan is applied.
    race: Mutex<Option<TopupStatus>>,
    kept: Mutex<Vec<MessageRecord>>,
    /// Whether the top-up's owner was erased.
    erased: Mutex<bool>,
    /// Whether the owner is erased before the next plan is applied.
    leaving: Mutex<bool>,
}

impl Scene {
    fn new(status: TopupStatus, state: WithdrawalState, opening: Option<OperationId>) -> Arc<Self> {
        Arc::new(Self {
            topup: topup(status, opening).into(),
            withdrawal: withdrawal(state, opening).into(),
            race: None.into(),
            kept: Mutex::default(),
            erased: Mutex::default(),
            leaving: Mutex::default(),
        })
    }

    fn pending() -> Arc<Self> {
        Self::new(TopupStatus::Pending, WithdrawalState::Approved, Some(OPENING))
    }

    fn apply(&self, plan: &Plan) -> Result<Applied, ApplyError> {
        let outcome = match plan.step() {
            Step::Move { after: Entity::Topup(Topup { suspense: Some(suspense), .. }), .. } => {
                let mut stored = self.topup.lock().unwrap();
                assert_eq!(stored.status, TopupStatus::Failed, "its failure is an operation of its own");
                stored.suspense = Some(suspense.clone());
                Outcome { entity: Entity::Topup(stored.clone()), balance: None }
            }
            Step::Move { before: Entity::Topup(before), after: Entity::Topup(after) } => {
                let mut stored = self.topup.lock().unwrap();
                if let Some(status) = self.race.lock().unwrap().take() {
                    stored.status = status;
                }
                if stored.status != before.status {
                    return Err(ApplyError::Rejected(Rejection::Stale));
                }
                if std::mem::take(&mut *self.leaving.lock().unwrap()) {
                    *self.erased.lock().unwrap() = true;
                    return Err(ApplyError::Rejected(Rejection::Missing(EntityKind::User)));
                }
                stored.status = after.status;
                Outcome { entity: Entity::Topup(stored.clone()), balance: None }
            }
            Step::Move { after: Entity::Withdrawal(after), .. } => {
                let mut stored = self.withdrawal.lock().unwrap();
                stored.state = after.state.clone();
                Outcome { entity: Entity::Withdrawal(stored.clone()), balance: Some(Balance::default()) }
            }
            other => panic!("{other:?}"),
        };
        let operation = plan.metadata().operation;
        Ok(Applied::Fresh(Receipt { operation, at: at(9), rules: plan.rules, outcome }))
    }

    fn kept(&self) -> Vec<MessageRecord> {
        self.kept.lock().unwrap().clone()
    }

    fn topups(self: &Arc<Self>) -> MockTopups {
        let mut topups = MockTopups::new();
        let scene = self.clone();
        topups.expect_topup().returning(move |asked| {
            let stored = scene.topup.lock().unwrap().clone();
            Ok(Some(stored).filter(|topup| topup.id == asked))
        });
        let scene = self.clone();
        topups.expect_topup_opened_by().returning(move |asked| {
            let stored = scene.topup.lock().unwrap().clone();
            Ok(Some(stored).filter(|topup| topup.opening == Some(asked)))
        });
        topups
    }

    fn withdrawals(self: &Arc<Self>) -> MockWithdrawals {
        let mut withdrawals = MockWithdrawals::new();
        let scene = self.clone();
        withdrawals.expect_withdrawal().returning(move |asked| {
            let stored = scene.withdrawal.lock().unwrap().clone();
            Ok(Some(stored).filter(|withdrawal| withdrawal.id == asked))
        });
        let scene = self.clone();
        withdrawals.expect_withdrawal_opened_by().returning(move |asked| {
            let stored = scene.withdrawal.lock().unwrap().clone();
            Ok(Some(stored).filter(|withdrawal| withdrawal.opening == Some(asked)))
        });
        withdrawals
    }

    fn people(self: &Arc<Self>) -> MockPeople {
        let mut people = MockPeople::new();
        let scene = self.clone();
        people.expect_profile().returning(move |id| {
            let (name, email) = (line("Ada"), Email::new("ada@example.com").unwrap());
            let erased_at = scene.erased.lock().unwrap().then(|| at(8));
            let user = User { erased_at, ..User::registered(id, name, email, None, false, at(0)) };
            Ok(Some(Profile { user, balance: Balance::default() }))
        });
        people
    }

    /// A store that stores every message.
    fn keeps(self: &Arc<Self>) -> MockProviderMessages {
        let mut messages = MockProviderMessages::new();
        let scene = self.clone();
        messages.expect_record_message().returning(move |record, most| {
            assert_eq!(most, ProviderMessage::MAX_UNRESOLVED);
            scene.kept.lock().unwrap().push(record.clone());
            Ok(Recorded::Added)
        });
        messages
    }

    fn inbox(self: &Arc<Self>, messages: MockProviderMessages) -> ProviderInbox {
        let mut ledger = MockLedger::new();
        let scene = self.clone();
        ledger.expect_apply().returning(move |plan| scene.apply(&plan));
        let (topups, withdrawals, people) = (self.topups(), self.withdrawals(), self.people());
        let clock = Some(nine());
        let doubles = Doubles { ledger, topups, withdrawals, people, messages, clock, ..Doubles::default() };
        ProviderInbox { env: doubles.env() }
    }
}

/// A clock at nine seconds.
fn nine() -> MockClock {
    let mut clock = MockClock::new();
    clock.expect_now().return_const(at(9));
    clock
}

fn by(reference: &str, id: Option<i64>) -> MessageSubject {
    MessageSubject::Reference { reference: reference.parse().unwrap(), id }
}

fn message(subject: MessageSubject) -> IncomingMessage {
    IncomingMessage {
        webhook_id: WebhookId::new("msg_1").unwrap(),
        kind: Excerpt::of("a.type"),
        subject,
        presented: PresentedPayment { txid: Some(Excerpt::of("tx-2")), ..PresentedPayment::default() },
    }
}

fn paid(minor: i128) -> TopupUpdate {
    let amount = Some(PaidAmount::Sum(Money::from_minor(minor)));
    TopupUpdate::Confirmed(Payment { amount, currency: Some(PaidCurrency::Own) })
}

/// The stored record of [`message`].
fn record(
    source: MessageSource,
    contradiction: Contradiction,
    reference: &str,
    stated_id: Option<i64>,
    row: Option<i64>,
) -> MessageRecord {
    let IncomingMessage { webhook_id, kind, presented, .. } = message(MessageSubject::Id(1));
    MessageRecord {
        source,
        webhook_id,
        kind,
        contradiction,
        reference: Excerpt::of(reference),
        stated_id,
        row,
        presented,
        received_at: at(9),
    }
}

#[test]
fn messages_are_matched_by_reference_or_id() {
    let outcome_of = |opening, subject, about_topup| {
        let state = WithdrawalState::Processing { attempts: 1, retry_at: None };
        let scene = Scene::new(TopupStatus::Pending, state, opening);
        let inbox = scene.inbox(scene.keeps());
        let outcome = if about_topup {
            run(inbox.topup(&message(subject), paid(500)))
        } else {
            run(inbox.payout(&message(subject), &PayoutUpdate::Refused, None))
        };
        let outcome = match outcome {
            Ok(MessageOutcome::Moved { row: 5, .. }) => "settled",
            Ok(MessageOutcome::Contradiction(Contradicted { contradiction, recorded, .. })) => {
                assert_eq!(recorded, Recorded::Added);
                contradiction.name()
            }
            Err(CommandError::Refused(ProviderMessageRefusal::ReferenceRequired)) => "reference required",
            other => panic!("{other:?}"),
        };
        assert_eq!(
            scene.kept().len(),
            usize::from(outcome.contains("re") && outcome.contains('_')),
            "{outcome}"
        );
        outcome
    };
    let (unknown, differ) = ("unknown_reference", "reference_and_id_differ");
    for (subject, of_a_new_one, of_an_old_one) in [
        (by(REFERENCE, None), "settled", unknown),
        (by(REFERENCE, Some(5)), "settled", unknown),
        (by(REFERENCE, Some(6)), differ, unknown),
        (by(UNKNOWN, None), unknown, unknown),
        (by("5", None), unknown, "settled"),
        (by("5", Some(6)), unknown, differ),
        (by("6", None), unknown, unknown),
        (MessageSubject::Id(5), "reference required", "settled"),
        (MessageSubject::Id(6), unknown, unknown),
        (MessageSubject::Id(0), unknown, unknown),
    ] {
        for about_topup in [true, false] {
            assert_eq!(outcome_of(Some(OPENING), subject, about_topup), of_a_new_one, "{subject:?}");
            assert_eq!(outcome_of(None, subject, about_topup), of_an_old_one, "{subject:?}");
        }
    }
}

#[test]
fn contradictions_are_stored_with_their_details() {
    use Contradiction::{
        AmountMismatch, ReferenceAndIdDiffer, StatusContradiction, TxidMismatch, UnknownReference,
    };
    let (topups, payouts) = (MessageSource::Topups, MessageSource::Payouts);
    let sent = || WithdrawalState::Broadcast { txid: line("tx-1") };
    let scene = || Scene::new(TopupStatus::Pending, sent(), Some(OPENING));
    for (subject, update, kept, status) in [
        (by(UNKNOWN, Some(7)), paid(500), record(topups, UnknownReference, UNKNOWN, Some(7), None), None),
        (MessageSubject::Id(7), paid(500), record(topups, UnknownReference, "7", Some(7), None), None),
        (
            by(REFERENCE, Some(7)),
            paid(500),
            record(topups, ReferenceAndIdDiffer, REFERENCE, Some(7), Some(5)),
            None,
        ),
        (
            by(REFERENCE, None),
            paid(499),
            record(topups, AmountMismatch, REFERENCE, None, Some(5)),
            Some("pending"),
        ),
    ] {
        let scene = scene();
        let outcome = run(scene.inbox(scene.keeps()).topup(&message(subject), update)).unwrap();
        let MessageRecord { contradiction, row, .. } = kept;
        let contradicted = Contradicted { contradiction, row, status, recorded: Recorded::Added };
        assert_eq!(outcome, MessageOutcome::Contradiction(contradicted));
        assert_eq!(scene.kept(), [kept]);
        assert_eq!(scene.topup.lock().unwrap().status, TopupStatus::Pending);
    }
    let completed = || PayoutUpdate::Completed { txid: line("tx-2") };
    for (state, update, contradiction) in [
        (sent(), completed(), TxidMismatch),
        (WithdrawalState::Completed { txid: line("tx-1") }, completed(), TxidMismatch),
        (WithdrawalState::NeedsReview { txid: Some(line("tx-1")) }, completed(), TxidMismatch),
        (WithdrawalState::Completed { txid: line("tx-1") }, PayoutUpdate::Refused, StatusContradiction),
        (WithdrawalState::Rejected, completed(), StatusContradiction),
    ] {
        let scene = Scene::new(TopupStatus::Pending, state.clone(), Some(OPENING));
        let inbox = scene.inbox(scene.keeps());
        let outcome = run(inbox.payout(&message(by(REFERENCE, None)), &update, None)).unwrap();
        let status = Some(state.status().name());
        let contradicted = Contradicted { contradiction, row: Some(5), status, recorded: Recorded::Added };
        assert_eq!(outcome, MessageOutcome::Contradiction(contradicted), "{state:?}");
        assert_eq!(scene.kept(), [record(payouts, contradiction, REFERENCE, None, Some(5))]);
        assert_eq!(scene.withdrawal.lock().unwrap().state, state);
    }
}

#[test]
fn messages_without_a_contradiction_are_not_stored() {
    let scene = Scene::pending();
    let inbox = scene.inbox(scene.keeps());
    let message = message(by(REFERENCE, None));
    let incomplete = TopupUpdate::Confirmed(Payment::default());
    let refused = run(inbox.topup(&message, incomplete));
    assert!(
        matches!(
            refused,
            Err(CommandError::Refused(ProviderMessageRefusal::PaymentRequired {
                amount: true,
                currency: true
            }))
        ),
        "{refused:?}"
    );
    let settled = run(inbox.topup(&message, paid(500))).unwrap();
    assert_eq!(settled, MessageOutcome::Moved { row: 5, status: "confirmed" });
    assert_eq!(run(inbox.topup(&message, paid(500))).unwrap(), MessageOutcome::Known);
    scene.withdrawal.lock().unwrap().state = WithdrawalState::NeedsReview { txid: None };
    let waits = run(inbox.payout(&message, &PayoutUpdate::Refused, None)).unwrap();
    assert_eq!(waits, MessageOutcome::ForOperator { row: 5 });
    assert_eq!(scene.kept(), []);
}

#[test]
fn a_message_that_cannot_be_stored_is_not_acknowledged() {
    let scene = Scene::pending();
    let mut away = MockProviderMessages::new();
    away.expect_record_message().returning(|_, _| Err(Unavailable::new("the store is away")));
    let refused = run(scene.inbox(away).topup(&message(by(UNKNOWN, None)), paid(500)));
    assert!(matches!(refused, Err(CommandError::Failed(Failure::Unavailable(_)))), "{refused:?}");
}

#[test]
fn repeated_and_excess_messages_are_distinguished() {
    for recorded in [Recorded::Known, Recorded::NotKept] {
        let scene = Scene::pending();
        let mut messages = MockProviderMessages::new();
        messages.expect_record_message().returning(move |_, _| Ok(recorded));
        let outcome = run(scene.inbox(messages).topup(&message(by(UNKNOWN, None)), paid(500))).unwrap();
        let MessageOutcome::Contradiction(contradicted) = outcome else { panic!("{outcome:?}") };
        assert_eq!(contradicted.recorded, recorded);
    }
}

fn kept_message(resolution: Option<Resolution>) -> ProviderMessage {
    let record = record(MessageSource::Payouts, Contradiction::TxidMismatch, REFERENCE, None, Some(5));
    ProviderMessage { id: ProviderMessageId::new(3).unwrap(), record, resolution }
}

fn context_of(role: Role) -> Context {
    Context { principal: Principal { role, ..principal(1) }, ..context(1) }
}

const RESOLVE: ResolveMessage = ResolveMessage { id: ProviderMessageId::new(3).unwrap() };

#[test]
fn a_message_that_another_operator_resolves_first_cannot_be_resolved_again() {
    let mut ledger = MockLedger::new();
    // Another operator was faster, which only the store detects.
    ledger.expect_apply().times(1).returning(|_| Err(ApplyError::Rejected(Rejection::Stale)));
    let mut turn = mockall::Sequence::new();
    ledger.expect_entity().once().in_sequence(&mut turn).returning(|_| Ok(Some(kept_message(None).into())));
    let resolution = Resolution { at: at(8), by: UserId::new(2).unwrap(), reason: line("theirs") };
    ledger
        .expect_entity()
        .once()
        .in_sequence(&mut turn)
        .returning(move |_| Ok(Some(kept_message(Some(resolution.clone())).into())));
    let executor = Doubles { ledger, clock: Some(nine()), ..Doubles::default() }.executor();
    let resolved = run(executor.run(&context_of(Role::Operator), RESOLVE, input(line("mine"))));
    assert!(matches!(resolved, Err(CommandError::Refused(AlreadyResolved))));
}

#[test]
fn staff_read_messages_and_only_operators_resolve_them() {
    for (role, reads, resolves) in
        [(Role::Member, false, false), (Role::Auditor, true, false), (Role::Operator, true, true)]
    {
        let mut messages = MockProviderMessages::new();
        messages.expect_provider_messages().returning(|_, _| Ok(Rows::none(0)));
        let mut ledger = MockLedger::new();
        ledger.expect_entity().returning(|_| Ok(None));
        let env = Doubles { messages, ledger, ..Doubles::default() }.env();
        let queries = ProviderMessageQueries { env: env.clone() };
        let context = context_of(role);
        let page = PageRequest::new(1, 10);
        let listed = run(queries.list(&context.principal, MessageFilter::default(), page));
        assert_eq!(listed.is_ok(), reads, "{role:?}");
        match run(Executor::new(env).run(&context, RESOLVE, input(line("no")))) {
            Err(CommandError::Failed(Failure::NotFound)) => assert!(resolves, "{role:?}"),
            Err(CommandError::Failed(Failure::WrongRole)) => assert!(!resolves, "{role:?}"),
            other => panic!("{other:?}"),
        }
    }
}
