//! Names of enumerations in rows.

use std::fmt::Debug;

use cuepoint_domain::gig::QueueOrder;
use cuepoint_domain::ledger::{EntryKind, PostingAccount};
use cuepoint_domain::music_request::RequestStatus;
use cuepoint_domain::topup::TopupStatus;
use cuepoint_domain::user::{ArtistType, Role};
use cuepoint_domain::withdrawal::WithdrawalStatus;
use diesel::deserialize::FromSqlRow;
use diesel::expression::AsExpression;
use serde::de::Deserializer;
use serde::ser::{Error as _, Serializer};
use serde::{Deserialize, Serialize};

use crate::sql_types::{ColumnType, Text};
use crate::table::ColumnKind;

/// An enumeration of the domain whose names stores hold.
pub trait StoredName: Copy + Debug + Send + Sync + 'static {
    /// The value of a stored name; `None` for a name that no version writes.
    fn stored(name: &str) -> Option<Self>;

    /// The name of the value.
    fn name(self) -> &'static str;
}

/// Lists the enumerations, each with the function that finds a value by its stored name.
macro_rules! stored_names {
    ($($type:ident by $find:ident;)+) => {$(
        impl StoredName for $type {
            fn stored(name: &str) -> Option<Self> {
                Self::$find(name)
            }

            fn name(self) -> &'static str {
                Self::name(self)
            }
        }
    )+};
}

stored_names! {
    ArtistType by named;
    EntryKind by stored;
    PostingAccount by stored;
    QueueOrder by named;
    RequestStatus by stored;
    Role by stored;
    TopupStatus by stored;
    WithdrawalStatus by stored;
}

/// The value of an enumeration in a column of text, which is matched where it was received instead of being copied.
#[derive(Clone, Copy, Debug, AsExpression, FromSqlRow)]
#[diesel(sql_type = Text)]
pub struct Named<T: StoredName>(Option<T>);

impl<T: StoredName> Named<T> {
    /// Converts a value for its column.
    #[must_use]
    pub const fn of(value: T) -> Self {
        Self(Some(value))
    }

    /// Reads the text of a column.
    #[must_use]
    pub fn stored(text: &str) -> Self {
        Self(T::stored(text))
    }

    /// The value; `None` if the column held a name that no version writes.
    #[must_use]
    pub const fn get(self) -> Option<T> {
        self.0
    }

    /// The name of the value.
    ///
    /// # Errors
    /// The reason, if the column held a name that no version writes.
    pub(crate) fn name(self) -> Result<&'static str, &'static str> {
        self.0.map(T::name).ok_or("the name in the column is invalid")
    }
}

impl<T: StoredName> ColumnType for Named<T> {
    type Sql = Text;
    type Value = Self;
    type Inserted<'v> = &'v Self;

    const NAME: &'static str = Text::NAME;
    const KIND: ColumnKind = Text::KIND;
    const IS_NULLABLE: bool = false;

    fn inserted(value: &Self) -> Option<&Self> {
        Some(value)
    }
}

impl<T: StoredName> Serialize for Named<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.name().map_err(S::Error::custom)?)
    }
}

impl<'de, T: StoredName> Deserialize<'de> for Named<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from).map(|name| Self::stored(&name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_and_written_unchanged() {
        for name in ["pending", "played", "name_of_a_newer_version"] {
            let status = Named::<RequestStatus>::stored(name);
            assert_eq!(status.get().map(RequestStatus::name), Some(name));
            let json = serde_json::to_string(&status).unwrap();
            assert_eq!(json, format!("{name:?}"));
            let read: Named<RequestStatus> = serde_json::from_str(&json).unwrap();
            assert_eq!(read.get(), status.get());
        }
    }

    #[test]
    fn a_name_that_no_version_writes_is_read_as_none_and_never_written() {
        for name in ["", "Pending", "on hold"] {
            let status = Named::<RequestStatus>::stored(name);
            assert_eq!(status.get(), None);
            assert!(serde_json::to_string(&status).is_err(), "{name:?}");
        }
        assert_eq!(Named::<ArtistType>::stored("newer").get(), None);
    }
}
