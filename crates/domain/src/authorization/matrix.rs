//! The rules of the authorization matrix: a line for each action, a column for each capacity.

use super::{Action, Capacity, DenialReason, Ownership, Scope};

/// A line of the matrix.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rule {
    /// The name of the action in documents.
    pub name: &'static str,
    scopes: [Scope; 4],
    /// The refusal that says who can apply the action to the object of another user; `None` if that is concealed.
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

impl Action {
    /// Whether one of these capacities permits the action on entities of this ownership.
    #[must_use]
    pub fn is_permitted(self, mut capacities: impl Iterator<Item = Capacity>, ownership: Ownership) -> bool {
        capacities.any(|capacity| self.rule().scope(capacity).covers(ownership))
    }

    /// Whether the action requires an operator or auditor.
    #[must_use]
    pub const fn is_for_staff(self) -> bool {
        matches!(self.scopes_of_members(), (Scope::Nothing, Scope::Nothing))
    }

    /// Whether the action requires a DJ.
    pub(super) const fn is_for_djs(self) -> bool {
        matches!(self.scopes_of_members(), (Scope::Nothing, Scope::Own))
    }

    const fn scopes_of_members(self) -> (Scope, Scope) {
        let rule = self.rule();
        (rule.scope(Capacity::Guest), rule.scope(Capacity::Dj))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documentation_contains_the_authorization_matrix() {
        let capacities = Capacity::ALL.map(Capacity::name).join(" | ");
        let lines = Action::ALL.iter().map(|action| {
            let rule = action.rule();
            let cells = Capacity::ALL.map(|capacity| rule.scope(capacity).name()).join(" | ");
            format!("| {} | {cells} |\n", rule.name)
        });
        let table = format!("| | {capacities} |\n|---|---|---|---|---|\n{}", lines.collect::<String>());
        let document = include_str!("../../../../docs/security.md");
        let printed = document.split("<!-- matrix -->\n").nth(1).unwrap_or_default();
        assert!(printed == table, "between the markers of docs/security.md should stand:\n{table}");
    }
}
