//! The event that an operator's plan records in the security log.

use crate::ids::UserId;
use crate::operation::{Actor, Outcome, Plan, Step};
use crate::security_log::{EventKind, SecurityEvent};
use crate::text::Line;
use crate::user::{AccountStatusChange, User};

impl SecurityEvent {
    /// The event that a plan with this outcome records: every change that requires a reason is an operator's.
    /// `before` is the user as they were, if the plan changes their role.
    #[must_use]
    pub fn of_plan(plan: &Plan, outcome: &Outcome, before: Option<&User>) -> Option<Self> {
        let metadata = plan.metadata();
        let (Actor::User(actor), Some(reason)) = (metadata.actor, metadata.reason.as_ref()) else {
            return None;
        };
        let (action, change) = (plan.kind().name(), described(plan.step(), outcome, before));
        let detail = Line::from_stored(format!("{action}: {change}: {}", reason.as_str()));
        Some(Self {
            kind: EventKind::OperatorAction,
            user: subject(plan.step()),
            actor: Some(actor),
            session: metadata.session,
            client: metadata.client.clone(),
            detail: Some(detail),
            at: metadata.at,
        })
    }
}

/// The object of an operator's change, and its transition.
fn described(step: &Step, outcome: &Outcome, before: Option<&User>) -> String {
    match step {
        Step::MoveWithdrawal { before, to } => {
            moved("withdrawal", before.id.get(), before.state.status().name(), to.status().name())
        }
        Step::ApproveWithdrawal { before, .. } => {
            let current = before.state.status();
            match outcome {
                Outcome::Withdrawal(after, _) if after.state.status() != current => {
                    moved("withdrawal", before.id.get(), current.name(), after.state.status().name())
                }
                _ => format!("withdrawal {} still {}", before.id, current.name()),
            }
        }
        Step::MoveTopup { before, to } => moved("top-up", before.id.get(), before.status.name(), to.name()),
        Step::SuspendTopup { before, .. } => moved("top-up", before.id.get(), "suspense", "settled"),
        Step::MoveRequest { before, to } => {
            moved("request", before.id.get(), before.state.status().name(), to.status().name())
        }
        Step::Adjust(adjustment) => format!("adjustment {} of user {}", adjustment.id, adjustment.user),
        Step::ChangeAccountStatus { user, change } => match change {
            AccountStatusChange::Suspend => moved("user", user.get(), "active", "suspended"),
            AccountStatusChange::Restore => moved("user", user.get(), "suspended", "active"),
            AccountStatusChange::Role(role) => {
                let before = before.map_or("unknown", |before| before.role.name());
                moved("user", user.get(), before, role.name())
            }
        },
        Step::ResolveMessage { before, .. } => {
            moved("provider message", before.id.get(), "unresolved", "resolved")
        }
        Step::Unchanged(_)
        | Step::OpenRequest(_)
        | Step::OpenWithdrawal { .. }
        | Step::OpenTopup(_)
        | Step::OrderTopup { .. }
        | Step::Profile { .. } => "nothing".to_owned(),
    }
}

fn moved(object: &str, id: i64, from: &str, to: &str) -> String {
    format!("{object} {id} {from} → {to}")
}

/// The user affected by an operator's change.
const fn subject(step: &Step) -> Option<UserId> {
    match step {
        Step::MoveWithdrawal { before, .. } | Step::ApproveWithdrawal { before, .. } => Some(before.user),
        Step::MoveTopup { before, .. } | Step::SuspendTopup { before, .. } => Some(before.user),
        Step::MoveRequest { before, .. } => Some(before.requester),
        Step::Adjust(adjustment) => Some(adjustment.user),
        Step::ChangeAccountStatus { user, .. } => Some(*user),
        Step::Unchanged(_)
        | Step::OpenRequest(_)
        | Step::OpenWithdrawal { .. }
        | Step::OpenTopup(_)
        | Step::OrderTopup { .. }
        | Step::Profile { .. }
        | Step::ResolveMessage { .. } => None,
    }
}
