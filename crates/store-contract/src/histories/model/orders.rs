//! Orders of top-ups in the model, as the guide for payment systems specifies them.

use super::{Model, Refusal, Seen};

/// The maximum number of unanswered orders of a top-up.
pub(crate) const MAX_ATTEMPTS: u32 = 3;
/// The duration of a server's lease on a top-up, in seconds.
pub(crate) const LEASE: i64 = 30;
/// The wait after the first order without an answer, doubled after each further one.
pub(crate) const FIRST_WAIT: i64 = 400;

/// The order state of a top-up.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) struct Ordering {
    pub(crate) attempts: u32,
    pub(crate) next: Option<i64>,
    pub(crate) page: bool,
}

impl Model {
    /// Opens a top-up and orders it.
    pub(crate) fn open_ordered_topup(
        &mut self,
        owner: usize,
        amount: i128,
        now: i64,
    ) -> Result<Seen, Refusal> {
        let seen = self.open_topup(owner, amount, false)?;
        let place = self.topups.len() - 1;
        self.topups[place].ordering = Ordering { attempts: 1, next: Some(now + LEASE), page: false };
        Ok(seen)
    }

    /// The status and the order state of a top-up.
    pub(crate) fn topup(&self, place: usize) -> (&'static str, Ordering) {
        (self.topups[place].status, self.topups[place].ordering)
    }

    /// The due top-ups, with the times at which they became due.
    pub(crate) fn due_topups(&self, now: i64) -> Vec<(i64, usize)> {
        let next = self.topups.iter().enumerate().map(|(place, topup)| (topup.ordering.next, place));
        next.filter_map(|(next, place)| Some((next.filter(|next| *next <= now)?, place))).collect()
    }

    /// Claims a due top-up, or gives it up.
    pub(crate) fn take_up_topup(&mut self, place: usize, now: i64) -> Seen {
        let ordering = &mut self.topups[place].ordering;
        if ordering.attempts < MAX_ATTEMPTS {
            (ordering.attempts, ordering.next) = (ordering.attempts + 1, Some(now + LEASE));
        } else {
            ordering.next = None;
        }
        Seen::Topup { status: self.topups[place].status }
    }

    /// Applies the provider's answer to the newest order of a top-up; `None` if it changes nothing.
    pub(crate) fn answer_order(&mut self, place: usize, reply: &'static str, now: i64) -> Option<Seen> {
        let (status, before) = self.topup(place);
        if status != "pending" || before.page {
            return None;
        }
        let topup = &mut self.topups[place];
        let ordering = &mut topup.ordering;
        match reply {
            "page" => (ordering.page, ordering.next) = (true, None),
            "taken" => ordering.next = None,
            "refused" => (topup.status, ordering.next) = ("failed", None),
            "silent" if before.attempts >= MAX_ATTEMPTS => ordering.next = None,
            "silent" => {
                let wait = |_| now + FIRST_WAIT * 2_i64.pow(before.attempts - 1);
                ordering.next = before.next.map(wait);
            }
            other => panic!("no answer: {other}"),
        }
        (self.topup(place) != (status, before)).then(|| Seen::Topup { status: self.topups[place].status })
    }
}
