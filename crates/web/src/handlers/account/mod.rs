//! The account: profile, address, password, sessions, export and erasure.

mod address;
mod confirm;
mod data;
mod page;
mod profile;
mod sessions;

use cuepoint_domain::authorization::Action;
use cuepoint_transport::rate_limits::Class;

use crate::route::{PageRoute, own_form, own_page};

pub(super) fn routes() -> Vec<PageRoute> {
    vec![
        own_page("/account", Action::UseProfile, page::show),
        own_page("/account/confirm", Action::UseCredentials, confirm::show),
        own_form("/account/confirm", Action::UseCredentials, Class::Guess, confirm::send),
        own_form("/account/name", Action::UseProfile, Class::Other, profile::name),
        own_form("/account/phone", Action::ChangeProfile, Class::Other, profile::phone),
        own_form("/account/dj", Action::ChangeProfile, Class::Other, profile::become_dj),
        own_form("/account/email", Action::UseCredentials, Class::Guess, address::request),
        own_form("/account/email/confirm", Action::UseCredentials, Class::Guess, address::confirm),
        own_form("/account/password", Action::UseCredentials, Class::Guess, profile::password),
        own_form("/account/sessions/{id}/end", Action::UseSessions, Class::Other, sessions::end),
        own_form("/account/sessions/end", Action::UseSessions, Class::Guess, sessions::end_all),
        own_form("/account/export", Action::UsePersonalData, Class::Guess, data::export),
        own_form("/account/erase", Action::UsePersonalData, Class::Guess, data::erase),
    ]
}
