//! Filters of lists: each query parameter is declared once, for the reader and for the document.
//!
//! ```text
//! filters! {
//!     /// The filters of the list of DJs.
//!     struct DjFilters {
//!         /// 1: only DJs who are online; 0: only the others.
//!         online: bool = filters::FLAG,
//!     }
//! }
//! ```
//!
//! A filter is optional, unless it stands in `required { … }` before the others. All wrong and missing filters are
//! reported at once, in the order of their declaration.

use std::collections::BTreeSet;

use cuepoint_domain::application::queries::EventQueries;
use cuepoint_domain::event::EventType;
use cuepoint_domain::ids::UserId;
use cuepoint_domain::ledger::EntryKind;
use cuepoint_domain::music_request::RequestStatus;
use cuepoint_domain::operation::Position;
use cuepoint_domain::provider_reference::ProviderReference;
use cuepoint_domain::security_log::SecurityEventKind;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::tip::TipDirection;
use cuepoint_domain::topup::TopupStatus;
use cuepoint_domain::user::{Coordinates, Kilometres};
use cuepoint_domain::withdrawal::WithdrawalStatus;
use serde_json::value::RawValue;
use utoipa::openapi::{RefOr, Schema};

use crate::wire::error::ApiError;
use crate::wire::query::{Query, integer};
use crate::wire::validation_texts::{self, Errors, FieldProblem};
use crate::wire::{kinds, values};
use cuepoint_views::wire::entry_kinds;
use cuepoint_views::wire::schema::Described;
use cuepoint_views::wire::{names, time};

/// A reference in a filter: a UUID in any letter case, or a decimal id.
const REFERENCE_PATTERN: &str = "^([0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|[1-9][0-9]{0,17})$";

/// A latitude from -90 to 90 and a longitude from -180 to 180.
const COORDINATES_PATTERN: &str = "^-?([0-8]?[0-9](\\.[0-9]+)?|90(\\.0+)?),\
    -?((1[0-7][0-9]|[0-9]{1,2})(\\.[0-9]+)?|180(\\.0+)?)$";
/// The largest distance of nearby gigs, in kilometres.
const MOST_KILOMETRES: u32 = 200;
/// The maximum number of fees.
const MOST_FEES: usize = 4;
/// One to four fees, written like numbers in JSON.
const FEES_PATTERN: &str = r"^(0|[1-9][0-9]{0,11})(\.[0-9]+)?(,(0|[1-9][0-9]{0,11})(\.[0-9]+)?){0,3}$";

/// The filters of an operation.
pub trait QueryFilters: Sized {
    /// Their descriptions.
    const DECLARED: &'static [Filter];

    /// Reads all filters.
    ///
    /// # Errors
    /// 422 with the messages of all wrong filters.
    fn read(query: &Query) -> Result<Self, ApiError>;
}

/// The description of a filter.
#[derive(Clone, Copy, Debug)]
pub struct Filter {
    /// Its name.
    pub name: &'static str,
    /// Whether a call without it is refused.
    pub is_required: bool,
    /// Its schema.
    pub schema: Described,
    /// The lines of its doc comment.
    pub documentation: &'static [&'static str],
    /// An example, if the schema has none.
    pub example: Option<&'static str>,
}

/// The problem of the filter of this name.
type Message = fn(&str) -> FieldProblem;

/// A kind of filter.
pub struct FilterKind<T> {
    /// Reads a value; an empty one only where the query is strict.
    pub read: fn(&str) -> Result<T, Message>,
    /// Its schema.
    pub schema: Described,
    /// An example, if the schema has none.
    pub example: Option<&'static str>,
    /// The problem of the filter of this name with this refused value, if it depends on the value.
    pub problem: Option<fn(&str, &str) -> FieldProblem>,
}

impl<T> FilterKind<T> {
    const fn new(schema: Described, read: fn(&str) -> Result<T, Message>) -> Self {
        Self { read, schema, example: None, problem: None }
    }
}

/// 1 or 0.
pub const FLAG: FilterKind<bool> = FilterKind::new(Described::inline(kinds::flag), |text| {
    values::yes_or_no(text).ok_or(validation_texts::flag)
});

/// The id of a user, existing or not.
pub const USER_ID: FilterKind<UserId> = FilterKind::new(Described::inline(kinds::id), user_id);

