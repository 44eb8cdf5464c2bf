//! The router: every declared operation, by path and method.

use std::rc::Rc;
use std::sync::Arc;

use actix_web::http::Method;
use actix_web::{HttpMessage as _, HttpRequest, HttpResponse, web};

use crate::declaration::Declaration;
use crate::endpoint::Exposure;
use crate::operations;
use crate::pipeline;
use crate::state::{ApiState, Reachable};
use crate::wire::envelope;
use crate::wire::error::{ApiError, Code};
use cuepoint_transport::client_address::client_address;
use cuepoint_transport::observe::{self, request_id};
use cuepoint_transport::path_tree::PathTree;
use cuepoint_transport::rate_limits::Admitted;

/// The API of a worker.
pub struct Api {
    state: Arc<ApiState>,
    resources: PathTree<Resource>,
}

impl Api {
    /// The API with this state.
    #[must_use]
    pub fn new(state: Arc<ApiState>) -> Self {
        Self { state, resources: resources() }
    }

    /// Whether the API answers a request that no page answers: below `/api/`, and at other paths that it has for the client.
    #[must_use]
    pub fn serves(&self, request: &HttpRequest) -> bool {
        request.match_info().as_str().starts_with("/api/")
            || reachable(&self.resources, &self.state, request).is_some()
    }

    /// Answers a request by the operation of its path and method.
    pub async fn answer(&self, request: HttpRequest, payload: web::Payload) -> HttpResponse {
        serve(&self.resources, &self.state, request, payload).await
    }
}

/// The operations of a path.
struct Resource {
    /// Their documented path.
    address: &'static str,
    /// The path itself, which is not the documented one if it is an alias.
    declared: &'static str,
    exposure: Exposure,
    operations: Vec<Rc<Declaration>>,
}

fn resources() -> PathTree<Resource> {
    let mut resources = PathTree::default();
    for operation in operations::all().into_iter().chain([operations::docs::files()]) {
        let operation = Rc::new(operation);
        for path in operation.aliases.iter().copied().chain([operation.path]) {
            let Declaration { path: address, exposure, .. } = *operation;
            let resource = resources.at(path);
            let resource = resource.get_or_insert_with(|| Resource {
                address,
                declared: path,
                exposure,
                operations: Vec::new(),
            });
            resource.operations.push(Rc::clone(&operation));
        }
    }
    resources
}

impl Resource {
    /// Whether the client is in the networks that it is exposed to.
    fn is_reachable(&self, api: &ApiState, request: &HttpRequest) -> bool {
        let Reachable { metrics, operators } = &api.settings.reachable;
        let networks = match self.exposure {
            Exposure::Everywhere => return true,
            Exposure::Metrics => metrics,
            Exposure::Operators => operators,
        };
        networks.admit(client_address(request))
    }

    /// The operation of this method.
    fn operation(&self, method: &Method) -> Option<&Declaration> {
        let method = if method == Method::HEAD { &Method::GET } else { method };
        self.operations.iter().map(Rc::as_ref).find(|operation| operation.method == *method)
    }

    /// Its methods, as listed in `Allow`.
    fn allowed(&self) -> String {
        let mut methods: Vec<&str> =
            self.operations.iter().map(|operation| operation.method.as_str()).collect();
        if methods.contains(&"GET") {
            methods.push("HEAD");
        }
        methods.sort_unstable();
        methods.join(", ")
    }
}

async fn serve(
    resources: &PathTree<Resource>,
    api: &Arc<ApiState>,
    request: HttpRequest,
    payload: web::Payload,
) -> HttpResponse {
    let answered = match find(resources, api, &request) {
        Ok((operation, id)) => pipeline::answer(operation, api, &request, id, payload).await,
        Err(error) => Err(error),
    };
    let admitted = request.extensions().get::<Admitted>().copied();
    let mut response = answered.unwrap_or_else(|error| error.respond(&request_id(&request)));
    if let Some(admitted) = admitted {
        envelope::show(admitted.status, response.headers_mut());
    }
    response
}

/// The operations of a request's path, and the id in it. Nothing is found for clients that the path is not exposed to.
fn reachable<'r>(
    resources: &'r PathTree<Resource>,
    api: &ApiState,
    request: &'r HttpRequest,
) -> Option<(&'r Resource, Option<&'r str>)> {
    let found = resources.find(request.match_info().as_str());
    found.filter(|(resource, _)| resource.is_reachable(api, request))
}

/// The operation of a request, and the id in its path.
fn find<'r>(
    resources: &'r PathTree<Resource>,
    api: &ApiState,
    request: &'r HttpRequest,
) -> Result<(&'r Declaration, Option<&'r str>), ApiError> {
    let Some((resource, id)) = reachable(resources, api, request) else {
        observe::unmatched(request);
        return Err(Code::NotFound.into());
    };
    observe::matched(request, resource.address, resource.declared);
    let operation = resource.operation(request.method());
    Ok((operation.ok_or_else(|| ApiError::method_not_allowed(resource.allowed()))?, id))
}

/// Whether the route of this path shows documentation, which runs scripts.
#[must_use]
pub fn is_documentation(path: &str) -> bool {
    path == "/openapi.json" || path.starts_with("/docs")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_declared_path_leads_to_its_operation() {
        let resources = resources();
        for operation in operations::all() {
            for declared in operation.aliases.iter().chain([&operation.path]) {
                assert!(declared.matches('{').count() <= 1, "{declared}: a router finds one parameter");
                for id in ["1", "0017", "+5", "x", "%2F", "{id}"] {
                    let path = declared.replace("{id}", id).replace("{code}", id);
                    let (resource, found) = resources.find(&path).unwrap();
                    let by_method = resource.operation(&operation.method).map(|found| found.id);
                    assert_eq!((resource.address, by_method), (operation.path, Some(operation.id)));
                    assert_eq!(resource.exposure, operation.exposure);
                    assert_eq!(found, declared.contains('{').then_some(id), "{path}");
                }
            }
        }
    }
}
