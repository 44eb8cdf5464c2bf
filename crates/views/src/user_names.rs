//! The names of users beside their ids, for staff.
//!
//! The name stands beside its id: `user_name` beside `user_id`, `settled_by_name` beside `settled_by`. It is null for
//! an erased user. Events show the same objects without names, as they were right after the event, and so do answers to
//! commands, because a repeated command gets its first answer.

use std::collections::BTreeMap;

use cuepoint_domain::ids::UserId;
use cuepoint_domain::text::Line;

/// The names of users, by their ids.
#[derive(Clone, Debug, Default)]
pub struct UserNames(BTreeMap<UserId, Line>);

impl UserNames {
    /// These names; erased users have none.
    #[must_use]
    pub const fn new(names: BTreeMap<UserId, Line>) -> Self {
        Self(names)
    }

    /// The name of a user.
    #[must_use]
    pub fn of(&self, user: impl Into<Option<UserId>>) -> Option<String> {
        self.0.get(&user.into()?).map(|name| name.as_str().to_owned())
    }
}