/// The id of a user, described as any integer.
pub const ANY_USER_ID: FilterKind<UserId> =
    FilterKind::new(Described::inline(|| kinds::whole_number().into()), user_id);

/// Any text.
pub const TEXT: FilterKind<String> = FilterKind::new(kinds::ANY_TEXT.schema, |text| Ok(text.to_owned()));

/// A time in the format of RFC 3339.
pub const TIMESTAMP: FilterKind<Timestamp> = FilterKind {
    example: Some("2026-01-31T20:15:00Z"),
    ..FilterKind::new(Described::inline(kinds::timestamp), |text| {
        time::parse_timestamp(text).ok_or(validation_texts::date)
    })
};

/// The status of a music request.
pub const REQUEST_STATUS: FilterKind<RequestStatus> =
    FilterKind::new(Described::named::<names::MusicRequestStatus>(), |text| {
        RequestStatus::named(text)
            .ok_or(|field| validation_texts::one_of(field, RequestStatus::all().map(RequestStatus::name)))
    });

/// The status of a withdrawal.
pub const WITHDRAWAL_STATUS: FilterKind<WithdrawalStatus> =
    FilterKind::new(Described::named::<names::WithdrawalStatus>(), |text| {
        WithdrawalStatus::named(text).ok_or(|field| {
            validation_texts::one_of(field, WithdrawalStatus::all().map(WithdrawalStatus::name))
        })
    });

/// The status of a top-up.
pub const TOPUP_STATUS: FilterKind<TopupStatus> =
    FilterKind::new(Described::named::<names::TopupStatus>(), |text| {
        TopupStatus::named(text)
            .ok_or(|field| validation_texts::one_of(field, TopupStatus::all().map(TopupStatus::name)))
    });

/// The side of the caller in a tip.
pub const TIP_DIRECTION: FilterKind<TipDirection> =
    FilterKind::new(Described::named::<names::TipDirection>(), |text| {
        TipDirection::named(text)
            .ok_or(|field| validation_texts::one_of(field, TipDirection::all().map(TipDirection::name)))
    });

/// The kind of an entry of a wallet.
pub const ENTRY_KIND: FilterKind<EntryKind> =
    FilterKind::new(Described::named::<names::EntryKind>(), |text| {
        entry_kinds::named(text)
            .ok_or(|field| validation_texts::one_of(field, EntryKind::all().map(entry_kinds::name)))
    });

/// The kind of an event in the security log.
pub const EVENT_KIND: FilterKind<SecurityEventKind> =
    FilterKind::new(Described::named::<names::SecurityEventKind>(), |text| {
        SecurityEventKind::named(text)
            .ok_or(|field| validation_texts::one_of(field, SecurityEventKind::all().map(|kind| kind.name())))
    });

/// A place: latitude and longitude in degrees.
pub const COORDINATES: FilterKind<Coordinates> = FilterKind {
    example: Some("52.52,13.40"),
    ..FilterKind::new(Described::inline(|| kinds::text().pattern(Some(COORDINATES_PATTERN)).into()), |text| {
        coordinates(text).ok_or(validation_texts::format)
    })
};

/// A distance of nearby gigs.
pub const NEARBY_KILOMETRES: FilterKind<Kilometres> = FilterKind::new(
    Described::inline(|| kinds::whole_number_of(32).minimum(Some(1)).maximum(Some(MOST_KILOMETRES)).into()),
    |text| {
        let number = integer(text).ok_or::<Message>(validation_texts::integer)?;
        let number = u32::try_from(number).ok().filter(|km| (1..=MOST_KILOMETRES).contains(km));
        let distance = number.and_then(|km| Kilometres::new(km.into()));
        distance.ok_or(|field| validation_texts::between(field, "1", &MOST_KILOMETRES.to_string()))
    },
);

/// At most four fees, separated by commas; their amounts depend on the currency.
pub const FEES: FilterKind<Vec<Box<RawValue>>> = FilterKind {
    example: Some("12.50,25.00"),
    ..FilterKind::new(Described::inline(|| kinds::text().pattern(Some(FEES_PATTERN)).into()), |text| {
        fees(text).ok_or(validation_texts::format)
    })
};

