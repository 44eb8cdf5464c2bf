//! Orders of top-ups: due orders, claims by a single server, and stored outcomes.

use std::sync::Arc;

use cuepoint_domain::gig::DjCode;
use cuepoint_domain::ids::TopupId;
use cuepoint_domain::operation::{Actor, Rejection, plans};
use cuepoint_domain::ports::Store;
use cuepoint_domain::text::PaymentUrl;
use cuepoint_domain::topup::{Charge, Orders, Topup, TopupStatus};

use crate::harness::races::one_of_sixteen_is_applied;
use crate::harness::scenario::{Scenario, amount, at, balance, topup_of};

promises! { ($) orders as orders_promises {
    due_payment_requests_are_listed_longest_waiting_first,
    a_topup_is_leased_by_one_server,
    the_payment_page_is_kept_after_confirmation,
    plans_decided_on_an_outdated_topup_state_are_stale,
}}

/// The code of the page on which the payments begin.
const CODE: &str = "K7TW3M";

fn orders(attempts: u32, next_at: Option<i64>) -> Orders {
    Orders { attempts, next_at: next_at.map(at) }
}

/// The longest possible page URL.
fn page() -> Option<PaymentUrl> {
    PaymentUrl::new(&format!("https://pay.example.com/{:ü<2024}", "session")).ok()
}

impl Scenario {
    /// A new top-up of 5.00 by a new user, opened with any charge on the page of a DJ.
    async fn open_topup(&self, charge: Charge) -> Topup {
        let guest = self.guest(0).await;
        let id = self.ids.next_topup().await.unwrap();
        let plan = plans::open_topup(self.by(guest, at(0)), id, guest, amount(500), charge);
        topup_of(&self.fresh(plans::begun_on_page(plan, DjCode::new(CODE))).await)
    }

    /// The same top-up after an order at `now`.
    async fn order(&self, topup: &Topup, now: i64, orders: Orders, page: Option<PaymentUrl>) -> Topup {
        let metadata = self.metadata(Actor::System, at(now));
        topup_of(&self.fresh(plans::order_topup(metadata, topup, orders, page)).await)
    }

    async fn settle(&self, topup: &Topup, confirmed: bool) -> Topup {
        let metadata = self.metadata(Actor::System, at(10));
        topup_of(&self.fresh(plans::settle_topup(metadata, topup, confirmed)).await)
    }
}

/// Due orders are sorted by the time of the next order, then by id; top-ups that ended or are not to be
/// ordered are not listed.
pub async fn due_payment_requests_are_listed_longest_waiting_first(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let ordered = |next_at| Charge::Ordered(orders(1, Some(next_at)));
    let mut made = Vec::new();
    for charge in [
        ordered(40),
        ordered(30),
        ordered(40),
        ordered(41),
        Charge::Pending,
        Charge::Confirmed,
        ordered(30),
        ordered(30),
        ordered(30),
        ordered(30),
        ordered(10),
    ] {
        made.push(scenario.open_topup(charge).await);
    }
    made[6] = scenario.settle(&made[6], true).await;
    made[7] = scenario.settle(&made[7], false).await;
    made[8] = scenario.order(&made[8], 5, orders(1, None), page()).await;
    made[9] = scenario.order(&made[9], 5, orders(2, Some(35)), None).await;
    made[10] = scenario.order(&made[10], 5, orders(2, Some(90)), None).await;

    let expected: Vec<Topup> = [1, 9, 0, 2].map(|place: usize| made[place].clone()).to_vec();
    let due = async |limit| scenario.store.due_orders(at(40), limit).await.unwrap();
    assert_eq!(due(100).await, expected);
    assert_eq!(due(3).await, expected[..3]);
    assert_eq!(due(0).await, []);
    let ids = async |now| -> Vec<TopupId> {
        scenario.store.due_orders(at(now), 100).await.unwrap().iter().map(|one| one.id).collect()
    };
    assert_eq!(ids(30).await, [made[1].id]);
    assert_eq!(ids(29).await, []);
    assert_eq!(ids(90).await, [1, 9, 0, 2, 3, 10].map(|place: usize| made[place].id));
}

/// Of many servers that claim a top-up concurrently one succeeds, and orders it alone.
pub async fn a_topup_is_leased_by_one_server(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let made = scenario.open_topup(Charge::Ordered(orders(1, Some(10)))).await;
    for (attempts, now) in (2..=4).zip([10, 20, 30]) {
        let due = scenario.store.due_orders(at(now), 10).await.unwrap();
        let [due] = due.as_slice() else { panic!("{due:?}") };
        let next = orders(attempts, Some(now + 10));
        let order = || plans::order_topup(scenario.metadata(Actor::System, at(now)), due, next, None);
        one_of_sixteen_is_applied(&scenario, order).await;
        assert_eq!(scenario.stored_topup(made.id).await.orders, Some(next));
    }
}

/// A page is stored as the provider named it, and changes nothing else; the money arrives with the
/// confirmation. The code of the page on which the payment began stays.
pub async fn the_payment_page_is_kept_after_confirmation(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let opened = scenario.open_topup(Charge::Ordered(orders(1, Some(30)))).await;
    assert_eq!(opened.page_code, DjCode::new(CODE));
    let expected = Topup { orders: Some(orders(1, None)), payment_url: page(), ..opened.clone() };
    let ordered = scenario.order(&opened, 5, orders(1, None), page()).await;
    assert_eq!(ordered, expected);
    assert_eq!(scenario.stored_topup(opened.id).await, expected);
    assert_eq!(scenario.balance(opened.user).await, balance(0, 0));
    scenario.settle(&ordered, true).await;
    let confirmed = Topup { status: TopupStatus::Confirmed, updated_at: at(10), ..expected };
    assert_eq!(scenario.stored_topup(opened.id).await, confirmed);
    assert_eq!(scenario.balance(opened.user).await, balance(500, 0));
    scenario.audit().await;
}

/// An order, a page or a final status decided on an outdated top-up is stale.
pub async fn plans_decided_on_an_outdated_topup_state_are_stale(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let system = || scenario.metadata(Actor::System, at(20));
    for ends in [None, Some(true), Some(false)] {
        let opened = scenario.open_topup(Charge::Ordered(orders(1, Some(30)))).await;
        let moved = match ends {
            None => scenario.order(&opened, 5, orders(1, None), page()).await,
            Some(confirmed) => scenario.settle(&opened, confirmed).await,
        };
        for late in [
            plans::order_topup(system(), &opened, orders(2, Some(60)), None),
            plans::order_topup(system(), &opened, orders(1, None), page()),
            plans::settle_topup(system(), &opened, false),
        ] {
            assert_eq!(scenario.apply(late).await, Err(Rejection::Stale), "{ends:?}");
        }
        assert_eq!(scenario.stored_topup(opened.id).await, moved);
    }
}
