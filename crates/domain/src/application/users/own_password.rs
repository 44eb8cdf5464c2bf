//! The password that a principal repeats before an action with lasting effects.

use crate::application::environment::Environment;
use crate::application::executor::Context;
use crate::authorization::Principal;
use crate::ports::{Credentials, HashingError, PasswordCheck, PasswordHash};
use crate::security_log::{SecurityEvent, SecurityEventKind};
use crate::text::{Line, Password};
use crate::user::RecentPassword;

/// How a principal confirms an action that asks for the password again.
#[derive(Clone, Copy, Debug)]
pub enum Confirmation<'p> {
    /// With the password.
    Password(&'p Password),
    /// With a password that was checked before.
    Recent(RecentPassword),
}

/// Whether this is the password of the principal. A wrong password is recorded with the name of the action, and takes
/// as long to check as the right one.
pub(in crate::application) async fn is_own_password(
    env: &Environment,
    context: &Context,
    principal: &Principal,
    password: &Password,
    act: &'static str,
) -> Result<bool, HashingError> {
    Ok(own_password(env, context, principal, password, act).await?.is_some())
}

/// Whether the principal confirms an action. A wrong password is recorded as by [`is_own_password`].
pub(in crate::application) async fn is_confirmed(
    env: &Environment,
    context: &Context,
    principal: &Principal,
    confirmation: Confirmation<'_>,
    act: &'static str,
) -> Result<bool, HashingError> {
    match confirmation {
        Confirmation::Password(password) => is_own_password(env, context, principal, password, act).await,
        Confirmation::Recent(recent) => Ok(recent.counts(principal.session, env.now())),
    }
}

/// The stored hash of this password if it is the password of the principal. A wrong one is recorded as by
/// [`is_own_password`].
pub(in crate::application) async fn own_password(
    env: &Environment,
    context: &Context,
    principal: &Principal,
    password: &Password,
    act: &'static str,
) -> Result<Option<PasswordHash>, HashingError> {
    let known = env.logins.credentials_of(principal.user).await?;
    let hash = known.map(|Credentials { password, .. }| password);
    if env.ports.passwords.verify(password, hash.clone(), context.client.network()).await?
        != PasswordCheck::Wrong
    {
        return Ok(hash);
    }
    let event =
        SecurityEvent::by(principal, SecurityEventKind::LoginFailed, context.client.clone(), env.now());
    let detail = Some(Line::from_stored(act.to_owned()));
    env.security_audit.add(SecurityEvent { detail, ..event }).await;
    Ok(None)
}
