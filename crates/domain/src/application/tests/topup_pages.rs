//! Payment pages of top-ups, as payers read them, on doubles of the ports.

use super::*;
use crate::application::queries::{SeenTopup, TopupQueries};
use crate::page::{PageRequest, Rows};
use crate::provider_reference::ProviderReference;
use crate::text::PaymentUrl;
use crate::topup::TopupStatus;

fn pending(page: &str) -> Topup {
    Topup {
        id: TopupId::new(5).unwrap(),
        opening: None,
        user: user(1),
        amount: Amount::new(Money::from_minor(500)).unwrap(),
        status: TopupStatus::Pending,
        payment_url: PaymentUrl::new(page).ok(),
        page_code: None,
        orders: None,
        suspense: None,
        created_at: now(),
        updated_at: now(),
    }
}

/// Attack API8: a payment page by http that an earlier version stored, and that somebody in the network replaces.
#[test]
fn payers_read_no_stored_payment_page_by_http_where_pages_are_encrypted() {
    for (page, is_shown) in [("http://pay.example.com/1", false), ("https://pay.example.com/1", true)] {
        let mut topups = MockTopups::new();
        topups.expect_topup().returning(move |_| Ok(Some(pending(page))));
        topups.expect_topups().returning(move |_, _| Ok(Rows { rows: vec![pending(page)], total: 1 }));
        let topups = TopupQueries { env: Doubles { topups, ..Doubles::default() }.env() };
        let (payer, id) = (principal(1), TopupId::new(5).unwrap());
        let own = run(topups.own(&payer, id)).unwrap();
        let listed = run(topups.list(&payer, None, PageRequest::new(1, 1))).unwrap().rows.remove(0);
        let seen = run(topups.seen(Some(&payer), ProviderReference::Row(id.get()))).unwrap();
        let SeenTopup::Own(seen) = seen else { panic!("the payer's own") };
        for topup in [own, listed, *seen] {
            assert_eq!(topup.payment_url.is_some(), is_shown, "{page}");
        }
    }
}
