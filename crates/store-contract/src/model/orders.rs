//! How the model's top-ups are ordered, as part 6 of the HTTP contract says.

use super::{Model, Refusal, Seen};

/// How often a top-up is ordered without an answer.
pub(crate) const MOST_ATTEMPTS: u32 = 3;
/// For how long who orders a top-up has it alone, in seconds.
pub(crate) const LEASE: i64 = 30;
/// How long it then waits after the first order without an answer; twice as long after each further one.
pub(crate) const FIRST_WAIT: i64 = 400;

/// How a top-up is ordered.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) struct Ordering {
    pub(crate) attempts: u32,
    pub(crate) next: Option<i64>,
    pub(crate) page: bool,
}

impl Model {
    /// Opens a top-up that its opener orders.
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

    /// How a top-up stands.
    pub(crate) fn topup(&self, place: usize) -> (&'static str, Ordering) {
        (self.topups[place].status, self.topups[place].ordering)
    }

    /// The top-ups that are due, with since when.
    pub(crate) fn due_topups(&self, now: i64) -> Vec<(i64, usize)> {
        let next = self.topups.iter().enumerate().map(|(place, topup)| (topup.ordering.next, place));
        next.filter_map(|(next, place)| Some((next.filter(|next| *next <= now)?, place))).collect()
    }

    /// Takes a top-up up that is due, or gives it up.
    pub(crate) fn take_up_topup(&mut self, place: usize, now: i64) -> Seen {
        let ordering = &mut self.topups[place].ordering;
        if ordering.attempts < MOST_ATTEMPTS {
            (ordering.attempts, ordering.next) = (ordering.attempts + 1, Some(now + LEASE));
        } else {
            ordering.next = None;
        }
        Seen::Topup { status: self.topups[place].status }
    }

    /// Hears the provider's answer to the newest order of a top-up; nothing where it changes nothing.
    pub(crate) fn answer_order(&mut self, place: usize, word: &'static str, now: i64) -> Option<Seen> {
        let (status, before) = self.topup(place);
        if status != "pending" || before.page {
            return None;
        }
        let topup = &mut self.topups[place];
        let ordering = &mut topup.ordering;
        match word {
            "page" => (ordering.page, ordering.next) = (true, None),
            "taken" => ordering.next = None,
            "refused" => (topup.status, ordering.next) = ("failed", None),
            "silent" if before.attempts >= MOST_ATTEMPTS => ordering.next = None,
            "silent" => {
                let wait = |_| now + FIRST_WAIT * 2_i64.pow(before.attempts - 1);
                ordering.next = before.next.map(wait);
            }
            other => panic!("no answer: {other}"),
        }
        (self.topup(place) != (status, before)).then(|| Seen::Topup { status: self.topups[place].status })
    }
}
