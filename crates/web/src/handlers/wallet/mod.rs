//! The wallet: balances, statement, top-ups, withdrawals and tips.

mod page;
mod payout;
mod payout_fields;

use cuepoint_domain::authorization::Action;
use cuepoint_transport::rate_limits::Class;

pub(in crate::handlers) use page::{Refused, render};

use crate::route::{PageRoute, own_form, own_page};

pub(super) fn routes() -> Vec<PageRoute> {
    vec![
        own_page("/wallet", Action::UseWallet, page::show),
        own_page("/wallet/statement", Action::UseWallet, page::statement),
        own_form("/wallet/payout", Action::UseWithdrawal, Class::Other, payout::check),
        own_form("/wallet/payout/confirm", Action::UseWithdrawal, Class::Withdrawals, payout::open),
        own_form("/withdrawals/{id}/cancel", Action::UseWithdrawal, Class::Other, payout::cancel),
    ]
}
