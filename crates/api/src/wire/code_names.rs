//! The names of failures and of violated rules, for the document.

use cuepoint_views::explained_names;

use crate::wire::error::Code;
use crate::wire::rules::Rule;

explained_names! {
    /// Code of a failure:
    ErrorCode = Code::ALL.iter().map(|code| (code.name(), code.meaning()));
    /// Rule that a field violates:
    ValidationRule = Rule::ALL.iter().map(|rule| (rule.name(), rule.meaning()));
}
