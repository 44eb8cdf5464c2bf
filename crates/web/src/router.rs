//! The way of a request to its page, through the checks in their order: route, origin of a form, session, role, rate
//! limit, reliance, form. The handler counts a form for everybody once its fields are valid.

use std::sync::Arc;

use actix_web::http::Method;
use actix_web::http::header::{self, HeaderMap};
use actix_web::http::uri::PathAndQuery;
use actix_web::web::Payload;
use actix_web::{HttpRequest, HttpResponse, rt};
use cuepoint_adapters::observability::logged_request::in_current_request;
use cuepoint_adapters::security::reliance::Reliance;
use cuepoint_domain::authorization::Principal;
use cuepoint_domain::ports::Clock as _;
use cuepoint_pages::error::ErrorPage;
use cuepoint_pages::frame::Frame;
use cuepoint_pages::language::Language;
use cuepoint_transport::compression::accepts_gzip;
use cuepoint_transport::deadline::RequestDeadline;
use cuepoint_transport::observe::{self, request_id};
use cuepoint_transport::path_tree::PathTree;
use cuepoint_transport::rate_limits::Class;
use cuepoint_transport::request_body;
use cuepoint_transport::request_limits::RequestLimits;

use crate::call::{self, PART, PageCall, USER};
use crate::failure::PageFailure;
use crate::form::{self, Form};
use crate::handlers::{self, unknown};
use crate::kept_secrets;
use crate::next_path;
use crate::response::PageResponse;
use crate::route::{PageAccess, PageRoute};
use crate::session::{self, Owner};
use crate::state::PageState;

/// The pages of a worker.
pub struct Pages {
    state: Arc<PageState>,
    routes: PathTree<Vec<PageRoute>>,
    /// The routes of paths that belong neither to a page nor to the API.
    code: PageRoute,
    unknown: PageRoute,
}

impl Pages {
    /// The pages with this state.
    #[must_use]
    pub fn new(state: Arc<PageState>) -> Self {
        let mut routes: PathTree<Vec<PageRoute>> = PathTree::default();
        let sandbox = state.settings.has_sandbox.then(handlers::sandbox::routes);
        for route in handlers::all().into_iter().chain(sandbox.into_iter().flatten()) {
            routes.at(route.path).get_or_insert_default().push(route);
        }
        Self { state, routes, code: unknown::code(), unknown: unknown::anything() }
    }

    /// Whether a path is that of a page.
    #[must_use]
    pub fn serve(&self, path: &str) -> bool {
        self.routes.find(path).is_some()
    }

    /// Answers a request to a page, or one to which [`unknown::is_for_page`] applies.
    pub async fn answer(&self, request: HttpRequest, payload: Payload) -> HttpResponse {
        let named_language = self.named_language(&request);
        let language = named_language.unwrap_or_else(|| language_of(request.headers()));
        let answered = self.handle(&request, payload, language, named_language).await;
        let response = answered.unwrap_or_else(|failure| self.refusal(&failure, &request, language));
        let response = if request.headers().contains_key(PART) {
            response.with_header(PART, "1")
        } else {
            // The answer of a part renews no cookies. It can arrive after the answer of a login, and would bring the earlier
            // cookies back.
            kept_secrets::renewed(self.state.settings.cookies, &request, response)
        };
        response.finish(language, accepts_gzip(&request))
    }

    async fn handle(
        &self,
        request: &HttpRequest,
        payload: Payload,
        language: Language,
        named_language: Option<Language>,
    ) -> Result<PageResponse, PageFailure> {
        let (route, parameter) = self.find(request)?;
        let state = &self.state;
        if route.changes() && !state.settings.origins.accept(request.headers()) {
            return Err(PageFailure::ForeignForm);
        }
        let owner = match route.access {
            PageAccess::Public => Owner::Nobody,
            PageAccess::Anyone | PageAccess::User(_) => session::owner(state, request).await?,
        };
        self.admit(route, owner, request)?;
        // A part of a page shows no notice.
        let is_part = request.headers().contains_key(PART);
        let is_open_page = route.access == PageAccess::Anyone && !route.changes() && !is_part;
        let is_moved = is_open_page && owner == Owner::Nobody && session::is_moved(state, request).await?;
        let form = if route.changes() { self.receive(request, payload).await? } else { Form::default() };
        if names_another_payer(&form, owner.principal()) {
            return Err(PageFailure::Outdated);
        }
        let deadline = RequestDeadline::of_request_read_now();
        let call = PageCall {
            state: Arc::clone(state),
            request: request.clone(),
            parameter: parameter.unwrap_or_default().to_owned(),
            form,
            query: Form::parse(request.query_string().as_bytes()),
            deadline,
            language,
            named_language,
            principal: owner.principal(),
            is_moved,
            class: route.class,
        };
        let shown = (route.run)(call);
        if !route.changes() {
            return deadline.bound(shown).await;
        }
        // A separate task, since a started change runs to its end even if the browser leaves or the deadline passes.
        let handled = rt::spawn(in_current_request(shown));
        let answer = deadline
            .bound(async { handled.await.map_err(|error| PageFailure::Broken(error.to_string()))? })
            .await;
        if answer.as_ref().map_or(true, PageResponse::is_refusal) {
            RequestLimits::new(&state.limits, request).count_as_not_accepted();
        }
        answer
    }

