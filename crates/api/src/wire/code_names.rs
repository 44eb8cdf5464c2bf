//! The names of failures and of violated rules, for the document.

use cuepoint_views::explained_names;

use crate::wire::error::Code;
use crate::wire::rules::Rule;

explained_names! {
    /// Code of a failure. Each value stands for one reaction of a client, and has one HTTP status:
    ErrorCode = Code::ALL
        .iter()
        .map(|code| (code.name(), format!("{}. {}", code.status().as_u16(), code.meaning())));
    /// Rule that a field violates:
    ValidationRule = Rule::ALL.iter().map(|rule| (rule.name(), rule.meaning()));
}
