//! What an operator learns about a deployment from a check.

/// The result of one check, for operators.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnosis {
    /// The name of the check, such as `disk.free`.
    pub check: &'static str,
    /// How good the result is.
    pub health: Health,
    /// What was found, as a clause without a full stop.
    pub found: String,
}

/// How good the result of a check is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Health {
    /// Nothing has to be done.
    Ok,
    /// It can do harm later. The text is the remedy.
    Warn(String),
    /// It does harm now. The text is the remedy.
    Fail(String),
}

/// The thoroughness of checks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Thoroughness {
    /// Checks that take seconds.
    Usual,
    /// Also checks that read all data.
    Full,
}

impl Diagnosis {
    /// A good result.
    pub fn ok(check: &'static str, found: impl Into<String>) -> Self {
        Self { check, health: Health::Ok, found: found.into() }
    }

    /// A result that can do harm later, with its remedy.
    pub fn warn(check: &'static str, found: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { check, health: Health::Warn(remedy.into()), found: found.into() }
    }

    /// A result that does harm now, with its remedy.
    pub fn fail(check: &'static str, found: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { check, health: Health::Fail(remedy.into()), found: found.into() }
    }
}
