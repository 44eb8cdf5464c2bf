//! The room in the queue of a gig, and which request gives way to one with a fee.

use std::cmp::Reverse;

use super::{Model, Request};
use crate::harness::refusal::Refusal;

impl Model {
    /// Whether requests of a person count as guests'. Nobody in a history verifies an address.
    pub(super) fn counts_as_guest(&self, who: usize) -> bool {
        let person = &self.people[who];
        let is_charged = |request: &Request| {
            request.guest == who && request.fee > 0 && ["played", "refunded"].contains(&request.status)
        };
        let has_paid =
            person.income.iter().any(|(_, amount)| *amount > 0) || self.requests.iter().any(is_charged);
        person.is_guest || !(person.is_operator || has_paid)
    }

    /// The history's observation of a displaced request; `None` for any other request.
    pub(crate) fn displaced(&self, place: usize) -> Option<&'static str> {
        let request = &self.requests[place];
        request.is_displaced.then_some(if request.counts_as_guest {
            "a request displaced a guest's"
        } else {
            "a request displaced a member's"
        })
    }

    /// The request that a new request of this guest in a gig displaces, if it has to displace one.
    pub(super) fn room(&self, gig: usize, guest: usize, fee: i128) -> Result<Option<usize>, Refusal> {
        let (most_open, most_made) = self.terms.in_gig;
        let is_guest = self.counts_as_guest(guest);
        let made = || self.requests.iter().enumerate().filter(|(_, one)| one.gig == Some(gig));
        let is_open = |one: &Request| ["pending", "accepted"].contains(&one.seen(self.now).0);
        let count = |number: usize| u32::try_from(number).unwrap();
        let all = count(made().count());
        let open = count(made().filter(|(_, one)| is_open(one)).count());
        let of_guests = count(made().filter(|(_, one)| is_open(one) && one.counts_as_guest).count());
        let share = |most: u32, parts: u32| (most - most.div_ceil(parts)).max(1);
        let is_full_for_guests = is_guest && of_guests >= share(most_open, 3);
        let why = match () {
            () if all >= most_made => return Err(Refusal::NoRoom("all made")),
            () if is_guest && all >= share(most_made, 10) => {
                return Err(Refusal::NoRoom("all made for guests"));
            }
            () if open >= most_open => "full",
            () if is_full_for_guests => "full for guests",
            () => return Ok(None),
        };
        let gives_way = |one: &Request| {
            fee > 0
                && one.fee == 0
                && one.seen(self.now).0 == "pending"
                && (one.counts_as_guest || !is_full_for_guests)
        };
        let mut free: Vec<(usize, &Request)> = made().filter(|(_, one)| gives_way(one)).collect();
        free.sort_by_key(|(place, one)| Reverse((one.counts_as_guest, one.made, *place)));
        free.first().map(|(place, _)| Some(*place)).ok_or(Refusal::NoRoom(why))
    }
}
