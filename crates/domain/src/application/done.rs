//! The result of a command.

/// The result of a command.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Done<T> {
    /// The result.
    pub value: T,
    /// Whether the command was applied before, and this is the result of that.
    pub replayed: bool,
}

impl<T> Done<T> {
    /// The same with another form of its value.
    ///
    /// # Errors
    /// Those of `form`.
    pub fn try_map<U, E>(self, form: impl FnOnce(T) -> Result<U, E>) -> Result<Done<U>, E> {
        Ok(Done { value: form(self.value)?, replayed: self.replayed })
    }
}
