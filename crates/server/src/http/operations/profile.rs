//! One's own profile.

use cuepoint_domain::ledger::{Outcome, Receipt};
use cuepoint_domain::money::Money;
use cuepoint_domain::people::{Locate, ProfileChange};
use cuepoint_domain::ports::Applied;
use cuepoint_domain::service::FindError;

use crate::app::App;
use crate::http::call::Call;
use crate::http::openapi::bodies::PersonalInfo;
use crate::http::operations::views::{User, UserData};
use crate::http::wire::envelope::{Answer, Success};
use crate::http::wire::error::{ApiError, Code};
use crate::http::wire::values;
use cuepoint_domain::access::{Action, Caller, Whose};

/// The fields that only a DJ has.
const DJ_FIELDS: [&str; 3] = ["online", "fee_upcoming_artist", "fee_popular_song"];

/// Shows the caller to themselves.
#[utoipa::path(
    get,
    path = "/api/v1/user/personal-info",
    operation_id = "showPersonalInfo",
    tag = "Profile",
    responses((status = 200, description = "The caller.", body = Success<UserData>)),
)]
pub async fn show(call: Call, caller: Caller) -> Result<Answer, ApiError> {
    let profile = call.app.services.profiles.own(&caller).await.map_err(own)?;
    let user = User::new(&profile.user, profile.balance.available, call.currency());
    Answer::ok("Personal information.", UserData { user })
}

/// What it means that the caller's own things are not found: the token outlived its owner.
pub fn own(error: FindError) -> ApiError {
    match error {
        FindError::NotFound => Code::InvalidToken.into(),
        other => other.into(),
    }
}

/// Changes the caller's profile; price and presence are a DJ's alone.
#[utoipa::path(
    patch,
    path = "/api/v1/user/personal-info",
    operation_id = "changePersonalInfo",
    tag = "Profile",
    request_body = PersonalInfo,
    responses((status = 200, description = "The caller as they are now.", body = Success<UserData>)),
)]
pub async fn change(call: Call, caller: Caller) -> Result<Applied, ApiError> {
    if DJ_FIELDS.iter().any(|field| call.has_field(field)) {
        // What is asked of the caller comes before what is wrong with their fields.
        caller.may(Action::TakeRequests, Whose::Own)?;
    }
    let mut fields = call.fields();
    let fee = values::money(call.currency(), Money::ZERO);
    let change = ProfileChange {
        name: fields.change("name", values::line),
        phone: fields.change_or_clear("phone", values::line),
        city: fields.change_or_clear("city", values::line),
        state: fields.change_or_clear("state", values::line),
        country: fields.change_or_clear("country", values::line),
        place: Locate {
            latitude: fields.change_or_clear("latitude", values::degrees(90)),
            longitude: fields.change_or_clear("longitude", values::degrees(180)),
        },
        radius: fields.change_or_clear("radius", values::kilometres),
        online: fields.change("online", values::flag),
        fee_upcoming_artist: fields.change("fee_upcoming_artist", &fee),
        fee_popular_song: fields.change("fee_popular_song", &fee),
    };
    let change = fields.complete(|| Some(change))?;
    Ok(call.app.services.profiles.change(&call.command(&caller), change).await?)
}

/// What a changed profile is shown as.
pub fn changed(app: &App, receipt: &Receipt) -> Result<Answer, ApiError> {
    let Outcome::Profile(user, balance) = &receipt.outcome else {
        return Err(ApiError::internal("a change of a profile came to something else"));
    };
    let user = User::new(user, balance.available, &app.settings.currency);
    Answer::ok("Personal information updated.", UserData { user })
}
