//! The start page, and the ways into an account: login, registration, claim, forgotten password, codes.

mod account_fields;
mod claim;
mod first_operator;
mod login;
mod passwords;
mod register;
mod start;
mod verify;

use cuepoint_domain::authorization::Action;
use cuepoint_transport::rate_limits::Class;

pub(in crate::handlers) use login::{ended, has_money_to_lose};
pub(in crate::handlers) use start::empty as start_page;

use crate::route::{PageRoute, form, own_form, own_page, page};

pub(super) fn routes() -> Vec<PageRoute> {
    vec![
        page("/", start::show),
        form("/nearby", Class::Nearby, start::nearby),
        page("/login", login::show),
        form("/login", Class::Login, login::send),
        own_form("/logout", Action::UseSessions, Class::Other, login::log_out),
        page("/register", register::show),
        form("/register", Class::Registrations, register::send),
        own_page("/claim", Action::ClaimAccount, claim::show),
        own_form("/claim", Action::ClaimAccount, Class::Claims, claim::send),
        page("/forgot", passwords::forgot),
        form("/forgot", Class::Guess, passwords::send_forgot),
        page("/reset", passwords::reset),
        form("/reset", Class::Guess, passwords::send_reset),
        own_page("/verify", Action::UseCredentials, verify::show),
        own_form("/verify/send", Action::UseCredentials, Class::Guess, verify::send),
        own_form("/verify", Action::UseCredentials, Class::Guess, verify::check),
        page("/first-operator", first_operator::show),
        form("/first-operator", Class::Guess, first_operator::send),
    ]
}
