//! Validation messages in Laravel's wording, each with its rule, and the list of them.

use std::borrow::Cow;

use cuepoint_domain::music_request::QueueRefusal;
use serde::Serialize;
use serde::ser::{SerializeMap, SerializeSeq, Serializer};
use serde_json::value::RawValue;

use crate::wire::rules::Rule;

/// A problem of one field.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FieldProblem {
    /// The validation message.
    pub sentence: String,
    /// The violated rule.
    pub rule: Rule,
    pub limit: RuleLimit,
}

/// The limit of a rule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RuleLimit {
    None,
    /// A number, as decimal digits.
    Number(String),
    /// Two numbers, as decimal digits.
    Range([String; 2]),
    /// Names of values or fields.
    Names(Vec<&'static str>),
}

impl RuleLimit {
    /// The limit of these parts of a message, which are numbers.
    fn of(numbers: &[&str]) -> Self {
        match numbers {
            [number] => Self::Number((*number).to_owned()),
            [least, most] => Self::Range([(*least).to_owned(), (*most).to_owned()]),
            _ => Self::None,
        }
    }
}

impl Serialize for RuleLimit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Never through a float: amounts keep their exact decimals.
        let number =
            |text: &str| serde_json::from_str::<Box<RawValue>>(text).map_err(serde::ser::Error::custom);
        match self {
            Self::None => serializer.serialize_none(),
            Self::Number(text) => number(text)?.serialize(serializer),
            Self::Range([least, most]) => [number(least)?, number(most)?].serialize(serializer),
            Self::Names(names) => names.serialize(serializer),
        }
    }
}

/// The problems of each invalid field, in the order of detection. It is serialized as the validation messages of
/// each field.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Errors(Vec<(Cow<'static, str>, Vec<FieldProblem>)>);

impl Errors {
    /// One problem of one field.
    #[must_use]
    pub fn one(field: &'static str, problem: FieldProblem) -> Self {
        Self(vec![(field.into(), vec![problem])])
    }

    /// Adds a problem of a field.
    pub fn add(&mut self, field: impl Into<Cow<'static, str>>, problem: FieldProblem) {
        let field = field.into();
        match self.0.iter_mut().find(|(known, _)| *known == field) {
            Some((_, problems)) => problems.push(problem),
            None => self.0.push((field, vec![problem])),
        }
    }

    /// Adds the problems that are missing.
    pub fn merge(&mut self, others: &Self) {
        for (field, problems) in &others.0 {
            let known = self.0.iter().find(|(known, _)| known == field);
            let known = known.map_or(&[][..], |(_, problems)| problems).to_vec();
            for problem in problems.iter().filter(|problem| !known.contains(problem)) {
                self.add(field.clone(), problem.clone());
            }
        }
    }

    /// Whether there are no problems.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The first message and the number of further ones.
    #[must_use]
    pub fn summary(&self) -> Option<String> {
        let mut sentences = self.0.iter().flat_map(|(_, problems)| problems).map(|problem| &problem.sentence);
        let first = sentences.next()?;
        Some(match sentences.count() {
            0 => first.clone(),
            1 => format!("{first} (and 1 more error)"),
            more => format!("{first} (and {more} more errors)"),
        })
    }

    /// The problems with their rules and limits.
    #[must_use]
    pub const fn details(&self) -> ErrorDetails<'_> {
        ErrorDetails(self)
    }
}

impl Serialize for Errors {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (field, problems) in &self.0 {
            let sentences: Vec<_> = problems.iter().map(|problem| &problem.sentence).collect();
            map.serialize_entry(field, &sentences)?;
        }
        map.end()
    }
}

/// The problems of all fields as a list: field, rule and limit of each.
#[derive(Clone, Copy, Debug)]
pub struct ErrorDetails<'a>(&'a Errors);

