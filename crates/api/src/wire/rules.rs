//! The rules of fields: a stable name for each reason why a value is refused.

use cuepoint_views::wire::schema::text_of;

macro_rules! rules {
    ($($(#[doc = $doc:literal])+ $rule:ident = $name:literal;)+) => {
        /// A rule that a field violates.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum Rule {
            $($(#[doc = $doc])+ $rule,)+
        }

        impl Rule {
            /// All rules.
            pub const ALL: &[Self] = &[$(Self::$rule,)+];

            /// The stable name.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$rule => $name,)+
                }
            }

            /// The requirement, for the documentation.
            #[must_use]
            pub fn meaning(self) -> String {
                match self {
                    $(Self::$rule => text_of(&[$($doc),+]),)+
                }
            }
        }
    };
}

rules! {
    /// A value is required.
    Required = "required";
    /// A value is required because of another field; `limit` names it.
    RequiredWith = "required_with";
    /// A value is required unless another field has one; `limit` names it.
    RequiredWithout = "required_without";
    /// No value is permitted beside another field; `limit` names it.
    ProhibitedWith = "prohibited_with";
    /// The field cannot be set.
    Prohibited = "prohibited";
    /// The operation has a query parameter of this name.
    Known = "known";
    /// A query parameter is given at most once.
    Once = "once";
    /// A text is required.
    String = "string";
    /// A number is required.
    Number = "number";
    /// An integer is required.
    Integer = "integer";
    /// An object is required.
    Object = "object";
    /// A list is required.
    List = "list";
    /// A list has at least `limit` items.
    MinItems = "min_items";
    /// `true` or `false` is required.
    Boolean = "boolean";
    /// 0 or 1 is required.
    Flag = "flag";
    /// A number is at least `limit`.
    Min = "min";
    /// A number is at most `limit`.
    Max = "max";
    /// A number is between the two values of `limit`.
    Between = "between";
    /// A number is not 0.
    NotZero = "not_zero";
    /// A number has at most `limit` decimals.
    Decimals = "decimals";
    /// A text has at least `limit` characters.
    MinLength = "min_length";
    /// A text has at most `limit` characters.
    MaxLength = "max_length";
    /// A text has the form that the document describes.
    Format = "format";
    /// An e-mail address is required.
    Email = "email";
    /// A phone number is required.
    Phone = "phone";
    /// An http or https link is required.
    Url = "url";
    /// The service may call the URL.
    UrlPermitted = "url_permitted";
    /// A time is required.
    Date = "date";
    /// The value is one of `limit`.
    In = "in";
    /// The object exists.
    Exists = "exists";
    /// The object is not the caller.
    NotYourself = "not_yourself";
    /// The value equals the stored one.
    Correct = "correct";
    /// No other account has the value.
    Unique = "unique";
    /// A value differs from the present one.
    Different = "different";
    /// A change that cannot be undone.
    Unchangeable = "unchangeable";
    /// The password is in no known data leak.
    NotBreached = "not_breached";
    /// The code or token is known, unused and not expired.
    NotExpired = "not_expired";
    /// The address belongs to the named network.
    Network = "network";
    /// The address belongs to no test network.
    NotTestNetwork = "not_test_network";
    /// The address has a private key that only its owner has.
    Spendable = "spendable";
    /// The amount is available.
    Available = "available";
    /// A limit of the deployment: at most `limit`.
    Limit = "limit";
    /// The replay has an event to deliver.
    NotEmptyRange = "not_empty_range";
}
