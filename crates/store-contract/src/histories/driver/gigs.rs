//! Gigs, run on the store and on the model.

use cuepoint_domain::gig::{AssignedCode, DjCode, GigChange, GuestLimit, NewGig, QueueOrder};
use cuepoint_domain::ids::{GigId, UserId};
use cuepoint_domain::music_request::Move;
use cuepoint_domain::operation::{Actor, Entity, Plan, Receipt, Rejection, plans};
use cuepoint_domain::ports::GigRequests;
use cuepoint_domain::text::GigTitle;
use cuepoint_domain::user::{DjChange, Field, Locate};
use time::Duration;

use super::{HistoryDriver, equal};
use crate::harness::scenario::{Refused, at, money};
use crate::histories::model::LONGEST_SECONDS;

/// The gig that a receipt is about.
fn gig_of(receipt: &Receipt) -> GigId {
    match receipt.outcome.entity {
        Entity::GigRecord(record) => record.id.gig(),
        ref other => panic!("no gig: {other:?}"),
    }
}

impl HistoryDriver<'_> {
    pub(super) async fn open_gig(
        &mut self,
        dj: usize,
        most: u8,
        popular: Option<i128>,
        keyed: bool,
    ) -> Result<(), String> {
        let user = self.people[dj];
        let assigned = self.scenario.store.code_of(user).await.unwrap();
        let number = u64::try_from(user.get()).unwrap();
        let is_new = assigned.is_none();
        let code = assigned
            .unwrap_or_else(|| AssignedCode::following(None, DjCode::of_number(number), user, self.time()));
        let new = NewGig {
            title: GigTitle::new("Friday").unwrap(),
            venue: None,
            city: None,
            place: Locate::default(),
            message: None,
            queue_order: QueueOrder::Rounds,
            max_open_per_guest: GuestLimit::new(most).unwrap(),
            members_only: false,
            asks_kind: false,
            prices: DjChange {
                fee_popular_song: popular.map_or(Field::Keep, |cents| Field::Set(money(cents))),
                ..DjChange::default()
            },
            new_code: false,
        };
        let id = self.scenario.ids.next_gig().await.unwrap();
        let plan = plans::open_gig(self.metadata(dj, keyed), id, code, is_new, new).unwrap();
        let answer = self.apply(Ok(plan)).await;
        self.gigs.extend(answer.iter().map(gig_of));
        let model = self.model.open_gig(dj, most, popular, self.now);
        self.agree(answer, model)
    }

    pub(super) async fn change_gig(
        &mut self,
        place: usize,
        most: u8,
        accepting: Option<bool>,
        keyed: bool,
    ) -> Result<(), String> {
        let stored = self.scenario.stored(self.gigs[place]).await.unwrap();
        let online = accepting.map_or(Field::Keep, Field::Set);
        let change = GigChange {
            max_open_per_guest: Field::Set(GuestLimit::new(most).unwrap()),
            dj: DjChange { online, ..DjChange::default() },
            ..GigChange::default()
        };
        let metadata = self.metadata(self.model.gigs[place].dj, keyed);
        let plan = plans::change_gig(metadata, &stored, &change);
        let answer = self.apply(plan.map_err(Refused::Gig)).await;
        let model = self.model.change_gig(place, most, accepting);
        self.agree(answer, model)
    }

    pub(super) async fn end_gig(&mut self, place: usize, keyed: bool) -> Result<(), String> {
        let stored = self.scenario.stored(self.gigs[place]).await.unwrap();
        let plan = plans::end_gig(self.metadata(self.model.gigs[place].dj, keyed), &stored);
        let answer = self.apply(Ok(plan)).await;
        let model = self.model.end_gig(place, self.now);
        self.agree(answer, model)
    }

    /// Applies the plan of a request to a DJ. If the queue is full, the request takes the place of another one.
    pub(super) async fn make_request(
        &mut self,
        plan: Result<Plan, Refused>,
        dj: UserId,
    ) -> Result<Receipt, Refused> {
        let answer = self.apply(plan.clone()).await;
        match (answer, plan) {
            (Err(Refused::Rejected(Rejection::NoRoom(refusal))), Ok(plan))
                if refusal.ends_with_displacement() =>
            {
                let displacing = self.scenario.displacing(&plan, dj).await.unwrap();
                self.apply(Ok(displacing)).await
            }
            (answer, _) => answer,
        }
    }

    /// Compares which requests were displaced, and notes it.
    pub(crate) async fn compare_displaced(&mut self) -> Result<(), String> {
        for (place, id) in self.requests.iter().enumerate() {
            let displaced = self.model.displaced(place);
            let stored = self.scenario.stored_request(*id).await;
            equal("whether a request was displaced", &stored.was_displaced(), &displaced.is_some())?;
            self.observed.extend(displaced.map(str::to_owned));
        }
        Ok(())
    }

    /// Tips the DJ of a gig.
    pub(super) async fn tip(
        &mut self,
        who: usize,
        place: usize,
        cents: i128,
        keyed: bool,
    ) -> Result<(), String> {
        let stored = self.scenario.stored(self.gigs[place]).await.unwrap();
        let plan = self.scenario.tip_plan(self.metadata(who, keyed), self.people[who], &stored, cents).await;
        let answer = self.apply(plan).await;
        let model = self.model.tip(who, place, cents);
        self.agree(answer, model)
    }

    /// Ends the gigs that are due, and rejects the open requests of ended ones, as the job does.
    pub(super) async fn release_gigs(&mut self) -> Result<(), String> {
        let due =
            self.scenario.store.gigs_to_end(at(self.now - LONGEST_SECONDS), None, 10_000).await.unwrap();
        let due: Vec<GigId> =
            due.into_iter().map(|gig| gig.id).filter(|gig| self.gigs.contains(gig)).collect();
        let places = 0..self.gigs.len();
        let expected: Vec<usize> =
            places.clone().filter(|place| self.model.is_due(*place, self.now)).collect();
        equal("the due gigs", &due, &expected.iter().map(|place| self.gigs[*place]).collect())?;
        for place in expected {
            let stored = self.scenario.stored(self.gigs[place]).await.unwrap();
            let metadata = self.scenario.metadata(Actor::System, self.time());
            let answer = self.apply(Ok(plans::end_gig(metadata, &stored))).await;
            let model = self.model.end_gig(place, self.now);
            self.agree(answer, model)?;
        }
        for place in places.filter(|place| self.model.gigs[*place].ended.is_some()).collect::<Vec<_>>() {
            self.release(place).await?;
        }
        Ok(())
    }

    /// Rejects the open requests of an ended gig.
    async fn release(&mut self, place: usize) -> Result<(), String> {
        let gig = self.scenario.stored(self.gigs[place]).await.unwrap();
        let open = self
            .scenario
            .store
            .gig_requests(&gig, GigRequests::Open, at(0).minus(Duration::days(1)))
            .await
            .unwrap();
        let expected: Vec<_> = self.model.open_in(place).iter().map(|place| self.requests[*place]).collect();
        equal("the open requests of a gig", &open.iter().map(|request| request.id).collect(), &expected)?;
        for request in open {
            let is_overdue = request.state.expires_at().is_some_and(|deadline| deadline <= self.time());
            let to = if is_overdue { Move::Expire } else { Move::Reject };
            let metadata = self.scenario.metadata(Actor::System, self.time());
            let plan = plans::move_request(metadata, &request, to, &self.scenario.requests);
            let answer = self.apply(plan.map_err(Refused::Request)).await;
            let place = self.requests.iter().position(|id| *id == request.id).unwrap();
            let model = self.model.reject_in_gig(place, self.now);
            self.agree(answer, model)?;
        }
        Ok(())
    }
}
