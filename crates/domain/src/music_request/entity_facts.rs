//! A music request as an entity of plans and receipts.

use crate::entity_facts::{EntityFacts, described, is_column_recorded};
use crate::ids::{OperationId, UserId};
use crate::ledger::Transfer;
use crate::music_request::{MusicRequest, RequestState, history};
use crate::timestamp::Timestamp;
use crate::unknown::UnknownName;

impl EntityFacts for MusicRequest {
    fn owner(&self) -> Option<UserId> {
        Some(self.requester)
    }

    fn dj(&self) -> Option<UserId> {
        Some(self.dj)
    }

    fn shows_balance(&self) -> bool {
        false
    }

    fn stands_as(&self, loaded: &Self) -> bool {
        self.state == loaded.state
    }

    fn seen_at(self, at: Timestamp) -> Self {
        Self::seen_at(self, at)
    }

    fn transition(&self, after: &Self) -> String {
        described("request", self.id.get(), self.state.status().name(), after.state.status().name())
    }

    fn unknown_status(&self) -> Option<UnknownName> {
        match self.state {
            RequestState::Unknown { status, .. } => Some(status),
            _ => None,
        }
    }

    fn history(&self) -> Option<Vec<Vec<Transfer>>> {
        history(self)
    }

    fn is_where_its_money_is(&self) -> bool {
        !matches!(self.state, RequestState::Accepted { .. })
    }

    fn is_opening(&self, _operation: OperationId, place: usize) -> bool {
        place == 0
    }

    fn is_recorded_as(&self, then: &Self, whole: bool, opens: bool) -> bool {
        let state = if whole { self.state } else { then.state };
        let gig = if is_column_recorded(self.gig, then.gig, opens) { then.gig } else { self.gig };
        let judged = |request: &Self| request.counts_as_guest.then_some(());
        let is_judged = is_column_recorded(judged(self), judged(then), opens);
        let counts_as_guest = if is_judged { then.counts_as_guest } else { self.counts_as_guest };
        Self { state, gig, counts_as_guest, ..self.clone() } == *then
    }
}
