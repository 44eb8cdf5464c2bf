//! Changes to a user's own profile.

use thiserror::Error;

use crate::money::Money;
use crate::text::{Line, Phone};
use crate::timestamp::Timestamp;
use crate::user::{Coordinates, DjProfile, Kilometres, User};

/// A field of a change: absent or set; a nullable field may be set to null.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Field<T> {
    /// Leaves the field unchanged.
    #[default]
    Keep,
    /// Sets the field to this value.
    Set(T),
}

impl<T: Clone> Field<T> {
    /// Sets a place to the value, if there is one.
    pub(crate) fn onto(&self, place: &mut T) {
        if let Self::Set(value) = self {
            place.clone_from(value);
        }
    }

    /// Whether the field was given.
    #[must_use]
    pub const fn is_set(&self) -> bool {
        matches!(self, Self::Set(_))
    }
}

/// A change of latitude and longitude, each of which may be given alone.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Locate {
    /// Degrees north.
    pub latitude: Field<Option<f64>>,
    /// Degrees east.
    pub longitude: Field<Option<f64>>,
}

/// A change of the user's own profile; every field is optional.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ProfileChange {
    /// The new name.
    pub name: Field<Line>,
    /// The new phone number; a different one is unverified, and must be a [`Phone`]. An unchanged number
    /// keeps its form.
    pub phone: Field<Option<Line>>,
    /// The new city.
    pub city: Field<Option<Line>>,
    /// The new state.
    pub state: Field<Option<Line>>,
    /// The new country.
    pub country: Field<Option<Line>>,
    /// The new coordinates.
    pub place: Locate,
    /// The new radius.
    pub radius: Field<Option<Kilometres>>,
    /// Whether the user is a DJ: members become DJs, and no DJ becomes a mere guest.
    pub is_dj: Field<bool>,
    /// The fields reserved for DJs.
    pub dj: DjChange,
}

/// The fields of a change that only DJs can set.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct DjChange {
    /// Whether the DJ accepts requests.
    pub online: Field<bool>,
    /// The new price of a song by an upcoming artist.
    pub fee_upcoming_artist: Field<Money>,
    /// The new price of a popular song.
    pub fee_popular_song: Field<Money>,
}

impl ProfileChange {
    /// Whether it sets another field than the name.
    #[must_use]
    pub fn is_beyond_name(&self) -> bool {
        *self != Self { name: self.name.clone(), ..Self::default() }
    }

    /// Whether it sets a field reserved for DJs.
    #[must_use]
    pub fn is_for_djs(&self) -> bool {
        self.dj != DjChange::default()
    }
}

/// Why a profile change is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("the profile cannot be changed so: {self:?}")]
pub enum ProfileRefusal {
    /// It sets a field reserved for DJs.
    NotADj,
    /// It would make a DJ a mere guest.
    StaysADj,
    /// It sets a new phone number that is not a [`Phone`].
    Phone,
    /// It leaves a longitude without a latitude.
    LatitudeMissing,
    /// It leaves a latitude without a longitude.
    LongitudeMissing,
    /// The latitude or longitude is out of range.
    OffTheMap,
}

/// Applies the change to the user. Becoming a DJ changes the user's status, so that issued tokens have the
/// new capacity.
///
/// # Errors
/// [`ProfileRefusal`]; the user is unchanged.
pub fn change_profile(user: &User, change: &ProfileChange, at: Timestamp) -> Result<User, ProfileRefusal> {
    let mut changed = user.clone();
    match (change.is_dj, user.is_dj()) {
        (Field::Set(false), true) => return Err(ProfileRefusal::StaysADj),
        (Field::Set(true), false) => {
            changed.dj = Some(DjProfile::default());
            changed.note_status_change(at);
        }
        _ => {}
    }
    match &mut changed.dj {
        Some(dj) => change_dj(dj, &change.dj),
        None if change.is_for_djs() => return Err(ProfileRefusal::NotADj),
        None => {}
    }
    if let Field::Set(phone) = &change.phone
        && *phone != changed.phone
    {
        if phone.as_ref().is_some_and(|phone| Phone::new(phone.as_str()).is_err()) {
            return Err(ProfileRefusal::Phone);
        }
        changed.phone_verified = false;
    }
    changed.coordinates = located(user.coordinates, change.place)?;
    change.name.onto(&mut changed.name);
    change.phone.onto(&mut changed.phone);
    change.city.onto(&mut changed.city);
    change.state.onto(&mut changed.state);
    change.country.onto(&mut changed.country);
    change.radius.onto(&mut changed.radius);
    Ok(changed)
}

/// Sets the given fields of a DJ's profile.
pub(crate) fn change_dj(dj: &mut DjProfile, change: &DjChange) {
    let DjChange { online, fee_upcoming_artist, fee_popular_song } = change;
    online.onto(&mut dj.online);
    fee_upcoming_artist.onto(&mut dj.fee_upcoming_artist);
    fee_popular_song.onto(&mut dj.fee_popular_song);
}

