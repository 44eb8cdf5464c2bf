//! The wallet: balances, statement, top-ups, withdrawals and tips; and the link that moves it to another browser.

mod link;
mod page;
mod payout;
mod payout_fields;

use cuepoint_domain::authorization::Action;
use cuepoint_transport::rate_limits::Class;

pub(in crate::handlers) use self::page::{Refused, render};

use crate::route::{PageRoute, form, own_form, own_page, page};

pub(super) fn routes() -> Vec<PageRoute> {
    vec![
        own_page("/wallet", Action::UseWallet, self::page::show),
        own_page("/wallet/statement", Action::UseWallet, self::page::statement),
        page("/wallet-link", link::show),
        form("/wallet-link", Class::Guess, link::open),
        own_form("/wallet/payout", Action::UseWithdrawal, Class::Other, payout::check),
        own_form("/wallet/payout/confirm", Action::UseWithdrawal, Class::Withdrawals, payout::open),
        own_form("/withdrawals/{id}/cancel", Action::UseWithdrawal, Class::Other, payout::cancel),
    ]
}
