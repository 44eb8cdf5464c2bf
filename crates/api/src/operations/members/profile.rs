//! The caller's profile.

use cuepoint_domain::application::Done;
use cuepoint_domain::application::commands::ChangeProfile;
use cuepoint_domain::authorization::{Action, Principal};
use cuepoint_domain::money::Money;
use cuepoint_domain::ports::Profile;
use cuepoint_domain::text::Line;
use cuepoint_domain::user::{DjChange, Field, Kilometres, Locate, ProfileChange};

use crate::call::ApiCall;
use crate::command_call::CommandCall;
use crate::declaration::{object, ok, operations};
use crate::endpoint::{authenticated, command};
use crate::wire::body::body;
use crate::wire::envelope::ApiResponse;
use crate::wire::error::{ApiError, Code};
use crate::wire::kinds;
use cuepoint_views::people::{UserData, UserView};

operations! {
    /// Show the caller's profile
    ///
    /// The profile with the available balance. Existing clients depend on the exact form of this operation. It
    /// never gains or loses a key, and ignores unknown parameters.
    GET "/api/v1/user/personal-info" "getPersonalInfo" {
        tag: Profile,
        run: authenticated(Action::UseProfile, show),
        answers: ok::<UserData>("The caller's profile."),
        is_fixed: true,
    }

    /// Change the caller's profile
    ///
    /// Fields that are missing keep their values. Other fields of the profile return 422, unless they have their
    /// current value.
    ///
    /// To become a DJ, set `is_dj` first, then `online` and the prices. For another user, `online` and the prices
    /// return 403 `dj_only`. Access tokens work as a DJ's immediately at this server, and within two seconds at
    /// others. A DJ stays a DJ: `false` returns 422 for `is_dj`. A guest account can change its name alone.
    PATCH "/api/v1/user/personal-info" "updatePersonalInfo" {
        tag: Profile,
        run: command(change),
        answers: ok::<UserData>("The changed profile."),
        body: object::<PersonalInfoUpdateBody>(),
        fails: &[Code::DjOnly, Code::ClaimRequired],
    }
}

body! {
    /// A change of the caller's profile. Omitted fields keep their values; `null` clears a nullable field.
    pub struct PersonalInfoUpdateBody as "PersonalInfoUpdate", example: {"city": "Berlin", "online": 1, "fee_popular_song": 10.00} {
        /// Display name.
        name: Field<Line> = change(kinds::LINE),
        /// Phone number in E.164 form: `+` and 7 to 15 digits, without spaces. The stored number is accepted in any
        /// form. A new number is unverified.
        phone: Field<Option<Line>> = change_or_clear(kinds::PHONE_OR_STORED),
        /// City.
        city: Field<Option<Line>> = change_or_clear(kinds::LINE),
        /// State or region.
        state: Field<Option<Line>> = change_or_clear(kinds::LINE),
        /// Country.
        country: Field<Option<Line>> = change_or_clear(kinds::LINE),
        /// Latitude in degrees north, to be set together with `longitude`.
        latitude: Field<Option<f64>> = change_or_clear(kinds::LATITUDE),
        /// Longitude in degrees east, to be set together with `latitude`.
        longitude: Field<Option<f64>> = change_or_clear(kinds::LONGITUDE),
        /// Radius around the location, in kilometres.
        radius: Field<Option<Kilometres>> = change_or_clear(kinds::KILOMETRES),
        /// `true` makes the caller a DJ, for good. For a DJ, `false` returns 422.
        is_dj: Field<bool> = change(kinds::BOOLEAN),
        ..dj: DjFieldsBody,
    }
}

body! {
    /// The fields of a profile that only DJs can set.
    pub struct DjFieldsBody as "DjFields", example: {"online": 1, "fee_popular_song": 10.00} {
        /// 1 to accept requests, 0 to stop; also written `true` and `false`. DJs only.
        online: Field<bool> = change(kinds::FLAG),
        /// Price of a song by an upcoming artist, in major units. DJs only.
        fee_upcoming_artist: Field<Money> = change(kinds::PRICE),
        /// Price of a popular song, in major units. DJs only.
        fee_popular_song: Field<Money> = change(kinds::PRICE),
    }
}

async fn show(call: ApiCall, principal: Principal) -> Result<ApiResponse, ApiError> {
    let profile = call.use_cases().profiles.own(&principal).await?;
    Ok(ApiResponse::view("Personal information.", view(&call, &profile)))
}

async fn change(call: CommandCall<ChangeProfile>) -> Result<Done<ApiResponse>, ApiError> {
    let sets_dj_fields = call.has_any_of::<DjFieldsBody>();
    let present = match call.has_read_only_field() {
        true => Some(view(&call, &call.use_cases().profiles.own(call.principal()).await?)),
        false => None,
    };
    let read = || call.change_of::<PersonalInfoUpdateBody>(&present).map(ProfileChange::from);
    let done = call.run(ChangeProfile { sets_dj_fields }, read).await.map_err(|error| match error.code {
        Code::DjOnly => ApiError::saying(Code::DjOnly, ApiError::DJ_FIELDS),
        _ => error,
    })?;
    done.try_map(|profile| Ok(ApiResponse::view("Personal information updated.", view(&call, &profile))))
}

impl From<PersonalInfoUpdateBody> for ProfileChange {
    fn from(body: PersonalInfoUpdateBody) -> Self {
        Self {
            name: body.name,
            phone: body.phone,
            city: body.city,
            state: body.state,
            country: body.country,
            place: Locate { latitude: body.latitude, longitude: body.longitude },
            radius: body.radius,
            is_dj: body.is_dj,
            dj: body.dj.into(),
        }
    }
}

impl From<DjFieldsBody> for DjChange {
    fn from(body: DjFieldsBody) -> Self {
        let DjFieldsBody { online, fee_upcoming_artist, fee_popular_song } = body;
        Self { online, fee_upcoming_artist, fee_popular_song }
    }
}

fn view(call: &ApiCall, profile: &Profile) -> UserData {
    UserData { user: UserView::new(&profile.user, profile.balance.available, call.currency()) }
}
