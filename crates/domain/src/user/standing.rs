//! Whether the requests of a user count as guests'.

use crate::user::{Role, User};

/// The facts that decide on the standing of a user.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StandingFacts {
    pub role: Role,
    /// Whether their e-mail address or their phone is verified.
    pub is_verified: bool,
    /// Whether the user ever had a confirmed top-up, paid the fee of a played request, or earned one as a DJ.
    pub has_paid: bool,
}

/// The standing of a user when a request is opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Standing {
    /// A member who has paid or has a verified address or phone, or staff.
    #[default]
    Proven,
    /// A member who has neither paid nor verified an address or phone. Such a registration costs as little as a guest
    /// account.
    Unproven,
    GuestAccount,
}

impl Standing {
    /// The standing of a user.
    #[must_use]
    pub const fn of(facts: StandingFacts) -> Self {
        match facts.role {
            Role::Guest => Self::GuestAccount,
            Role::Operator | Role::Auditor => Self::Proven,
            Role::Member | Role::Unknown(_) if facts.is_verified || facts.has_paid => Self::Proven,
            Role::Member | Role::Unknown(_) => Self::Unproven,
        }
    }

    /// Whether requests with this standing count as guests'.
    #[must_use]
    pub const fn counts_as_guest(self) -> bool {
        matches!(self, Self::Unproven | Self::GuestAccount)
    }

    /// Whether the user has a guest account.
    #[must_use]
    pub const fn is_guest_account(self) -> bool {
        matches!(self, Self::GuestAccount)
    }
}

impl StandingFacts {
    /// The facts about a user; `has_paid` is not in the user.
    #[must_use]
    pub const fn of(user: &User, has_paid: bool) -> Self {
        Self { role: user.role, is_verified: user.email_verified || user.phone_verified, has_paid }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guest_accounts_and_members_without_verification_and_payment_count_as_guests() {
        for (role, is_verified, has_paid, counts) in [
            (Role::Guest, false, false, true),
            (Role::Guest, false, true, true),
            (Role::Member, false, false, true),
            (Role::Member, true, false, false),
            (Role::Member, false, true, false),
            (Role::Operator, false, false, false),
            (Role::Auditor, false, false, false),
        ] {
            let facts = StandingFacts { role, is_verified, has_paid };
            assert_eq!(Standing::of(facts).counts_as_guest(), counts, "{facts:?}");
        }
    }
}
