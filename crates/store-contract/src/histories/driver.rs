//! Runs the commands of a history on a store and on the model, and compares their answers.

mod gigs;
mod guest_accounts;
mod orders;
mod payouts;
mod ratings;
mod repetitions;
mod suspense;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

use cuepoint_domain::audit::Summary;
use cuepoint_domain::authorization::{Action, Ownership};
use cuepoint_domain::ids::{GigId, RequestId, SessionId, TopupId, UserId, WithdrawalId};
use cuepoint_domain::money::BasisPoints;
use cuepoint_domain::music_request::Overdue;
use cuepoint_domain::operation::{Actor, OperationMetadata, Plan, Receipt, Step, WithdrawalJudgement, plans};
use cuepoint_domain::ports::Applied;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::topup::Charge;
use cuepoint_domain::user::{ArtistType, DjChange, Field, ProfileChange, Role, UserStatusChange};
use cuepoint_domain::withdrawal::WithdrawalLimits;
use time::Duration;

use crate::Fixture;
use crate::harness::refusal::Refusal;
use crate::harness::scenario::{
    Refused, Scenario, amount, at, key, line, money, request_of, topup_of, withdrawal_of,
};
use crate::histories::commands::{Command, DEPARTING, FIRST_DJ, GUEST_ACCOUNT, OPERATOR, PEOPLE};
use crate::histories::model::{Dj, Model, Person, Seen, Terms};
use crate::histories::observed::{name, outcome_of, request_move};

/// The outcome of a history.
pub(crate) struct Ended {
    pub(crate) summary: Summary,
    pub(crate) observed: BTreeSet<String>,
}

/// An applied plan, to be submitted again.
struct AppliedPlan {
    plan: Plan,
    receipt: Receipt,
}

/// The driver of a history.
pub(crate) struct HistoryDriver<'a> {
    pub(crate) scenario: Scenario,
    fixture: &'a dyn Fixture,
    /// Whether the next answer is lost, and whether the store is reopened before the retry.
    losing: Option<bool>,
    pub(crate) model: Model,
    pub(crate) people: Vec<UserId>,
    /// The sessions of guest accounts.
    sessions: BTreeMap<UserId, SessionId>,
    pub(crate) requests: Vec<RequestId>,
    pub(crate) withdrawals: Vec<WithdrawalId>,
    pub(crate) topups: Vec<TopupId>,
    gigs: Vec<GigId>,
    past: Vec<AppliedPlan>,
    /// The time of the last purge.
    purged: Option<Timestamp>,
    pub(crate) now: i64,
    pub(crate) owed: i128,
    commands: u64,
    pub(crate) observed: BTreeSet<String>,
}

/// Compares two values; the error names the difference.
pub(crate) fn equal<T: PartialEq + Debug>(what: &str, store: &T, model: &T) -> Result<(), String> {
    if store == model { Ok(()) } else { Err(format!("{what}: the store has {store:?}, the model {model:?}")) }
}

/// The place counted from the newest of `count` entities, modulo `count`.
fn picked(pick: usize, count: usize) -> Option<usize> {
    (count > 0).then(|| count - 1 - pick % count)
}

impl<'a> HistoryDriver<'a> {
    /// Registers new users on the store, which may contain earlier histories.
    pub(crate) async fn start(scenario: &Scenario, fixture: &'a dyn Fixture, terms: Terms) -> Self {
        let mut scenario = scenario.clone();
        // An earlier history may have closed the one before.
        scenario.use_store(fixture.store());
        scenario.requests.commission = BasisPoints::new(terms.commission_bps.try_into().unwrap()).unwrap();
        scenario.withdrawals.auto_approve_below =
            (terms.auto_approve_below > 0).then(|| amount(terms.auto_approve_below));
        scenario.withdrawals.second_approval_above = terms.second_approval_above.map(amount);
        scenario.withdrawals.limits = WithdrawalLimits {
            max_amount: terms.max_amount.map(amount),
            max_per_24h: terms.max_per_24h.map(amount),
            max_per_30d: terms.max_per_30d.map(amount),
        };
        scenario.withdrawals.clearing_time = terms.clearing_seconds.map(Duration::seconds);
        scenario.requests.most_open_per_dj = terms.most_open_per_dj;
        (scenario.requests.most_open_per_gig, scenario.requests.most_made_per_gig) = terms.in_gig;
        let mut model = Model { terms, departing: PEOPLE, ..Model::default() };
        let mut people = Vec::new();
        // The last of them is the first departing user.
        for place in 0..=PEOPLE {
            let is_dj = (FIRST_DJ..OPERATOR).contains(&place);
            let user = scenario.stranger(is_dj, at(0)).await;
            scenario.register(&user).await;
            people.push(user.id);
            model.people.push(Person { dj: is_dj.then(Dj::default), ..Person::default() });
        }
        Self {
            scenario,
            fixture,
            losing: None,
            model,
            people,
            sessions: BTreeMap::new(),
            requests: Vec::new(),
            withdrawals: Vec::new(),
            topups: Vec::new(),
            gigs: Vec::new(),
            past: Vec::new(),
            purged: None,
            now: 0,
            owed: 0,
            commands: 0,
            observed: BTreeSet::new(),
        }
    }

