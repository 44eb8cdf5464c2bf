//! A row of the authorization matrix.

use super::{Capacity, Scope};
use crate::user::personal_token::TokenScope;

/// A party of a music request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RequestParty {
    /// The guest who made it.
    Guest,
    /// The addressed DJ.
    Dj,
}

/// A row of the matrix: the scope of one action for each capacity.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rule {
    /// The name of the action in documents.
    pub name: &'static str,
    scopes: [Scope; 5],
    /// The only party of a request that can apply the action to it; `None` for all other actions.
    pub party: Option<RequestParty>,
    /// The scope with which a personal access token permits the action; `None` for all other actions.
    pub token_scope: Option<TokenScope>,
}

impl Rule {
    /// The rule with these scopes, in the order of [`Capacity::ALL`].
    pub(super) const fn new(name: &'static str, scopes: [Scope; 5]) -> Self {
        Self { name, scopes, party: None, token_scope: None }
    }

    /// This rule, for one party of a request alone.
    pub(super) const fn by(self, party: RequestParty) -> Self {
        Self { party: Some(party), ..self }
    }

    /// This rule, also for personal access tokens with a scope.
    pub(super) const fn with_token(self, scope: TokenScope) -> Self {
        Self { token_scope: Some(scope), ..self }
    }

    /// The scope of this capacity.
    #[must_use]
    pub const fn scope(&self, capacity: Capacity) -> Scope {
        let [guest, member, dj, operator, auditor] = self.scopes;
        match capacity {
            Capacity::Guest => guest,
            Capacity::Member => member,
            Capacity::Dj => dj,
            Capacity::Operator => operator,
            Capacity::Auditor => auditor,
        }
    }
}
