//! The handler's view of a request to a page.

use std::sync::Arc;

use actix_web::HttpRequest;
use actix_web::http::{Method, header};
use cuepoint_adapters::security::random::RandomSecrets;
use cuepoint_domain::application::{ClientContext, Command, CommandError, Context, Done, Failure, UseCases};
use cuepoint_domain::authorization::Principal;
use cuepoint_domain::gig::DjCode;
use cuepoint_domain::ids;
use cuepoint_domain::money::Currency;
use cuepoint_domain::operation::{Fingerprint, IdempotencyKey, KeyScope};
use cuepoint_domain::page::PageRequest;
use cuepoint_domain::ports::{Clock as _, Deadline, Profile};
use cuepoint_domain::user::guest_account::GuestKey;
use cuepoint_domain::user::session::ClientInfo;
use cuepoint_pages::done;
use cuepoint_pages::forms::KeptWallet;
use cuepoint_pages::frame::{Frame, NoticeKind, PageNotice, RenderedPart, Viewer};
use cuepoint_pages::language::Language;
use cuepoint_transport::client_address;
use cuepoint_transport::deadline::RequestDeadline;
use cuepoint_transport::rate_limits::Class;
use cuepoint_transport::request_limits::RequestLimits;
use cuepoint_transport::static_file::StaticFile;

use crate::cookies::PageCookie;
use crate::cross_site;
use crate::failure::PageFailure;
use crate::form::Form;
use crate::kept_secrets;
use crate::next_path;
use crate::response::PageResponse;
use crate::session::{self, SecretState};
use crate::state::PageState;

/// The header of a request by the script, and of the answer to it, by which the script knows that this service answered.
pub const PART: header::HeaderName = header::HeaderName::from_static("x-cuepoint-part");

/// The header by which the script names the user whose page it runs in. Another user of the browser may log in meanwhile.
pub const USER: header::HeaderName = header::HeaderName::from_static("x-cuepoint-user");

/// A request after the check of its form.
#[derive(Clone)]
pub struct PageCall {
    /// The state that handlers share.
    pub state: Arc<PageState>,
    pub(super) request: HttpRequest,
    /// The parameter in the path, such as a code; empty without one.
    pub parameter: String,
    /// The fields of the form; empty for a GET.
    pub form: Form,
    /// The fields of the query.
    pub query: Form,
    pub(super) deadline: RequestDeadline,
    pub language: Language,
    /// The language that the address names, on a page that reads it.
    pub named_language: Option<Language>,
    /// The principal of the session; `None` without one, and for pages that read no cookie.
    pub principal: Option<Principal>,
    /// Whether a wallet link ended the session of this browser. The page then says where the wallet is.
    pub(super) is_moved: bool,
    /// The rate limit that the request counts in.
    pub(super) class: Class,
}

impl PageCall {
    /// The use cases.
    #[must_use]
    pub fn use_cases(&self) -> &UseCases {
        &self.state.service.use_cases
    }

    /// The currency of the deployment.
    #[must_use]
    pub fn currency(&self) -> &Currency {
        &self.state.settings.site.currency
    }

