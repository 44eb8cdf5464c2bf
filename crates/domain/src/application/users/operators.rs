//! Operators: the first one, whom the configuration names or who registers with a code, and those that the person at the
//! machine adds and removes.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use thiserror::Error;
use time::Duration;

use crate::application::error::{CommandError, Failure};
use crate::application::executor::{ClientContext, Effects, apply};
use crate::application::users::{SessionForm, SignIns, StartedSession};
use crate::ids::UserId;
use crate::ledger::Balance;
use crate::operation::{OperationMetadata, Rejection, plans};
use crate::page::PageRequest;
use crate::ports::{ApplyError, BeginOutcome, FirstOperator, PasswordHash, Profile, Registered, Token};
use crate::security_log::{SecurityEvent, SecurityEventKind};
use crate::text::{Email, Line, Password};
use crate::timestamp::Timestamp;
use crate::user::session::{ClientInfo, SecretKind, TokenHash};
use crate::user::{Role, User, UserStatusChange};

/// The validity of the code with which the first operator registers.
const CODE_FOR: Duration = Duration::HOUR;

/// The reason of changes by the person at the machine.
const REASON: &str = "by the command line";

/// How the first operator can begin.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FirstOperatorWay {
    /// By registering with a code that this process issued.
    Code,
    /// By the command line alone, because this process has no valid code.
    CommandLine,
}

/// The account of a new operator.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewOperator {
    /// The display name.
    pub name: Line,
    pub email: Email,
    pub password: Password,
}

/// Why the first operator is not registered.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum FirstOperatorRefusal {
    /// The deployment has or had an operator.
    #[error("there was an operator before")]
    MadeBefore,
    /// The code is wrong, has expired, or is that of another process.
    #[error("the code is wrong or has expired")]
    InvalidCode,
    /// The account is refused.
    #[error(transparent)]
    Account(#[from] NewOperatorRefusal),
}

/// Why the account of an operator is not created.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum NewOperatorRefusal {
    /// Another user has this e-mail address.
    #[error("the e-mail address is taken")]
    EmailTaken,
    /// The password is known from breaches.
    #[error("the password is known from breaches")]
    BreachedPassword,
}

/// Why an operator is not dismissed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum DismissalRefusal {
    /// No active operator would remain.
    #[error("no active operator would remain")]
    LastOperator,
}

/// The outcome of creating the first operator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bootstrapped {
    /// This user was created.
    Made(UserId),
    /// The first operator was created before; that user may have been dismissed or erased since.
    MadeBefore,
    /// Another user has the address.
    AddressTaken,
}

/// Why creating the first operator is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum BootstrapRefusal {
    /// The password is known from breaches.
    #[error("the password is known from breaches")]
    BreachedPassword,
}

/// A code that was issued to the person at the machine. Only its hash is kept.
#[derive(Clone, Copy, Debug)]
struct IssuedCode {
    hash: TokenHash,
    until: Timestamp,
}

/// Registers the first operator, and adds and removes operators on behalf of the person at the machine.
#[derive(Clone)]
pub struct Operators {
    pub(in crate::application) sign_ins: SignIns,
    /// The code that this process issued last.
    code: Arc<Mutex<Option<IssuedCode>>>,
    /// Whether this process has seen that there was an operator, which stays true.
    had_operator: Arc<AtomicBool>,
}

impl Operators {
    pub(in crate::application) fn new(sign_ins: SignIns) -> Self {
        Self { sign_ins, code: Arc::default(), had_operator: Arc::default() }
    }

    /// Whether the first operator can still register, because there never was one. The store is asked until there was one.
    ///
    /// # Errors
    /// [`Failure::Unavailable`].
    pub async fn awaits_first(&self) -> Result<bool, Failure> {
        if self.had_operator.load(Ordering::Relaxed) {
            return Ok(false);
        }
        let had_operator = self.sign_ins.env.people.has_first_operator().await?;
        self.had_operator.store(had_operator, Ordering::Relaxed);
        Ok(!had_operator)
    }

    /// How the first operator can begin, for somebody at the machine; `None` if there ever was an operator.
    ///
    /// # Errors
    /// [`Failure::Unavailable`].
    pub async fn way_of_first(&self) -> Result<Option<FirstOperatorWay>, Failure> {
        let way = match self.code_in_force() {
            Some(_) => FirstOperatorWay::Code,
            None => FirstOperatorWay::CommandLine,
        };
        Ok(self.awaits_first().await?.then_some(way))
    }

    fn code_in_force(&self) -> Option<IssuedCode> {
        let issued = *self.code.lock().unwrap_or_else(PoisonError::into_inner);
        issued.filter(|issued| issued.until > self.sign_ins.env.now())
    }

