//! The routes of pages: path, method, who may read or post, rate limit and handler, written once.

use std::future::Future;
use std::pin::Pin;

use actix_web::http::Method;
use cuepoint_domain::authorization::{Action, Principal};
use cuepoint_transport::rate_limits::Class;

use crate::call::PageCall;
use crate::failure::PageFailure;
use crate::response::PageResponse;

/// The future of a handler, local to its worker thread.
pub type Shown = Pin<Box<dyn Future<Output = Result<PageResponse, PageFailure>>>>;

/// A handler.
type Handler = Box<dyn Fn(PageCall) -> Shown>;

/// Who may read a page or post a form.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PageAccess {
    /// Everybody. No cookie is read or set, so that a shared screen never becomes one guest.
    Public,
    /// Everybody, with a session or without.
    Anyone,
    /// Users with a role that allows this action. Others log in first.
    User(Action),
}

/// A route of a page.
pub struct PageRoute {
    /// Its method; a GET also answers HEAD.
    pub method: Method,
    /// Its path, with `{…}` in place of a parameter.
    pub path: &'static str,
    pub access: PageAccess,
    /// The rate limit of its requests, in addition to the class of the page itself for a GET.
    pub class: Class,
    /// Whether `?lang=` names the language.
    pub(crate) reads_language: bool,
    pub(crate) run: Handler,
}

impl PageRoute {
    fn new(method: Method, path: &'static str, access: PageAccess, class: Class, run: Handler) -> Self {
        Self { method, path, access, class, reads_language: false, run }
    }

    /// The route of a page whose language `?lang=` can name. A shared screen may run on a system in another language.
    pub(crate) fn with_language(self) -> Self {
        Self { reads_language: true, ..self }
    }

    /// Whether it changes something.
    #[must_use]
    pub fn changes(&self) -> bool {
        self.method == Method::POST
    }
}

/// A page that reads no cookie.
pub fn public<F, A>(path: &'static str, run: F) -> PageRoute
where
    F: Fn(PageCall) -> A + 'static,
    A: Future<Output = Result<PageResponse, PageFailure>> + 'static,
{
    PageRoute::new(Method::GET, path, PageAccess::Public, Class::Boards, handler(run))
}

/// A form that reads no cookie.
pub fn public_form<F, A>(path: &'static str, class: Class, run: F) -> PageRoute
where
    F: Fn(PageCall) -> A + 'static,
    A: Future<Output = Result<PageResponse, PageFailure>> + 'static,
{
    PageRoute::new(Method::POST, path, PageAccess::Public, class, handler(run))
}

/// A page for everybody.
pub fn page<F, A>(path: &'static str, run: F) -> PageRoute
where
    F: Fn(PageCall) -> A + 'static,
    A: Future<Output = Result<PageResponse, PageFailure>> + 'static,
{
    PageRoute::new(Method::GET, path, PageAccess::Anyone, Class::Pages, handler(run))
}

/// A form for everybody.
pub fn form<F, A>(path: &'static str, class: Class, run: F) -> PageRoute
where
    F: Fn(PageCall) -> A + 'static,
    A: Future<Output = Result<PageResponse, PageFailure>> + 'static,
{
    PageRoute::new(Method::POST, path, PageAccess::Anyone, class, handler(run))
}

/// A page for users with a role that allows this action.
pub fn own_page<F, A>(path: &'static str, action: Action, run: F) -> PageRoute
where
    F: Fn(PageCall, Principal) -> A + 'static,
    A: Future<Output = Result<PageResponse, PageFailure>> + 'static,
{
    PageRoute::new(Method::GET, path, PageAccess::User(action), Class::Pages, with_principal(run))
}

/// A form for users with a role that allows this action.
pub fn own_form<F, A>(path: &'static str, action: Action, class: Class, run: F) -> PageRoute
where
    F: Fn(PageCall, Principal) -> A + 'static,
    A: Future<Output = Result<PageResponse, PageFailure>> + 'static,
{
    PageRoute::new(Method::POST, path, PageAccess::User(action), class, with_principal(run))
}

fn handler<F, A>(run: F) -> Handler
where
    F: Fn(PageCall) -> A + 'static,
    A: Future<Output = Result<PageResponse, PageFailure>> + 'static,
{
    Box::new(move |call| Box::pin(run(call)))
}

fn with_principal<F, A>(run: F) -> Handler
where
    F: Fn(PageCall, Principal) -> A + 'static,
    A: Future<Output = Result<PageResponse, PageFailure>> + 'static,
{
    Box::new(move |call| match call.principal {
        Some(principal) => Box::pin(run(call, principal)),
        None => Box::pin(async { Err(PageFailure::Login) }),
    })
}