impl Serialize for ErrorDetails<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        /// A problem on the wire.
        #[derive(Serialize)]
        struct Detail<'a> {
            field: &'a str,
            rule: &'static str,
            limit: &'a RuleLimit,
        }

        let Self(Errors(fields)) = self;
        let mut list = serializer.serialize_seq(None)?;
        for (field, problems) in fields {
            for FieldProblem { rule, limit, sentence: _ } in problems {
                list.serialize_element(&Detail { field, rule: rule.name(), limit })?;
            }
        }
        list.end()
    }
}

/// The name of a field within a message.
fn spoken(field: &str) -> String {
    field.replace('_', " ")
}

macro_rules! sentences {
    ($($(#[$doc:meta])* $name:ident($($part:ident),*) $rule:ident = $text:literal;)+) => {$(
        $(#[$doc])*
        #[must_use]
        pub fn $name(field: &str $(, $part: &str)*) -> FieldProblem {
            FieldProblem {
                sentence: format!($text, field = spoken(field) $(, $part = $part)*),
                rule: Rule::$rule,
                limit: RuleLimit::of(&[$($part),*]),
            }
        }
    )+};
}

// The parts of a message are the limit of its rule.
sentences! {
    /// Missing, null or empty.
    required() Required = "The {field} field is required.";
    /// Not a string.
    string() String = "The {field} field must be a string.";
    /// Not a number.
    number() Number = "The {field} field must be a number.";
    /// Not a 64-bit integer.
    integer() Integer = "The {field} field must be an integer.";
    /// Not an object.
    object() Object = "The {field} field must be an object.";
    /// Not a list.
    list() List = "The {field} field must be a list.";
    /// A list with too few items.
    at_least_items(least) MinItems = "The {field} field must have at least {least} item.";
    /// Not a boolean.
    boolean() Boolean = "The {field} field must be true or false.";
    /// Neither 0 nor 1.
    flag() Flag = "The {field} field must be 0 or 1.";
    /// A number below its minimum.
    at_least(least) Min = "The {field} field must be at least {least}.";
    /// A number above its maximum.
    at_most(most) Max = "The {field} field must not be greater than {most}.";
    /// A number outside its bounds.
    between(least, most) Between = "The {field} field must be between {least} and {most}.";
    /// A text that is too short.
    at_least_characters(least) MinLength = "The {field} field must be at least {least} characters.";
    /// A text that is too long.
    at_most_characters(most) MaxLength = "The {field} field must not be greater than {most} characters.";
    /// A text with an invalid character.
    format() Format = "The {field} field format is invalid.";
    /// Not an e-mail address.
    email() Email = "The {field} field must be a valid email address.";
    /// Not a phone number.
    phone() Phone = "The {field} field must be a phone number such as +4930123456.";
    /// Not a web address.
    url() Url = "The {field} field must be an http or https link.";
    /// Not the URL of a webhook endpoint.
    endpoint_url() Url = "The {field} field must be a valid URL.";
    /// An address of a network other than the named one.
    other_network() Network = "The {field} belongs to another network.";
    /// An address of a test network.
    test_network() NotTestNetwork = "The {field} belongs to a test network.";
    /// Not a timestamp.
    date() Date = "The {field} field must be a valid date.";
    /// No object has this id.
    selected() Exists = "The selected {field} is invalid.";
    /// Not equal to the stored value.
    incorrect() Correct = "The {field} is incorrect.";
    /// Equal to the stored value.
    different() Different = "The {field} is already yours.";
    /// Not to be set back.
    unchangeable() Unchangeable = "The {field} field cannot be changed back.";
    /// Used by another account.
    taken() Unique = "The {field} has already been taken.";
    /// Found in a data leak.
    breached() NotBreached = "The given {field} has appeared in a data leak. Please choose a different {field}.";
    /// Unknown, used or expired.
    stale() NotExpired = "The {field} is invalid or has expired.";
    /// Zero where a nonzero number is required.
    not_zero() NotZero = "The {field} field must not be 0.";
    /// A position after which a replay has nothing to deliver.
    empty_range() NotEmptyRange = "The {field} field must be less than until and less than the endpoint's cursor.";
    /// A query parameter that the operation does not have.
    unknown_parameter() Known = "The {field} parameter is unknown.";
    /// A query parameter that is given more than once.
    repeated_parameter() Once = "The {field} parameter may be given only once.";
    /// A field that cannot be set.
    prohibited() Prohibited = "The {field} field is prohibited.";
    /// More than the available balance.
    funds() Available = "The {field} exceeds the available balance.";
}

impl FieldProblem {
    fn new(rule: Rule, limit: RuleLimit, sentence: impl Into<String>) -> Self {
        Self { sentence: sentence.into(), rule, limit }
    }

    /// A limit of the deployment that is a number.
    #[must_use]
    pub fn limit(most: impl ToString, sentence: String) -> Self {
        Self::new(Rule::Limit, RuleLimit::Number(most.to_string()), sentence)
    }
}

/// None of these names.
#[must_use]
pub fn one_of(field: &str, names: impl IntoIterator<Item = &'static str>) -> FieldProblem {
    let sentence = format!("The selected {} is invalid.", spoken(field));
    FieldProblem::new(Rule::In, RuleLimit::Names(names.into_iter().collect()), sentence)
}

/// A list with a name that is none of these.
#[must_use]
pub fn unknown_name(
    field: &str,
    unknown: &str,
    names: impl IntoIterator<Item = &'static str>,
) -> FieldProblem {
    let sentence = format!("The {} field has an unknown value: {unknown}.", spoken(field));
    FieldProblem::new(Rule::In, RuleLimit::Names(names.into_iter().collect()), sentence)
}

/// A number with more decimals than the currency.
#[must_use]
pub fn decimals(field: &str, most: u8) -> FieldProblem {
    let places = if most == 0 { "0".to_owned() } else { format!("0-{most}") };
    let sentence = format!("The {} field must have {places} decimal places.", spoken(field));
    FieldProblem::new(Rule::Decimals, RuleLimit::Number(most.to_string()), sentence)
}

/// The id of the caller, for an action with another user.
#[must_use]
pub fn yourself(sentence: &str) -> FieldProblem {
    FieldProblem::new(Rule::NotYourself, RuleLimit::None, sentence)
}

/// The reference of no payment into the account.
#[must_use]
pub fn no_payment() -> FieldProblem {
    let sentence = "The account has no confirmed top-up with this reference.";
    FieldProblem::new(Rule::Exists, RuleLimit::None, sentence)
}

/// An address without a private key.
#[must_use]
pub fn ownerless() -> FieldProblem {
    let sentence = "Nobody has the key of this address; the money would be lost.";
    FieldProblem::new(Rule::Spendable, RuleLimit::None, sentence)
}

/// An address that can be spent from without a private key.
#[must_use]
pub fn anyone_can_spend() -> FieldProblem {
    let sentence = "Anybody can spend from this address; the money would be lost.";
    FieldProblem::new(Rule::Spendable, RuleLimit::None, sentence)
}

/// A URL that may not be called; the problem completes the sentence.
#[must_use]
pub fn url_refused(field: &str, problem: &str) -> FieldProblem {
    let sentence = format!("The {} field {problem}.", spoken(field));
    FieldProblem::new(Rule::UrlPermitted, RuleLimit::None, sentence)
}

/// The limit of open requests is reached.
#[must_use]
pub fn too_many_open(most: u32) -> FieldProblem {
    FieldProblem::limit(most, format!("You already have {most} open requests with this DJ."))
}

/// The queue of the DJ's gig has no room.
#[must_use]
pub fn no_room(refusal: QueueRefusal) -> FieldProblem {
    let (most, sentence) = match refusal {
        QueueRefusal::TooManyMade(most) => {
            (most, format!("This gig has received {most} requests. It can receive no further ones."))
        }
        QueueRefusal::TooManyMadeForGuests(most) => (
            most,
            format!(
                "This gig has received {most} requests. Further ones are for members who have verified an address or \
                phone, or have paid before."
            ),
        ),
        QueueRefusal::Full(most) => {
            (most, format!("The queue of this DJ is full. It can have {most} open requests."))
        }
        QueueRefusal::FullForGuests(most) => (
            most,
            format!(
                "Requests that count as guests' can have {most} places in the queue of this DJ. Claim the account, verify \
                its address or pay once as a member, or try again later."
            ),
        ),
    };
    FieldProblem::limit(most, sentence)
}

/// A dedication although no gig of the DJ is open.
#[must_use]
pub fn no_gig() -> FieldProblem {
    FieldProblem::new(
        Rule::Prohibited,
        RuleLimit::None,
        "The message field is prohibited without an open gig of the DJ.",
    )
}

/// Missing although the other field is present.
#[must_use]
pub fn required_with(field: &str, other: &'static str) -> FieldProblem {
    let sentence = format!("The {} field is required when {} is present.", spoken(field), spoken(other));
    FieldProblem::new(Rule::RequiredWith, RuleLimit::Names(vec![other]), sentence)
}

/// Both this field and its alternative are missing.
#[must_use]
pub fn required_without(field: &str, other: &'static str) -> FieldProblem {
    let sentence = format!("The {} field is required when {} is not present.", spoken(field), spoken(other));
    FieldProblem::new(Rule::RequiredWithout, RuleLimit::Names(vec![other]), sentence)
}

/// Present although another field excludes it.
#[must_use]
pub fn prohibited_with(field: &str, other: &'static str) -> FieldProblem {
    let sentence = format!("The {} field is prohibited when {} is present.", spoken(field), spoken(other));
    FieldProblem::new(Rule::ProhibitedWith, RuleLimit::Names(vec![other]), sentence)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn underscores_in_field_names_are_shown_as_spaces() {
        assert_eq!(selected("dj_id").sentence, "The selected dj id is invalid.");
        assert_eq!(
            required_with("latitude", "longitude").sentence,
            "The latitude field is required when longitude is present."
        );
    }

    #[test]
    fn the_summary_shows_the_first_error_and_counts_the_others() {
        let mut errors = Errors::one("amount", required("amount"));
        assert_eq!(errors.summary().unwrap(), "The amount field is required.");
        errors.add("network", required("network"));
        assert_eq!(errors.summary().unwrap(), "The amount field is required. (and 1 more error)");
        errors.add("network", string("network"));
        assert_eq!(errors.summary().unwrap(), "The amount field is required. (and 2 more errors)");
        assert_eq!(
            serde_json::to_string(&errors).unwrap(),
            r#"{"amount":["The amount field is required."],"network":["The network field is required.","The network field must be a string."]}"#
        );
    }

    #[test]
    fn details_contain_the_rule_and_its_exact_limit() {
        let mut errors = Errors::one("fee", at_least("fee", "12.50"));
        errors.add("fee", decimals("fee", 2));
        errors.add("latitude", between("latitude", "-90", "90"));
        errors.add("status", one_of("status", ["pending", "played"]));
        errors.add("latitude", required_with("latitude", "longitude"));
        errors.add("password", incorrect("password"));
        assert_eq!(
            serde_json::to_string(&errors.details()).unwrap(),
            concat!(
                r#"[{"field":"fee","rule":"min","limit":12.50},{"field":"fee","rule":"decimals","limit":2},"#,
                r#"{"field":"latitude","rule":"between","limit":[-90,90]},"#,
                r#"{"field":"latitude","rule":"required_with","limit":["longitude"]},"#,
                r#"{"field":"status","rule":"in","limit":["pending","played"]},"#,
                r#"{"field":"password","rule":"correct","limit":null}]"#
            )
        );
    }
}