/// The coordinates in a text.
fn coordinates(text: &str) -> Option<Coordinates> {
    let (latitude, longitude) = text.split_once(',')?;
    let degrees = |text: &str| {
        let is_plain = text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'-'));
        text.parse::<f64>().ok().filter(|_| is_plain)
    };
    Coordinates::new(degrees(latitude)?, degrees(longitude)?)
}

/// The fees in a text.
fn fees(text: &str) -> Option<Vec<Box<RawValue>>> {
    let fee = |text: &str| {
        let is_plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        RawValue::from_string(text.to_owned()).ok().filter(|_| is_plain)
    };
    let fees: Vec<_> = text.split(',').map(fee).collect::<Option<_>>()?;
    (fees.len() <= MOST_FEES).then_some(fees)
}

/// A position in the order of events, or 0.
pub const POSITION: FilterKind<Position> = FilterKind::new(Described::inline(kinds::position), |text| {
    let number = integer(text).ok_or::<Message>(validation_texts::integer)?;
    Position::new(number).ok_or(|field| validation_texts::at_least(field, "0"))
});

/// The number of events in a page.
pub const EVENT_LIMIT: FilterKind<u32> = FilterKind::new(
    Described::inline(|| {
        kinds::whole_number_of(32).minimum(Some(1)).maximum(Some(EventQueries::PAGE_MAX)).into()
    }),
    |text| {
        let number = integer(text).ok_or::<Message>(validation_texts::integer)?;
        let limit = u32::try_from(number).ok().filter(|limit| (1..=EventQueries::PAGE_MAX).contains(limit));
        limit.ok_or(|field| validation_texts::between(field, "1", &EventQueries::PAGE_MAX.to_string()))
    },
);

/// Types of events, separated by commas.
pub const EVENT_TYPES: FilterKind<BTreeSet<EventType>> = FilterKind {
    example: Some("music_request.accepted,music_request.rejected"),
    problem: Some(unknown_event_types),
    ..FilterKind::new(Described::inline(event_types), |text| {
        let types = text.split(',').map(EventType::named);
        types.collect::<Option<_>>().ok_or(validation_texts::selected)
    })
};

/// The problem of a list of types, of which at least one is unknown.
fn unknown_event_types(field: &str, text: &str) -> FieldProblem {
    let unknown = text.split(',').find(|name| EventType::named(name).is_none());
    values::unknown_event_type(field, unknown.unwrap_or_default())
}

/// The schema of a list of types.
fn event_types() -> RefOr<Schema> {
    let names: Vec<String> = EventType::all().map(|kind| kind.name().replace('.', "\\.")).collect();
    let names = names.join("|");
    kinds::text().pattern(Some(format!("^({names})(,({names}))*$"))).into()
}

/// The reference of a top-up at its provider.
pub const PROVIDER_REFERENCE: FilterKind<ProviderReference> =
    FilterKind::new(Described::inline(|| kinds::text().pattern(Some(REFERENCE_PATTERN)).into()), |text| {
        text.parse().ok().ok_or(validation_texts::format)
    });

fn user_id(text: &str) -> Result<UserId, Message> {
    let number = integer(text).ok_or::<Message>(validation_texts::integer)?;
    UserId::new(number).ok_or(validation_texts::selected)
}

/// Reads a filter; `None` if it is missing, or invalid, which is added to the errors.
pub fn read<T>(query: &Query, name: &'static str, kind: &FilterKind<T>, errors: &mut Errors) -> Option<T> {
    let text = query.get(name)?;
    match (kind.read)(text) {
        Ok(value) => Some(value),
        Err(message) => {
            errors.add(name, kind.problem.map_or_else(|| message(name), |problem| problem(name, text)));
            None
        }
    }
}

/// Reads a required filter; `None` if it is missing or invalid, which is added to the errors.
pub fn read_required<T>(
    query: &Query,
    name: &'static str,
    kind: &FilterKind<T>,
    errors: &mut Errors,
) -> Option<T> {
    if query.get(name).is_none() {
        errors.add(name, validation_texts::required(name));
    }
    read(query, name, kind, errors)
}