    /// The route of a request, and the parameter in its path.
    fn find<'r>(&'r self, request: &'r HttpRequest) -> Result<(&'r PageRoute, Option<&'r str>), PageFailure> {
        let found = self.routes.find(request.match_info().as_str());
        let Some((routes, parameter)) = found else { return Ok(self.of_unknown_path(request)) };
        let wanted = if request.method() == Method::HEAD { &Method::GET } else { request.method() };
        if let Some(any) = routes.first() {
            observe::matched(request, any.path, any.path);
        }
        let route = routes.iter().find(|route| route.method == *wanted).ok_or(PageFailure::WrongMethod)?;
        Ok((route, parameter))
    }

    /// The route of a path that belongs to no page, and the code in it.
    fn of_unknown_path<'r>(&'r self, request: &'r HttpRequest) -> (&'r PageRoute, Option<&'r str>) {
        match unknown::code_in(request) {
            // The log shows no code.
            Some(code) => {
                observe::matched(request, self.code.path, self.code.path);
                (&self.code, Some(code))
            }
            None => {
                observe::unmatched(request);
                (&self.unknown, None)
            }
        }
    }

    /// Checks the role of the principal and counts the request: for the principal, or for the client's network.
    fn admit(&self, route: &PageRoute, owner: Owner, request: &HttpRequest) -> Result<(), PageFailure> {
        let limits = RequestLimits::new(&self.state.limits, request);
        if let Owner::Principal(principal) = owner {
            observe::authenticated(request, principal.user);
        }
        let refused = refused_without_principal(route, owner);
        let counted = match owner {
            Owner::Principal(principal) if !counts_for_network(route) => {
                limits.count_principal(route.class, &principal)
            }
            // It must not use up what the network has for others.
            _ if refused.is_some() && route.changes() => limits.count(Class::Other),
            // A form counts as a page until its fields are valid ([`PageCall::count_valid`]), so that slow or invalid forms
            // use up no scarce quota.
            _ => limits.count(Class::Boards),
        };
        counted.map_err(PageFailure::rate_limited)?;
        if let Some(refused) = refused {
            return Err(refused);
        }
        let Some(principal) = owner.principal() else { return Ok(()) };
        if names_another_user(request, principal) {
            return Err(PageFailure::Login);
        }
        let authentication = &self.state.service.authentication;
        let reliance = match route.access {
            PageAccess::User(action) => {
                principal.has_role_for(action).map_err(session::without_role)?;
                Reliance::of(action, route.changes())
            }
            PageAccess::Anyone if route.changes() => Reliance::EVERYTHING,
            PageAccess::Anyone | PageAccess::Public => Reliance::NOTHING,
        };
        Ok(authentication.ensure_reliable(reliance)?)
    }

    async fn receive(&self, request: &HttpRequest, payload: Payload) -> Result<Form, PageFailure> {
        let body = request_body::receive(request, payload, self.state.settings.body_timeout).await?;
        if !body.is_empty() && !form::is_form(request.headers()) {
            return Err(PageFailure::NoForm);
        }
        Ok(Form::parse(&body))
    }

    /// The language that `lang` names, if the page reads it. An unknown one, and more than one, count for nothing.
    fn named_language(&self, request: &HttpRequest) -> Option<Language> {
        let (routes, _) = self.routes.find(request.match_info().as_str())?;
        let query = || Form::parse(request.query_string().as_bytes());
        let query = routes.iter().any(|route| route.reads_language).then(query)?;
        Language::tagged(query.secret("lang")).filter(|_| !query.is_repeated("lang"))
    }

    /// The methods of a path, as `Allow` lists them.
    fn allowed(&self, request: &HttpRequest) -> String {
        let found = self.routes.find(request.match_info().as_str());
        let routes = found.map_or(&[][..], |(routes, _)| routes);
        let methods = routes.iter().map(|route| if route.changes() { "POST" } else { "GET, HEAD" });
        methods.collect::<Vec<_>>().join(", ")
    }

    /// The page of a refusal; for a reader without a session, the way to the login.
    fn refusal(&self, failure: &PageFailure, request: &HttpRequest, language: Language) -> PageResponse {
        let is_part = request.headers().contains_key(PART);
        let is_form = !call::is_read(request);
        let page = request.uri().path_and_query().map_or(request.path(), PathAndQuery::as_str);
        let page = next_path::without_notice(page);
        let back = (!is_form).then_some(page.as_str());
        match failure {
            // The cookie stays, because it may be the only key of a wallet in a database that comes back.
            PageFailure::Login if !is_part => return PageResponse::see(&session::login_path(back)),
            PageFailure::WalletsFull if !is_part => return PageResponse::see("/wallet"),
            PageFailure::Claim if !is_part => return PageResponse::see(&session::claim_path(back)),
            _ => {}
        }
        let incident = request_id(request);
        if let PageFailure::Broken(cause) = failure {
            tracing::error!(%cause, "a page failed");
        }
        let now = self.state.service.authentication.clock.now();
        let frame = Frame::new(&self.state.settings.site, language, now);
        let problem = failure.problem(&incident, is_form);
        let way = match (failure, back) {
            (PageFailure::Suspended, _) => session::login_path(back),
            (PageFailure::ForeignForm, _) => "/".to_owned(),
            (_, Some(page)) => page.to_owned(),
            (_, None) => call::page_of_form(request),
        };
        let page = ErrorPage { frame: &frame, problem, back: &way, is_form };
        let html = if is_part { page.render_part() } else { page.render() };
        let response = PageResponse::html(failure.status(), html);
        if matches!(failure, PageFailure::WrongMethod) {
            return response.with_header(header::ALLOW, &self.allowed(request));
        }
        match failure.retry_after_seconds() {
            Some(seconds) => response.with_header(header::RETRY_AFTER, &seconds.to_string()),
            None => response,
        }
    }
}