    /// The place of the person whom a command names; `None` if there is no guest account.
    fn place_of(&self, who: usize) -> Option<usize> {
        match who {
            ..PEOPLE => Some(who),
            DEPARTING => Some(self.model.departing),
            _ => {
                let guests = &self.model.guest_accounts;
                picked(who - GUEST_ACCOUNT, guests.len()).map(|place| guests[place])
            }
        }
    }

    pub(crate) fn time(&self) -> Timestamp {
        at(self.now)
    }

    /// The operation metadata of a user's command, with a key of its own if `keyed`.
    fn metadata(&self, who: usize, keyed: bool) -> OperationMetadata {
        let user = self.people[who];
        let key = keyed.then(|| key(user, &self.commands.to_string(), "body"));
        OperationMetadata { key, ..self.scenario.by(user, self.time()) }
    }

    /// Applies a decided plan, and records it for later.
    async fn apply(&mut self, plan: Result<Plan, Refused>) -> Result<Receipt, Refused> {
        let plan = plan?;
        let lost = match self.losing.take() {
            Some(reopen) => self.lose_answer(&plan, reopen).await,
            None => false,
        };
        let receipt = match self.scenario.apply(plan.clone()).await.map_err(Refused::Rejected)? {
            Applied::Fresh(receipt) => receipt,
            Applied::Replayed(receipt) if lost => receipt,
            Applied::Replayed(_) => panic!("a new plan was replayed: {plan:?}"),
        };
        let is_unchanged = match plan.step() {
            Step::Unchanged(_) => true,
            Step::Judge(WithdrawalJudgement::Approve { before, .. }) => withdrawal_of(&receipt) == *before,
            Step::Judge(WithdrawalJudgement::Open { .. })
            | Step::Open(_)
            | Step::Move { .. }
            | Step::ChangeUser { .. } => false,
        };
        if !is_unchanged || plan.metadata().key.is_some() {
            self.past.push(AppliedPlan { plan, receipt: receipt.clone() });
        }
        Ok(receipt)
    }

    async fn reopen(&mut self) {
        self.scenario.use_store(self.fixture.reopen().await);
        self.observed.insert("reopened".to_owned());
    }

    /// Compares the answers of store and model.
    fn agree(
        &mut self,
        answer: Result<Receipt, Refused>,
        model: Result<Seen, Refusal>,
    ) -> Result<(), String> {
        self.observed.insert(name(&model));
        equal("the answer", &outcome_of(answer), &model)
    }

