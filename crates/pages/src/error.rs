//! The page of a refusal or a failure.

use askama::Template;
use askama::filters::{Html, escape};

use crate::frame::{Frame, renders};
use crate::texts::Text;

/// What happened. The status of the response stays that of the refusal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Problem<'a> {
    /// There is no such page, or the user may not know of it.
    NotFound,
    /// The user has no permission.
    NotAllowed,
    /// The user is suspended.
    Suspended,
    /// The form was sent by another site.
    ForeignForm,
    /// The form did not arrive as a page sends it.
    NoForm,
    /// Another change came first.
    Outdated,
    /// The form is too large.
    TooLarge,
    /// A rate limit was exceeded.
    TooMany,
    /// The database or another service does not answer.
    Unavailable {
        /// Whether the form may have taken effect.
        may_have_moved_money: bool,
    },
    /// A bug.
    Broken {
        /// The id of the request, under which the log has the failure.
        incident: &'a str,
        /// Whether the form may have taken effect.
        may_have_moved_money: bool,
    },
}

/// A page that says what happened, whether money moved, and what to do.
#[derive(Template, Clone, Debug)]
#[template(path = "frame/error.html")]
pub struct ErrorPage<'a> {
    pub frame: &'a Frame<'a>,
    pub problem: Problem<'a>,
    /// A local path where the user can go on: the page that was not shown, or the page with the form; for a suspended
    /// user, the login of somebody else.
    pub back: &'a str,
    /// Whether a form was refused.
    pub is_form: bool,
}

impl ErrorPage<'_> {
    /// The sentences of the page as one element, for the script.
    #[must_use]
    pub fn render_part(&self) -> String {
        let money = self.about_money().map(|text| format!(" {text}")).unwrap_or_default();
        let text = format!("{}.{money} {}", self.heading(), self.advice());
        let Ok(text) = escape(text, Html);
        format!("<p>{text}</p>")
    }

    fn heading(&self) -> Text {
        let t = self.frame.t;
        match self.problem {
            Problem::NotFound => t.not_found_title(),
            Problem::NotAllowed => t.not_allowed_title(),
            Problem::Suspended => t.suspended_title(),
            Problem::ForeignForm => t.foreign_form_title(),
            Problem::NoForm => t.no_form_title(),
            Problem::Outdated => t.outdated_title(),
            Problem::TooLarge => t.too_large_title(),
            Problem::TooMany => t.too_many_title(),
            Problem::Unavailable { .. } => t.unavailable_title(),
            Problem::Broken { .. } => t.broken_title(),
        }
    }

    fn advice(&self) -> Text {
        let t = self.frame.t;
        match self.problem {
            Problem::NotFound => t.not_found_advice(),
            Problem::NotAllowed => t.not_allowed_advice(),
            Problem::Suspended => t.suspended_advice(),
            Problem::ForeignForm => t.foreign_form_advice(),
            Problem::NoForm => t.no_form_advice(),
            Problem::Outdated => t.outdated_advice(),
            Problem::TooLarge => t.too_large_advice(),
            Problem::TooMany => t.too_many_advice(),
            Problem::Unavailable { .. } => t.unavailable_advice(),
            Problem::Broken { .. } => t.broken_advice(),
        }
    }

    /// What the page says about money; nothing if the user only read.
    fn about_money(&self) -> Option<Text> {
        let t = self.frame.t;
        match self.problem {
            Problem::NotFound | Problem::NotAllowed => None,
            Problem::Suspended => self.is_form.then(|| t.nothing_moved()),
            Problem::Unavailable { may_have_moved_money: true }
            | Problem::Broken { may_have_moved_money: true, .. } => Some(t.maybe_moved()),
            Problem::ForeignForm
            | Problem::NoForm
            | Problem::Outdated
            | Problem::TooLarge
            | Problem::TooMany
            | Problem::Unavailable { may_have_moved_money: false }
            | Problem::Broken { may_have_moved_money: false, .. } => Some(t.nothing_moved()),
        }
    }

    /// The label of the way on.
    fn way(&self) -> Text {
        let t = self.frame.t;
        match (self.problem, self.is_form) {
            (Problem::Suspended, _) => t.log_in_as_another(),
            (_, true) => t.back(),
            (_, false) => t.try_again(),
        }
    }

    /// Whether the wallet shows what has changed.
    const fn leads_to_wallet(&self) -> bool {
        match self.problem {
            Problem::Outdated => true,
            Problem::Unavailable { may_have_moved_money } | Problem::Broken { may_have_moved_money, .. } => {
                may_have_moved_money
            }
            Problem::NotFound
            | Problem::NotAllowed
            | Problem::Suspended
            | Problem::ForeignForm
            | Problem::NoForm
            | Problem::TooLarge
            | Problem::TooMany => false,
        }
    }

    fn incident(&self) -> Option<&str> {
        match self.problem {
            Problem::Broken { incident, .. } => Some(incident),
            _ => None,
        }
    }
}

renders!(ErrorPage);
