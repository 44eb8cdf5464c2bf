//! The event that an operator's plan records in the security log.

use crate::entity_facts::{EntityFacts, described};
use crate::ids::UserId;
use crate::operation::{Book, Entity, Outcome, Plan, Step, UserChange, WithdrawalJudgement};
use crate::security_log::{SecurityEvent, SecurityEventKind};
use crate::text::Line;
use crate::user::{User, UserStatusChange};

/// The description of a plan without a transition.
const NOTHING: &str = "nothing";

impl SecurityEvent {
    /// The event that a plan with this outcome records: every change that requires a reason is an operator's, or
    /// was made by the person at the machine, whom the reason names.
    /// The book does not have the changes of the plan yet.
    #[must_use]
    pub fn of_plan(plan: &Plan, outcome: &Outcome, book: &Book) -> Option<Self> {
        let metadata = plan.metadata();
        let reason = metadata.reason.as_ref()?;
        let (action, change) = (plan.kind().name(), change_of(plan.step(), outcome, book));
        let detail = Line::from_stored(format!("{action}: {change}: {}", reason.as_str()));
        Some(Self {
            kind: SecurityEventKind::OperatorAction,
            user: outcome.entity.owner(),
            actor: metadata.person(),
            session: metadata.session,
            client: metadata.client.clone(),
            detail: Some(detail),
            at: metadata.at,
        })
    }
}

/// The object of an operator's change, and its transition.
fn change_of(step: &Step, outcome: &Outcome, book: &Book) -> String {
    match (step, &outcome.entity) {
        (Step::Move { before, .. }, after) => before.transition(after).unwrap_or_else(|| NOTHING.to_owned()),
        (Step::Judge(WithdrawalJudgement::Approve { before, .. }), Entity::Withdrawal(after)) => {
            before.transition(after)
        }
        (Step::Open(Entity::Adjustment(adjustment)), _) => {
            format!("adjustment {} of user {}", adjustment.id, adjustment.user)
        }
        (Step::ChangeUser { user, change: UserChange::Status(change) }, _) => {
            status_change(*user, *change, book.get(*user))
        }
        (Step::Unchanged(_) | Step::Open(_) | Step::Judge(_) | Step::ChangeUser { .. }, _) => {
            NOTHING.to_owned()
        }
    }
}

fn status_change(user: UserId, change: UserStatusChange, before: Option<&User>) -> String {
    let (from, to) = match change {
        UserStatusChange::Suspend => ("active", "suspended"),
        UserStatusChange::Restore => ("suspended", "active"),
        UserStatusChange::Role(role) => (before.map_or("unknown", |before| before.role.name()), role.name()),
    };
    described("user", user.get(), from, to)
}