    /// Runs one command on both.
    pub(crate) async fn play(&mut self, mut command: Command, keyed: bool) -> Result<(), String> {
        self.commands += 1;
        if let Some(who) = command.person() {
            let Some(place) = self.place_of(*who) else { return Ok(()) };
            *who = place;
        }
        match command {
            Command::Pass { seconds } => {
                self.now += seconds;
                self.model.now = self.now;
            }
            Command::Tidy => {
                self.scenario.store.purge_expired(self.time()).await.unwrap();
                self.purged = Some(self.time());
            }
            Command::Reopen => self.reopen().await,
            Command::LoseAnswer { reopen } => self.losing = Some(reopen),
            Command::Retry { pick } => return self.retry(pick).await,
            Command::ReuseKey { pick, same_body } => return self.reuse_key(pick, same_body).await,
            Command::Sweep { who, limit } => return self.sweep(who, limit).await,
            Command::OpenTopup { who, cents, confirmed } => {
                let charge = if confirmed { Charge::Confirmed } else { Charge::Pending };
                let plan = self.topup_plan(who, cents, charge, keyed).await;
                let answer = self.apply(Ok(plan)).await;
                self.topups.extend(answer.iter().map(|receipt| topup_of(receipt).id));
                let model = self.model.open_topup(who, cents, confirmed);
                return self.agree(answer, model);
            }
            Command::OrderTopup { who, cents } => return self.order_topup(who, cents, keyed).await,
            Command::TakeUpTopups { limit } => return self.take_up_topups(limit).await,
            Command::AnswerOrder { pick, reply } => return self.answer_order(pick, reply).await,
            Command::Adjust { who, cents, by } => {
                let (available, ..) = self.model.people[who].balances;
                let cents = cents.unwrap_or(-available.max(1));
                let plan = self.scenario.adjust_plan(self.metadata(by, keyed), self.people[who], cents).await;
                let answer = self.apply(Ok(plan)).await;
                let model = self.model.adjust(who, cents, by, self.now);
                return self.agree(answer, model);
            }
            Command::ChangeDj { who, online, upcoming, popular } => {
                let dj = DjChange {
                    online: online.map_or(Field::Keep, Field::Set),
                    fee_upcoming_artist: upcoming.map_or(Field::Keep, |cents| Field::Set(money(cents))),
                    fee_popular_song: popular.map_or(Field::Keep, |cents| Field::Set(money(cents))),
                };
                let change = ProfileChange { dj, ..ProfileChange::default() };
                let plan = plans::change_profile(self.metadata(who, keyed), self.people[who], change);
                let answer = self.apply(Ok(plan)).await;
                let model = self.model.change_dj(who, online, upcoming, popular);
                return self.agree(answer, model);
            }
            Command::ChangeSuspension { who, suspend } => {
                let change = if suspend { UserStatusChange::Suspend } else { UserStatusChange::Restore };
                let metadata =
                    OperationMetadata { reason: Some(line("a reason")), ..self.metadata(OPERATOR, keyed) };
                let plan = plans::change_user_status(metadata, self.people[who], change);
                let answer = self.apply(Ok(plan)).await;
                let model = self.model.change_suspension(who, suspend, self.now);
                return self.agree(answer, model);
            }
            Command::ChangeRole { who, operator } => {
                let role = if operator { Role::Operator } else { Role::Member };
                let metadata =
                    OperationMetadata { reason: Some(line("a reason")), ..self.metadata(OPERATOR, keyed) };
                let plan =
                    plans::change_user_status(metadata, self.people[who], UserStatusChange::Role(role));
                let answer = self.apply(Ok(plan)).await;
                let model = self.model.change_role(who, operator, self.now);
                return self.agree(answer, model);
            }
            Command::OpenRequest { guest, dj, popular, offer } => {
                let kind = if popular { ArtistType::Popular } else { ArtistType::Upcoming };
                let (metadata, to) = (self.metadata(guest, keyed), self.people[dj]);
                let plan = self
                    .scenario
                    .request_plan(metadata, self.people[guest], to, kind, offer.map(money))
                    .await;
                let answer = self.make_request(plan, to).await;
                self.requests.extend(answer.iter().map(|receipt| request_of(receipt).id));
                let model = self.model.open_request(guest, dj, popular, offer, self.now);
                return self.agree(answer, model);
            }
            Command::OpenWithdrawal { who, cents } => {
                let (available, ..) = self.model.people[who].balances;
                let cents = cents.unwrap_or(available).max(1);
                let (metadata, user) = (self.metadata(who, keyed), self.people[who]);
                let principal = self.scenario.principal(user).await;
                let plan = match principal.may(Action::UseWithdrawal, Ownership::Own) {
                    Ok(()) => self.scenario.withdrawal_plan(metadata, user, cents).await,
                    Err(denied) => Err(Refused::Denied(denied.reason())),
                };
                let answer = self.apply(plan).await;
                self.withdrawals.extend(answer.iter().map(|receipt| withdrawal_of(receipt).id));
                let model = self.model.open_withdrawal(who, cents, self.now);
                return self.agree(answer, model);
            }
            Command::SettleTopup { pick, confirmed } => {
                return self.settle_topup(pick, confirmed, keyed).await;
            }
            Command::ReceiveTopupUpdate { pick, update, excess } => {
                return self.receive_topup_update(pick, update, excess).await;
            }
            Command::ReverseTopup { pick } => return self.reverse_topup(pick, keyed).await,
            Command::OpenDepartingTopup { cents, ordered } => {
                return self.open_departing_topup(cents, ordered, keyed).await;
            }
            Command::Erase { who } => return self.erase(who).await,
            Command::CreateGuest => return self.create_guest().await,
            Command::Claim { who, taken } => return self.claim(who, taken).await,
            Command::DeleteUnused { who } => return self.delete_unused(who).await,
            Command::SettleSuspense { pick } => return self.settle_suspense(pick, keyed).await,
            Command::MoveRequest { pick, to } => {
                if let Some(place) = picked(pick, self.requests.len()) {
                    return self.move_request(place, to, keyed).await;
                }
            }
            Command::Rate { pick, stars } => {
                if let Some(place) = picked(pick, self.requests.len()) {
                    return self.rate(place, stars, keyed).await;
                }
            }
            Command::OpenGig { dj, most, popular } => return self.open_gig(dj, most, popular, keyed).await,
            Command::ChangeGig { pick, most, accepting } => {
                if let Some(place) = picked(pick, self.gigs.len()) {
                    return self.change_gig(place, most, accepting, keyed).await;
                }
            }
            Command::EndGig { pick } => {
                if let Some(place) = picked(pick, self.gigs.len()) {
                    return self.end_gig(place, keyed).await;
                }
            }
            Command::ReleaseGigs => return self.release_gigs().await,
            Command::Tip { who, pick, cents } => {
                if let Some(place) = picked(pick, self.gigs.len()) {
                    return self.tip(who, place, cents, keyed).await;
                }
            }
            Command::FollowRequest { pick, edge } => {
                if let Some(place) = picked(pick, self.requests.len())
                    && let edges = self.model.edges_of_request(place, self.now)
                    && !edges.is_empty()
                {
                    let to = edges[edge % edges.len()];
                    return self.move_request(place, to, keyed).await;
                }
            }
            Command::MoveWithdrawal { pick, to, by, txid } => {
                if let Some(place) = picked(pick, self.withdrawals.len()) {
                    return self.move_withdrawal(place, to, by, txid, keyed).await;
                }
            }
            Command::Send { pick } => {
                if let Some(place) = picked(pick, self.withdrawals.len()) {
                    return self.send(place).await;
                }
            }
            Command::ReceivePayoutUpdate { pick, update, txid } => {
                if let Some(place) = picked(pick, self.withdrawals.len()) {
                    return self.receive_payout_update(place, update, txid).await;
                }
            }
            Command::FollowWithdrawal { pick, edge, by, txid } => {
                if let Some(place) = picked(pick, self.withdrawals.len())
                    && let edges = self.model.onward_from(place)
                    && !edges.is_empty()
                {
                    let to = edges[edge % edges.len()];
                    return self.move_withdrawal(place, to, by, txid, keyed).await;
                }
            }
        }
        Ok(())
    }