    /// Issues a code with which the first operator registers within an hour; `None` if there ever was an operator. An
    /// earlier code of this process is void.
    ///
    /// # Errors
    /// [`Failure::Unavailable`].
    pub async fn issue_code(&self) -> Result<Option<Token>, Failure> {
        let env = &self.sign_ins.env;
        if env.people.has_first_operator().await? {
            return Ok(None);
        }
        let code = env.ports.secrets.token();
        let issued =
            IssuedCode { hash: env.ports.secrets.fingerprint(&code), until: env.now().plus(CODE_FOR) };
        *self.code.lock().unwrap_or_else(PoisonError::into_inner) = Some(issued);
        Ok(Some(code))
    }

    /// Registers the first operator with a code of this process, and begins their session. Of any number of attempts on
    /// any servers, one succeeds.
    ///
    /// # Errors
    /// [`FirstOperatorRefusal`].
    pub async fn register_first<S: SessionForm>(
        &self,
        context: &ClientContext,
        code: &Token,
        new: NewOperator,
    ) -> Result<S, CommandError<FirstOperatorRefusal>> {
        let register = async |_: &mut Effects| {
            let (user, hash) = self.registered_first(context, code, new).await?;
            let started = self.begun(S::KIND, user, &hash, context.client.clone()).await?;
            self.sign_ins.formed(started)
        };
        self.sign_ins.executor.perform_open(context.deadline, register).await
    }

    async fn registered_first(
        &self,
        context: &ClientContext,
        code: &Token,
        new: NewOperator,
    ) -> Result<(User, PasswordHash), CommandError<FirstOperatorRefusal>> {
        let env = &self.sign_ins.env;
        let refused = |refusal| Err(CommandError::Refused(refusal));
        if env.people.has_first_operator().await? {
            return refused(FirstOperatorRefusal::MadeBefore);
        }
        let presented = env.ports.secrets.fingerprint(code);
        if self.code_in_force().is_none_or(|issued| issued.hash != presented) {
            return refused(FirstOperatorRefusal::InvalidCode);
        }
        let breached = FirstOperatorRefusal::Account(NewOperatorRefusal::BreachedPassword);
        let client = context.client.clone();
        let Some((user, hash)) = self.prepared(new, &client).await? else { return refused(breached) };
        match env.people.register_first_operator(&user, &hash).await? {
            FirstOperator::Done => {}
            FirstOperator::MadeBefore => return refused(FirstOperatorRefusal::MadeBefore),
            FirstOperator::EmailTaken => return refused(NewOperatorRefusal::EmailTaken.into()),
        }
        self.note(&user, SecurityEventKind::Registered, client, "first operator").await;
        Ok((user, hash))
    }

    /// Creates the first operator, once: not again after they were dismissed or erased. An existing user with the address
    /// does not become an operator.
    ///
    /// # Errors
    /// [`BootstrapRefusal`].
    pub async fn bootstrap(
        &self,
        email: Email,
        password: Password,
    ) -> Result<Bootstrapped, CommandError<BootstrapRefusal>> {
        let env = &self.sign_ins.env;
        if env.people.has_first_operator().await? {
            return Ok(Bootstrapped::MadeBefore);
        }
        if env.logins.credentials(&email.folded()).await?.is_some() {
            return Ok(Bootstrapped::AddressTaken);
        }
        let client = ClientInfo::default();
        let new = NewOperator { name: Line::from_stored("Operator".to_owned()), email, password };
        let Some((user, hash)) = self.prepared(new, &client).await? else {
            return Err(CommandError::Refused(BootstrapRefusal::BreachedPassword));
        };
        match env.people.register_first_operator(&user, &hash).await? {
            FirstOperator::Done => {}
            FirstOperator::MadeBefore => return Ok(Bootstrapped::MadeBefore),
            FirstOperator::EmailTaken => return Ok(Bootstrapped::AddressTaken),
        }
        self.note(&user, SecurityEventKind::Registered, client, "bootstrap operator").await;
        Ok(Bootstrapped::Made(user.id))
    }

    /// Whether a user who is not suspended is an operator.
    ///
    /// # Errors
    /// [`Failure::Unavailable`].
    pub async fn has_active(&self) -> Result<bool, Failure> {
        Ok(!self.sign_ins.env.people.active_operators(None, 1).await?.is_empty())
    }

    /// The user with this address.
    ///
    /// # Errors
    /// [`Failure::Unavailable`].
    pub async fn find(&self, email: &Email) -> Result<Option<User>, Failure> {
        let page = PageRequest::new(1, 1);
        let found = self.sign_ins.env.people.people(Some(&email.folded()), page).await?;
        Ok(found.rows.into_iter().next())
    }

