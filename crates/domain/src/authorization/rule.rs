//! A row of the authorization matrix.

use super::{Capacity, DenialReason, Scope};

/// A row of the matrix: the scope of one action for each capacity.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rule {
    /// The name of the action in documents.
    pub name: &'static str,
    scopes: [Scope; 4],
    /// The refusal that says who can apply the action to the object of another user; `None` if
    /// the object is concealed.
    pub(crate) others: Option<DenialReason>,
}

impl Rule {
    /// The rule with these scopes, in the order of [`Capacity::ALL`]; `others` has at most one reason.
    pub(super) const fn new(name: &'static str, scopes: [Scope; 4], others: &[DenialReason]) -> Self {
        Self { name, scopes, others: others.first().copied() }
    }

    /// The scope of this capacity.
    #[must_use]
    pub const fn scope(&self, capacity: Capacity) -> Scope {
        let [guest, dj, operator, auditor] = self.scopes;
        match capacity {
            Capacity::Guest => guest,
            Capacity::Dj => dj,
            Capacity::Operator => operator,
            Capacity::Auditor => auditor,
        }
    }
}
