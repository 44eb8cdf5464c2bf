//! Commands about gigs.

use crate::application::environment::Environment;
use crate::application::error::{CommandError, Failure};
use crate::application::executor::{Command, Decide, Decided};
use crate::authorization::permission;
use crate::gig::{AssignedCode, DjCode, Gig, GigChange, GigRecord, GigRefusal, NewGig};
use crate::ids::GigId;
use crate::operation::{Rejection, plans};

/// The number of random codes of which one is free: if none of them is, the random numbers are not random.
const CODE_ATTEMPTS: u32 = 8;

/// Opens a gig of the principal, who is online then.
#[derive(Clone, Copy, Debug)]
pub struct OpenGig;

/// Changes a gig, as its DJ.
#[derive(Clone, Copy, Debug)]
pub struct ChangeGig {
    pub id: GigId,
}

/// Ends a gig, as its DJ, who is offline then.
#[derive(Clone, Copy, Debug)]
pub struct EndGig {
    pub id: GigId,
}

impl Command for OpenGig {
    type Permission = permission::RunGig;
    type Entity = ();
    type Input = NewGig;
    type Output = GigRecord;
    type Refusal = GigRefusal;

    fn id(&self) {}

    async fn decide(
        &self,
        Decide { env, metadata, principal, input: new, .. }: Decide<'_, Self>,
    ) -> Decided<Self> {
        let dj = principal.user;
        // Before a new code is assigned: the earlier one is not replaced for nothing.
        if let Some(open) = env.gigs.open_gig(dj).await? {
            return Err(CommandError::Refused(GigRefusal::AnotherIsOpen(open.id)));
        }
        let (code, is_new) = match env.gigs.code_of(dj).await? {
            Some(code) if !new.new_code => (code, false),
            previous => {
                let code = free_code(env).await?;
                (AssignedCode::following(previous.as_ref(), code, dj, metadata.at), true)
            }
        };
        let id = env.ids.next_gig().await?;
        plans::open_gig(metadata, id, code, is_new, new.clone()).map_err(CommandError::Refused)
    }

    fn rejected(rejection: Rejection) -> CommandError<GigRefusal> {
        match rejection {
            Rejection::GigOpen(gig) => CommandError::Refused(GigRefusal::AnotherIsOpen(gig)),
            other => Failure::from(other).into(),
        }
    }
}

/// A code that no DJ ever had.
async fn free_code(env: &Environment) -> Result<DjCode, Failure> {
    for _ in 0..CODE_ATTEMPTS {
        let code = env.ports.secrets.dj_code();
        if env.gigs.assigned(code).await?.is_none() {
            return Ok(code);
        }
    }
    Err(Failure::Broken("every random code is taken"))
}

impl Command for ChangeGig {
    type Permission = permission::RunGig;
    type Entity = Gig;
    type Input = GigChange;
    type Output = GigRecord;
    type Refusal = GigRefusal;

    fn id(&self) -> GigId {
        self.id
    }

    async fn decide(
        &self,
        Decide { metadata, entity: gig, input: change, .. }: Decide<'_, Self>,
    ) -> Decided<Self> {
        plans::change_gig(metadata, gig, change).map_err(CommandError::Refused)
    }
}

impl Command for EndGig {
    type Permission = permission::RunGig;
    type Entity = Gig;
    type Input = ();
    type Output = GigRecord;
    type Refusal = GigRefusal;

    fn id(&self) -> GigId {
        self.id
    }

    async fn decide(&self, Decide { metadata, entity: gig, .. }: Decide<'_, Self>) -> Decided<Self> {
        Ok(plans::end_gig(metadata, gig))
    }
}