/// The coordinates after a change.
///
/// # Errors
/// [`ProfileRefusal`] if they are incomplete or out of range.
pub(crate) fn located(now: Option<Coordinates>, to: Locate) -> Result<Option<Coordinates>, ProfileRefusal> {
    let mut latitude = now.map(Coordinates::latitude);
    let mut longitude = now.map(Coordinates::longitude);
    to.latitude.onto(&mut latitude);
    to.longitude.onto(&mut longitude);
    match (latitude, longitude) {
        (None, None) => Ok(None),
        (None, Some(_)) => Err(ProfileRefusal::LatitudeMissing),
        (Some(_), None) => Err(ProfileRefusal::LongitudeMissing),
        (Some(latitude), Some(longitude)) => {
            Coordinates::new(latitude, longitude).map(Some).ok_or(ProfileRefusal::OffTheMap)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::UserId;
    use crate::text::Email;
    use crate::timestamp::Timestamp;

    const NOW: Timestamp = Timestamp::EPOCH;

    fn person(is_dj: bool) -> User {
        let mut user = User::registered(
            UserId::new(1).unwrap(),
            Line::new("Ada").unwrap(),
            Email::new("ada@example.com").unwrap(),
            Some(Line::new("+1 555 0100").unwrap()),
            is_dj,
            Timestamp::EPOCH,
        );
        user.phone_verified = true;
        user
    }

    #[test]
    fn an_empty_change_keeps_the_profile() {
        assert_eq!(change_profile(&person(true), &ProfileChange::default(), NOW), Ok(person(true)));
    }

    #[test]
    fn only_the_name_can_be_set_without_a_change_beyond_it() {
        let name = Field::Set(Line::new("Grace").unwrap());
        assert!(!ProfileChange { name: name.clone(), ..ProfileChange::default() }.is_beyond_name());
        let phone = Field::Set(None);
        assert!(ProfileChange { name, phone, ..ProfileChange::default() }.is_beyond_name());
    }

    #[test]
    fn becoming_a_dj_is_permanent() {
        let set = |is_dj| ProfileChange { is_dj: Field::Set(is_dj), ..ProfileChange::default() };
        let became = change_profile(&person(false), &set(true), NOW).unwrap();
        assert_eq!((&became.dj, became.status_changed_at), (&Some(DjProfile::default()), Some(NOW)));
        assert_eq!(change_profile(&became, &set(false), NOW), Err(ProfileRefusal::StaysADj));
        for (is_dj, stays) in [(true, person(true)), (false, person(false))] {
            assert_eq!(change_profile(&stays, &set(is_dj), NOW), Ok(stays.clone()), "{is_dj}");
        }
    }

    #[test]
    fn only_djs_can_go_online() {
        let dj = DjChange { online: Field::Set(true), ..DjChange::default() };
        let change = ProfileChange { dj, ..ProfileChange::default() };
        assert_eq!(change_profile(&person(false), &change, NOW), Err(ProfileRefusal::NotADj));
        assert!(change_profile(&person(true), &change, NOW).unwrap().dj.unwrap().online);
    }

    #[test]
    fn only_a_changed_phone_number_loses_its_verification() {
        let same = ProfileChange { phone: Field::Set(person(false).phone), ..ProfileChange::default() };
        assert!(change_profile(&person(false), &same, NOW).unwrap().phone_verified);
        let none = ProfileChange { phone: Field::Set(None), ..ProfileChange::default() };
        assert!(!change_profile(&person(false), &none, NOW).unwrap().phone_verified);
    }

    #[test]
    fn only_new_phone_numbers_must_be_e164() {
        let kept = person(false);
        let phone = |number| ProfileChange {
            phone: Field::Set(Some(Line::new(number).unwrap())),
            city: Field::Set(Some(Line::new("London").unwrap())),
            ..ProfileChange::default()
        };
        for number in ["+1 555 0199", "5550199", "call me"] {
            assert_eq!(change_profile(&kept, &phone(number), NOW), Err(ProfileRefusal::Phone), "{number}");
        }
        let changed = change_profile(&kept, &phone("+15550100"), NOW).unwrap();
        assert_eq!((changed.phone.unwrap().as_str(), changed.phone_verified), ("+15550100", false));
        let same = change_profile(&kept, &phone("+1 555 0100"), NOW).unwrap();
        assert_eq!((&same.phone, same.phone_verified), (&kept.phone, true));
        assert!(same.city.is_some());
    }

    #[test]
    fn a_user_has_both_a_latitude_and_a_longitude_or_neither() {
        let place = |latitude, longitude| ProfileChange {
            place: Locate { latitude, longitude },
            ..ProfileChange::default()
        };
        let set = |degrees| Field::Set(Some(degrees));
        let here = change_profile(&person(false), &place(set(52.5), set(13.4)), NOW).unwrap();
        assert_eq!(here.coordinates, Coordinates::new(52.5, 13.4));
        let moved = change_profile(&here, &place(set(50.0), Field::Keep), NOW).unwrap();
        assert_eq!(moved.coordinates, Coordinates::new(50.0, 13.4));
        assert_eq!(
            change_profile(&here, &place(Field::Set(None), Field::Keep), NOW),
            Err(ProfileRefusal::LatitudeMissing)
        );
        assert_eq!(
            change_profile(&person(false), &place(set(1.0), Field::Keep), NOW),
            Err(ProfileRefusal::LongitudeMissing)
        );
        assert_eq!(
            change_profile(&here, &place(set(90.5), Field::Keep), NOW),
            Err(ProfileRefusal::OffTheMap)
        );
        assert_eq!(
            change_profile(&here, &place(Field::Set(None), Field::Set(None)), NOW).unwrap().coordinates,
            None
        );
    }
}