    /// The rate limits of this request.
    #[must_use]
    pub fn limits(&self) -> RequestLimits<'_> {
        RequestLimits::new(&self.state.limits, &self.request)
    }

    /// What is found under a code, as [`RequestLimits::look_up_code`].
    ///
    /// # Errors
    /// [`PageFailure`].
    pub async fn look_up_code<T>(
        &self,
        code: &str,
        find: impl AsyncFnOnce(DjCode) -> Result<T, Failure>,
    ) -> Result<T, PageFailure> {
        let is_unknown = |failure: &Failure| matches!(failure, Failure::NotFound);
        let (boards, principal) = (&self.use_cases().boards, self.principal.as_ref());
        Ok(self.limits().look_up_code(boards, code, principal, find, is_unknown).await?)
    }

    /// The path of the request.
    #[must_use]
    pub fn path(&self) -> &str {
        self.request.path()
    }

    /// The client info.
    #[must_use]
    pub fn client(&self) -> ClientInfo {
        client_address::client(&self.request)
    }

    /// Whether the reader is at the machine of the service.
    #[must_use]
    pub fn is_local(&self) -> bool {
        client_address::is_local(&self.request)
    }

    /// Whether the script sent the request, and replaces a part of the page by the answer.
    #[must_use]
    pub fn wants_part(&self) -> bool {
        self.request.headers().contains_key(PART)
    }

    /// The value of a cookie.
    #[must_use]
    pub fn cookie(&self, cookie: PageCookie) -> Option<String> {
        self.state.settings.cookies.read(cookie, &self.request)
    }

    /// The context of a request without a principal.
    #[must_use]
    pub fn client_context(&self) -> ClientContext {
        ClientContext { client: self.client(), deadline: self.deadline_of_waits() }
    }

    /// The context of a request by this principal. `what` names everything that the form decides, so that a repeated key
    /// with another form is refused.
    #[must_use]
    pub fn context(&self, principal: &Principal, key: Option<&FormKey>, what: &str) -> Context {
        let key = key.map(|FormKey(key)| IdempotencyKey {
            // The key names the purpose of its form, so that a request waiting for its payment has the scope of the form.
            scope: KeyScope::of(principal.user, "POST", "/", key),
            fingerprint: Fingerprint::of(what.as_bytes()),
        });
        Context { principal: *principal, client: self.client(), key, deadline: self.deadline_of_waits() }
    }

    fn deadline_of_waits(&self) -> Deadline {
        self.state.service.authentication.timer.deadline(self.deadline.for_waits())
    }

    /// Runs a command once for each key.
    ///
    /// # Errors
    /// As [`Executor::run`](cuepoint_domain::application::Executor::run).
    pub async fn run<C: Command>(
        &self,
        principal: &Principal,
        key: Option<&FormKey>,
        command: C,
        input: C::Input,
        what: &str,
    ) -> Result<Done<C::Output>, CommandError<C::Refusal>> {
        let context = self.context(principal, key, what);
        self.use_cases().executor.run(&context, command, || Ok(input)).await
    }

    /// The user of the session with their balance.
    ///
    /// # Errors
    /// [`PageFailure`].
    pub async fn profile(&self) -> Result<Option<Profile>, PageFailure> {
        match &self.principal {
            Some(principal) => Ok(Some(self.use_cases().profiles.own(principal).await?)),
            None => Ok(None),
        }
    }

    /// The guest accounts in the guest cookie that are in force, except the principal's, newest first. They are the wallets
    /// that this browser had before. Suspended guest accounts and sessions of members are left out.
    ///
    /// # Errors
    /// [`PageFailure`] for an exhausted quota, and a store that cannot be read.
    pub async fn kept_guests(&self) -> Result<Vec<Principal>, PageFailure> {
        let Some(principal) = &self.principal else { return Ok(Vec::new()) };
        let mut guests = Vec::new();
        for secret in kept_secrets::secrets(self.state.settings.cookies, &self.request) {
            if let SecretState::InForce(kept) = session::state_of(&self.state, &self.request, &secret).await?
                && kept.is_guest_account()
                && kept.user != principal.user
            {
                guests.push(kept);
            }
        }
        Ok(guests)
    }

    /// The kept guest account with this user id. A page has shown its wallet.
    ///
    /// # Errors
    /// [`PageFailure::Outdated`] if it is no longer kept or in force, and as [`Self::kept_guests`].
    pub async fn kept_guest(&self, shown: &str) -> Result<Principal, PageFailure> {
        let guests = self.kept_guests().await?;
        guests.into_iter().find(|guest| guest.user.to_string() == shown).ok_or(PageFailure::Outdated)
    }

    /// The available balances of the [kept guest accounts](Self::kept_guests) in which money is left, newest first.
    ///
    /// # Errors
    /// As [`Self::kept_guests`].
    pub async fn kept_wallets(&self) -> Result<Vec<KeptWallet>, PageFailure> {
        let mut wallets = Vec::new();
        for guest in self.kept_guests().await? {
            let available = self.use_cases().profiles.own(&guest).await?.balance.available;
            if !available.is_zero() {
                wallets.push(KeptWallet { user: guest.user, available });
            }
        }
        Ok(wallets)
    }

    /// The frame of a page that this user reads.
    #[must_use]
    pub fn frame<'a>(&'a self, reader: Option<&'a Profile>) -> Frame<'a> {
        let now = self.state.service.authentication.clock.now();
        let frame = Frame::new(&self.state.settings.site, self.language, now);
        let moved =
            self.is_moved.then(|| PageNotice { kind: NoticeKind::Loss, text: frame.t.wallet_moved() });
        let notice = self.done().map(|done| done.notice(frame.t)).or(moved);
        Frame { viewer: reader.map(|profile| Viewer::of(&profile.user)), notice, ..frame }
    }

    /// What the form did that led to this page. A link from elsewhere shows no notice.
    fn done(&self) -> Option<done::DoneNotice> {
        let is_from_elsewhere = cross_site::is_from_elsewhere(self.request.headers());
        let name = self.query.text(done::DoneNotice::PARAMETER);
        done::DoneNotice::named(name).filter(|_| is_read(&self.request) && !is_from_elsewhere)
    }

    /// The id in the path.
    ///
    /// # Errors
    /// [`PageFailure::NotFound`] if it is not a positive decimal integer without leading zeros.
    pub fn id<T>(&self, make: fn(i64) -> Option<T>) -> Result<T, PageFailure> {
        ids::written(&self.parameter).and_then(make).ok_or(PageFailure::NotFound)
    }

    /// The local page that contains the form, to which the browser returns; otherwise the start page.
    #[must_use]
    pub fn back(&self) -> String {
        page_of_form(&self.request)
    }

    /// A file, in the form that the client takes.
    #[must_use]
    pub fn file(&self, file: &StaticFile) -> PageResponse {
        PageResponse::file(file.answer(&self.request))
    }

    /// The page of a list that `?page=` names, and the first one otherwise.
    #[must_use]
    pub fn list_page(&self, size: u32) -> PageRequest {
        PageRequest::new(self.query.text("page").parse().unwrap_or(1), size)
    }

    /// The address of the page of this code, as a poster shows it.
    #[must_use]
    pub fn page_of(&self, code: DjCode) -> String {
        format!("{}/g/{code}", self.state.settings.public_url)
    }

    /// Counts a form for everybody in the class of its route, now that its fields are valid.
    ///
    /// # Errors
    /// [`PageFailure::TooMany`].
    pub fn count_valid(&self) -> Result<(), PageFailure> {
        self.limits().count_for_network_instead(self.class).map_err(PageFailure::rate_limited)
    }

    /// A new key of a form.
    #[must_use]
    pub fn new_key(&self) -> String {
        RandomSecrets::token(self.state.secrets).0
    }

    /// A part of a page, unless the reader shows it already.
    #[must_use]
    pub fn part(&self, part: RenderedPart) -> PageResponse {
        PageResponse::part(part, self.query.text("digest"))
    }
}