/// Whether the script runs in a page of another user than the session's.
fn names_another_user(request: &HttpRequest, principal: Principal) -> bool {
    request.headers().get(USER).is_some_and(|user| *user != principal.user.to_string())
}

/// Whether the page of the form showed the wallet of another user than the session's. Only that wallet may pay. A form
/// from a page without a session names no payer. A guest account may send it, because another tab of the same guest may have
/// created the account meanwhile.
fn names_another_payer(form: &Form, principal: Option<Principal>) -> bool {
    let shown = form.text("payer");
    match principal {
        _ if !form.has("payer") => false,
        Some(principal) if shown.is_empty() => !principal.is_guest_account(),
        Some(principal) => shown != principal.user.to_string(),
        None => !shown.is_empty(),
    }
}

/// Why a request without a principal is refused, if it is. A suspended user reads public pages as a reader without a
/// session, so that another user can log in. A suspended user makes no request, as with a new guest account.
fn refused_without_principal(route: &PageRoute, owner: Owner) -> Option<PageFailure> {
    let is_own = matches!(route.access, PageAccess::User(_));
    match owner {
        Owner::Nobody => is_own.then_some(PageFailure::Login),
        Owner::Suspended => {
            let is_request = route.changes() && route.class == Class::Requests;
            (is_own || is_request).then_some(PageFailure::Suspended)
        }
        Owner::Principal(_) => None,
    }
}

/// Whether a request counts for the client's network although it has a principal. Forms without a login do, because guest
/// accounts cost nothing.
fn counts_for_network(route: &PageRoute) -> bool {
    route.changes() && route.access == PageAccess::Anyone && route.class != Class::Requests
}

fn language_of(headers: &HeaderMap) -> Language {
    Language::of_header(headers.get(header::ACCEPT_LANGUAGE).and_then(|header| header.to_str().ok()))
}
