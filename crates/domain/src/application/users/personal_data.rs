//! Export and erasure of personal data.

use std::sync::Arc;

use futures_util::stream::{self, Stream, StreamExt as _};
use thiserror::Error;

use crate::application::environment::Environment;
use crate::application::error::{CommandError, Failure};
use crate::application::executor::{Authorized, Context, Executor, Expiry};
use crate::application::jobs::AbandonedTopups;
use crate::application::users::own_password;
use crate::authorization::{Principal, permission::UsePersonalData};
use crate::ports::{Erased, PasswordHash, Profile, Unavailable};
use crate::privacy::ErasureRefusal;
use crate::privacy::personal_data::{ExportList, ExportRecord};
use crate::security_log::SecurityEventKind;
use crate::text::Password;

/// The number of records per page of a list.
const PAGE: u32 = 200;

/// Why an erasure is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum EraseRefusal {
    /// A member erases themselves only with their password.
    #[error("the password is missing")]
    PasswordMissing,
    #[error("the password is wrong")]
    WrongPassword,
    /// A guest account has money, which it cannot withdraw.
    #[error("there is money in the wallet of a guest account")]
    GuestMoneyLeft,
    /// The rule of an erasure refuses it.
    #[error(transparent)]
    Rule(#[from] ErasureRefusal),
}

/// Exports and erases personal data.
#[derive(Clone)]
pub struct PersonalData {
    pub(in crate::application) env: Arc<Environment>,
    pub(in crate::application) executor: Executor,
}

impl PersonalData {
    /// Begins the export of the principal's data and returns their profile. [`PersonalData::list`] returns
    /// each list.
    pub async fn export(&self, context: &Context) -> Result<Profile, Failure> {
        let Context { principal, client, .. } = context;
        let own = Authorized::<_, UsePersonalData>::own(principal)?;
        let profile = self.env.people.profile(*own).await?.ok_or(Failure::UnknownPrincipal)?;
        self.env.security_audit.by(principal, SecurityEventKind::DataExported, client.clone()).await;
        Ok(profile)
    }

    /// Streams one whole list of the principal's data, newest first, with no more than a page in memory.
    /// Records added in the meantime may be missing. A record that exists throughout is returned once,
    /// whatever else is deleted.
    ///
    /// # Errors
    /// [`Failure::Denied`]; the stream ends with [`Unavailable`] if a page cannot be read.
    pub fn list(
        &self,
        principal: &Principal,
        list: ExportList,
    ) -> Result<impl Stream<Item = Result<Vec<ExportRecord>, Unavailable>> + use<>, Failure> {
        let user = *Authorized::<_, UsePersonalData>::own(principal)?;
        let env = self.env.clone();
        // The last key of the previous page.
        let start = Some(None);
        Ok(stream::unfold(start, move |next| {
            let env = env.clone();
            async move {
                let after = next?;
                let records = match env.records.records(user, list, after, PAGE).await {
                    Ok(records) => records,
                    Err(unavailable) => return Some((Err(unavailable), None)),
                };
                let full = u32::try_from(records.len()).is_ok_and(|found| found >= PAGE);
                let last = records.last().map(ExportRecord::key);
                let now = env.now();
                let shown = records.into_iter().map(|record| record.shown_to(user, now)).collect();
                Some((Ok(shown), full.then_some(last)))
            }
        })
        .fuse())
    }

    /// Erases the principal after verifying their password, which a guest account does not have; the ledger keeps its records, without a
    /// name. A wrong password takes the same time as the right one. The principal's own overdue fees are
    /// released first, and their pending top-ups fail afterwards.
    ///
    /// # Errors
    /// [`EraseRefusal`].
    pub async fn erase(
        &self,
        context: &Context,
        password: Option<&Password>,
    ) -> Result<(), CommandError<EraseRefusal>> {
        let env = &self.env;
        self.executor
            .perform::<UsePersonalData, _, _>(context, async |own, principal, effects| {
                let client = context.client.clone();
                let confirmed = self.confirm(context, principal, password).await?;
                Expiry { env }.settle_own(*own).await?;
                let now = env.now();
                let expected_since = now.minus(env.terms.topups_pending_for);
                match env.people.erase(*own, &confirmed, expected_since, now).await? {
                    Erased::Done => {}
                    Erased::Refused(ErasureRefusal::MoneyLeft) if principal.is_guest_account() => {
                        return Err(CommandError::Refused(EraseRefusal::GuestMoneyLeft));
                    }
                    Erased::Refused(refusal) => return Err(CommandError::refused(refusal)),
                    Erased::Nobody => return Err(Failure::UnknownPrincipal.into()),
                }
                effects.revocations_changed();
                env.security_audit.by(principal, SecurityEventKind::DataErased, client).await;
                // The user is erased even if this fails: the background job continues.
                drop(AbandonedTopups { env }.fail_some(*own).await);
                Ok(())
            })
            .await
    }

    /// Verifies the password of a member who confirms the erasure, and returns its stored hash;
    /// [`PasswordHash::none`] for a guest account.
    async fn confirm(
        &self,
        context: &Context,
        principal: &Principal,
        password: Option<&Password>,
    ) -> Result<PasswordHash, CommandError<EraseRefusal>> {
        // As stored: the account may have been claimed at another server.
        let profile = self.env.people.profile(principal.user).await?.ok_or(Failure::UnknownPrincipal)?;
        if profile.user.is_guest_account() {
            return Ok(PasswordHash::none());
        }
        let password = password.ok_or(CommandError::Refused(EraseRefusal::PasswordMissing))?;
        let confirmed = own_password(&self.env, context, principal, password, "erasure").await?;
        confirmed.ok_or(CommandError::Refused(EraseRefusal::WrongPassword))
    }
}
