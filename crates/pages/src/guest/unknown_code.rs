//! The page of a code that no DJ has.

use askama::Template;

use crate::forms::FieldState;
use crate::frame::{Frame, renders};

/// The page of a code that no DJ has, with the field for another one.
#[derive(Template, Clone, Debug)]
#[template(path = "guest/unknown_code.html")]
pub struct UnknownCodePage<'a> {
    pub frame: &'a Frame<'a>,
    /// The code that was asked for.
    pub code: FieldState,
}

renders!(UnknownCodePage);