    /// The operators who are neither suspended nor erased, by id.
    ///
    /// # Errors
    /// [`Failure::Unavailable`].
    pub async fn active(&self) -> Result<Vec<User>, Failure> {
        let mut all = Vec::new();
        loop {
            let after = all.last().map(|user: &User| user.id);
            let more = self.sign_ins.env.people.active_operators(after, PageRequest::MAX_SIZE).await?;
            if more.is_empty() {
                return Ok(all);
            }
            all.extend(more);
        }
    }

    /// Creates the account of an operator. `by` is the name of the person at the machine, for operators alone.
    ///
    /// # Errors
    /// [`NewOperatorRefusal`].
    pub async fn create(
        &self,
        new: NewOperator,
        by: &Line,
    ) -> Result<User, CommandError<NewOperatorRefusal>> {
        let env = &self.sign_ins.env;
        let client = at_machine(by);
        let Some((user, hash)) = self.prepared(new, &client).await? else {
            return Err(CommandError::Refused(NewOperatorRefusal::BreachedPassword));
        };
        let is_taken = match env.people.register_first_operator(&user, &hash).await? {
            FirstOperator::Done => false,
            FirstOperator::EmailTaken => true,
            FirstOperator::MadeBefore => env.people.register(&user, &hash, None).await? != Registered::Done,
        };
        if is_taken {
            return Err(CommandError::Refused(NewOperatorRefusal::EmailTaken));
        }
        self.note(&user, SecurityEventKind::OperatorAction, client, "created as an operator").await;
        Ok(user)
    }

    /// Gives an existing user the role of an operator, unless they have it. From then on, no first operator can register.
    /// It may be repeated.
    ///
    /// # Errors
    /// [`Failure`].
    pub async fn promote(&self, user: &User, by: &Line) -> Result<(), Failure> {
        let env = &self.sign_ins.env;
        if user.role != Role::Operator {
            self.change(user, Role::Operator, by).await.map_err(Failure::from)?;
        }
        Ok(env.people.record_first_operator(env.now()).await?)
    }

    /// Takes the role of an operator from a user, who becomes a member.
    ///
    /// # Errors
    /// [`DismissalRefusal`].
    pub async fn dismiss(&self, user: &User, by: &Line) -> Result<(), CommandError<DismissalRefusal>> {
        self.change(user, Role::Member, by).await.map_err(|error| match error {
            ApplyError::Rejected(Rejection::LastOperator) => {
                CommandError::Refused(DismissalRefusal::LastOperator)
            }
            other => CommandError::Failed(Failure::from(other)),
        })
    }

    async fn change(&self, user: &User, role: Role, by: &Line) -> Result<(), ApplyError> {
        let env = &self.sign_ins.env;
        let metadata = OperationMetadata::system(env.ids.operation(), env.now());
        let reason = Some(Line::from_stored(REASON.to_owned()));
        let metadata = OperationMetadata { reason, client: at_machine(by), ..metadata };
        let plan = plans::change_user_status(metadata, user.id, UserStatusChange::Role(role));
        apply(env, plan, None).await.map(drop)
    }

    /// A new operator with the hash of the password; `None` if the password is known from breaches.
    async fn prepared(
        &self,
        new: NewOperator,
        client: &ClientInfo,
    ) -> Result<Option<(User, PasswordHash)>, Failure> {
        let env = &self.sign_ins.env;
        let NewOperator { name, email, password } = new;
        if env.ports.passwords.is_breached(&password) {
            return Ok(None);
        }
        let hash = env.ports.passwords.hash(&password, client.network()).await?;
        let registered = User::registered(env.ids.next_user().await?, name, email, None, false, env.now());
        Ok(Some((User { role: Role::Operator, ..registered }, hash)))
    }

    /// The first session of a new operator.
    async fn begun(
        &self,
        kind: SecretKind,
        user: User,
        hash: &PasswordHash,
        client: ClientInfo,
    ) -> Result<StartedSession, Failure> {
        let owner = (user.id, user.role);
        let (outcome, session, secret) = self.sign_ins.begin(kind, owner, hash, client).await?;
        match outcome {
            BeginOutcome::Done => {}
            // Another operator cannot have changed this account yet; a login decides.
            BeginOutcome::PasswordChanged | BeginOutcome::Suspended => return Err(Failure::Conflict),
        }
        let profile = Profile { user, balance: Balance::default() };
        Ok(StartedSession { profile, session, secret })
    }

    async fn note(&self, user: &User, kind: SecurityEventKind, client: ClientInfo, detail: &str) {
        let event = SecurityEvent::about(kind, Some(user.id), client, user.created_at);
        let detail = Some(Line::from_stored(detail.to_owned()));
        self.sign_ins.env.security_audit.add(SecurityEvent { detail, ..event }).await;
    }
}

/// The person at the machine as a client.
fn at_machine(by: &Line) -> ClientInfo {
    ClientInfo { address: None, agent: Some(by.clone()) }
}