    async fn move_request(&mut self, place: usize, to: &'static str, keyed: bool) -> Result<(), String> {
        let (guest, dj) = (self.model.requests[place].guest, self.model.requests[place].dj);
        let who = match to {
            "cancelled" => guest,
            "refunded" => OPERATOR,
            _ => dj,
        };
        let stored = self.scenario.stored_request(self.requests[place]).await;
        let plan = plans::move_request(
            self.metadata(who, keyed),
            &stored,
            request_move(to),
            &self.scenario.requests,
        );
        let answer = self.apply(plan.map_err(Refused::Request)).await;
        let model = self.model.move_request(place, to, self.now);
        self.agree(answer, model)
    }

    /// Settles some of a user's overdue requests, the longest overdue first, as the expiry job does.
    async fn sweep(&mut self, who: usize, limit: u32) -> Result<(), String> {
        let which = Overdue { requester: Some(self.people[who]), now: self.time(), after: None, limit };
        let found = self.scenario.store.overdue(&which).await.unwrap();
        let places: Vec<usize> = found
            .iter()
            .map(|request| self.requests.iter().position(|id| *id == request.id).unwrap())
            .collect();
        let own = self.model.requests.iter().filter(|request| request.guest == who);
        let mut expected: Vec<i64> = own.filter_map(|request| request.overdue(self.now)).collect();
        expected.sort_unstable();
        expected.truncate(limit.try_into().unwrap());
        let ends: Vec<i64> =
            places.iter().filter_map(|place| self.model.requests[*place].overdue(self.now)).collect();
        equal("the overdue requests", &ends, &expected)?;
        for (place, stored) in places.into_iter().zip(found) {
            let metadata = self.scenario.metadata(Actor::System, self.time());
            let plan =
                plans::move_request(metadata, &stored, request_move("expired"), &self.scenario.requests);
            let answer = self.apply(plan.map_err(Refused::Request)).await;
            let model = self.model.sweep(place, self.now);
            self.agree(answer, model)?;
        }
        Ok(())
    }

    /// The summary that the audit should report for it, and the answers that it reached.
    pub(crate) fn end(self) -> Ended {
        let kept = || self.model.people.iter().filter(|person| !person.deleted);
        let (entries, wallets) = (kept().map(|person| person.entries).sum(), kept().count());
        let Model { requests, withdrawals, topups, tips, adjustments, postings, .. } = self.model;
        let entities = requests.len() + withdrawals.len() + topups.len() + tips + adjustments;
        let summary = Summary {
            wallets: wallets.try_into().unwrap(),
            entries,
            postings,
            entities: entities.try_into().unwrap(),
        };
        Ended { summary, observed: self.observed }
    }
}