/// Declares the filters of an operation: a struct of their values, their reader and their description.
macro_rules! filters {
    (
        $(#[doc = $doc:literal])+
        struct $filters:ident {
            $(required {
                $($(#[doc = $required_about:literal])+ $required:ident: $required_type:ty = $required_kind:expr,)+
            })?
            $($(#[doc = $about:literal])+ $name:ident: $type:ty = $kind:expr,)*
        }
    ) => {
        $(#[doc = $doc])+
        struct $filters {
            $($($required: $required_type,)+)?
            $($name: Option<$type>,)*
        }

        impl $crate::wire::filters::QueryFilters for $filters {
            const DECLARED: &'static [$crate::wire::filters::Filter] = &[
                $($($crate::wire::filters::Filter {
                    name: stringify!($required),
                    is_required: true,
                    schema: $required_kind.schema,
                    documentation: &[$($required_about),+],
                    example: $required_kind.example,
                },)+)?
                $($crate::wire::filters::Filter {
                    name: stringify!($name),
                    is_required: false,
                    schema: $kind.schema,
                    documentation: &[$($about),+],
                    example: $kind.example,
                },)*
            ];

            fn read(
                query: &$crate::wire::query::Query,
            ) -> Result<Self, $crate::wire::error::ApiError> {
                let mut errors = $crate::wire::validation_texts::Errors::default();
                $($(let $required = $crate::wire::filters::read_required(
                    query,
                    stringify!($required),
                    &$required_kind,
                    &mut errors,
                );)+)?
                $(let $name = $crate::wire::filters::read(query, stringify!($name), &$kind, &mut errors);)*
                if !errors.is_empty() {
                    return Err($crate::wire::error::ApiError::invalid(errors));
                }
                Ok(Self {
                    $($($required: $required.ok_or($crate::wire::error::Code::Internal)?,)+)?
                    $($name,)*
                })
            }
        }
    };
}

pub(crate) use filters;

#[cfg(test)]
mod tests {
    use super::*;
    use cuepoint_views::wire::schema::text_of;

    filters! {
        /// Filters.
        struct Example {
            /// The status,
            /// on two lines.
            status: RequestStatus = REQUEST_STATUS,
            /// A DJ.
            dj_id: UserId = USER_ID,
        }
    }

    fn read(query: &str) -> Result<Example, ApiError> {
        Example::read(&Query::parse(query))
    }

    #[test]
    fn filters_are_read_as_declared() {
        let Ok(filters) = read("status=pending&dj_id=") else { panic!("they are valid") };
        assert_eq!((filters.status, filters.dj_id), (Some(RequestStatus::Pending), None));
    }

    #[test]
    fn all_invalid_filters_are_named_together() {
        for (query, dj_id) in [
            ("status=bogus&dj_id=abc", "The dj id field must be an integer."),
            ("dj_id=0&status=bogus", "The selected dj id is invalid."),
        ] {
            let Err(error) = read(query) else { panic!("they are wrong") };
            assert_eq!(
                serde_json::to_string(&error.details.errors).unwrap(),
                format!(r#"{{"status":["The selected status is invalid."],"dj_id":["{dj_id}"]}}"#)
            );
        }
    }

    filters! {
        /// Filters, one of them required.
        struct Place {
            required {
                /// Where.
                near: Coordinates = COORDINATES,
            }
            /// How far.
            within: Kilometres = NEARBY_KILOMETRES,
        }
    }

    #[test]
    fn a_missing_required_filter_is_named_with_the_invalid_ones() {
        for query in ["within=0", "near=&within=0"] {
            let Err(error) = Place::read(&Query::parse(query)) else { panic!("near is missing") };
            assert_eq!(
                serde_json::to_string(&error.details.errors).unwrap(),
                r#"{"near":["The near field is required."],"within":["The within field must be between 1 and 200."]}"#
            );
        }
        let place =
            Place::read(&Query::parse("near=52.52,13.40")).ok().map(|place| (place.near, place.within));
        assert_eq!(place, Some((Coordinates::new(52.52, 13.40).unwrap(), None)));
        assert_eq!(
            Place::DECLARED.iter().map(|filter| filter.is_required).collect::<Vec<_>>(),
            [true, false]
        );
    }

    #[test]
    fn the_description_of_a_filter_comes_from_its_declaration() {
        let [status, dj_id] = Example::DECLARED else { panic!("there are two") };
        assert_eq!((status.name, dj_id.name), ("status", "dj_id"));
        assert_eq!(text_of(status.documentation), "The status, on two lines.");
    }
}
