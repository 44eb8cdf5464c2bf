//! The result of a command.

/// The result of a command.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Done<T> {
    /// The result.
    pub value: T,
    /// Whether the command was applied before, and this is its first result.
    pub replayed: bool,
}

impl<T> Done<T> {
    /// Converts the value.
    ///
    /// # Errors
    /// Those of `form`.
    pub fn try_map<U, E>(self, form: impl FnOnce(T) -> Result<U, E>) -> Result<Done<U>, E> {
        Ok(Done { value: form(self.value)?, replayed: self.replayed })
    }
}
