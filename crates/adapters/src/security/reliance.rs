//! What a request relies on: the revocation list, and the clock of this server.

use cuepoint_domain::authorization::Action;
use cuepoint_domain::ports::Unavailable;

use super::authentication::Authentication;

/// What a request relies on. A request is refused while this is unreliable: its permission may have been revoked, or its
/// effect would carry a wrong timestamp.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reliance {
    on_list: bool,
    on_clock: bool,
}

impl Reliance {
    /// Nothing: the request needs no principal, or reads the caller's own data.
    pub const NOTHING: Self = Self { on_list: false, on_clock: false };
    /// Both: the request has an effect, and a principal.
    pub const EVERYTHING: Self = Self { on_list: true, on_clock: true };
    /// The clock alone: the request has an effect, and no principal.
    pub const CLOCK: Self = Self { on_list: false, on_clock: true };

    /// What a request of a principal relies on.
    #[must_use]
    pub fn of(action: Action, changes: bool) -> Self {
        Self { on_list: changes || action.is_for_staff(), on_clock: changes }
    }
}

impl Authentication {
    /// Refuses a request while something that it relies on is unreliable.
    ///
    /// # Errors
    /// [`Unavailable`].
    pub fn ensure_reliable(&self, reliance: Reliance) -> Result<(), Unavailable> {
        if reliance.on_list {
            self.revocations.ensure_current().map_err(Unavailable::new)?;
        }
        if reliance.on_clock {
            self.clock.ensure_agreed().map_err(Unavailable::new)?;
        }
        Ok(())
    }
}