/// Whether a request only reads.
pub(crate) fn is_read(request: &HttpRequest) -> bool {
    matches!(*request.method(), Method::GET | Method::HEAD)
}

/// The local page that contains the form of a request; otherwise the start page.
pub(crate) fn page_of_form(request: &HttpRequest) -> String {
    let referer = request.headers().get(header::REFERER).and_then(|referer| referer.to_str().ok());
    let path = referer.and_then(|referer| url::Url::parse(referer).ok()).map(|url| url.path().to_owned());
    path.as_deref().and_then(next_path::local).unwrap_or("/").to_owned()
}

/// The key of a form, which the page put there: a form that is sent twice takes effect once.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FormKey(String);

/// The longest key, in characters.
const MAX_KEY: usize = 160;

impl FormKey {
    /// The key of a form.
    ///
    /// # Errors
    /// [`PageFailure::NoForm`] for a form that none of the pages has.
    pub fn of(form: &Form) -> Result<Self, PageFailure> {
        let key = form.text("key");
        let fits = (GuestKey::MIN_CHARACTERS..=MAX_KEY).contains(&key.len());
        let plain = key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
        if fits && plain { Ok(Self(key.to_owned())) } else { Err(PageFailure::NoForm) }
    }

    /// The key of another change that belongs to this form.
    #[must_use]
    pub fn derived(&self, what: &str) -> Self {
        Self(format!("{}-{what}", self.0))
    }

    /// The key as a text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}
