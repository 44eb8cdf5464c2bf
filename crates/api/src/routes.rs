//! The router: every declared operation, by path and method.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use actix_web::guard::{self, Guard};
use actix_web::http::Method;
use actix_web::web::ServiceConfig;
use actix_web::{HttpMessage as _, HttpRequest, HttpResponse, Resource, Scope, web};

use crate::declaration::Declaration;
use crate::endpoint::Exposure;
use crate::operations;
use crate::pipeline;
use crate::state::ApiState;
use crate::wire::envelope;
use crate::wire::error::{ApiError, Code};
use cuepoint_adapters::networks::Networks;
use cuepoint_transport::client_address::ClientAddress;
use cuepoint_transport::observe::{self, request_id};
use cuepoint_transport::rate_limits::Admitted;

/// Registers all operations with the web server; other methods of a path are answered with its allowed
/// methods.
///
/// Paths are tried in turn: first the literal ones, then those with parameters, whose patterns cost more and
/// are therefore tried only below their literal prefix.
pub fn configure(api: &Arc<ApiState>, config: &mut ServiceConfig) {
    let mut paths: BTreeMap<&'static str, Vec<Rc<Declaration>>> = BTreeMap::new();
    for operation in operations::all().into_iter().chain([operations::docs::files()]) {
        let operation = Rc::new(operation);
        for path in operation.aliases.iter().copied().chain([operation.path]) {
            paths.entry(path).or_default().push(Rc::clone(&operation));
        }
    }
    let mut varying: BTreeMap<&'static str, Scope> = BTreeMap::new();
    for (path, operations) in paths {
        match path.find("/{").map(|end| path.split_at(end)) {
            None => drop(config.service(resource(api, path, &operations))),
            Some((beginning, rest)) => {
                let scope = varying.remove(beginning).unwrap_or_else(|| web::scope(beginning));
                varying.insert(beginning, scope.service(resource(api, rest, &operations)));
            }
        }
    }
    for scope in varying.into_values() {
        config.service(scope);
    }
}

fn resource(api: &Arc<ApiState>, path: &'static str, operations: &[Rc<Declaration>]) -> Resource {
    let allow = allowed(operations);
    let address = operations.first().map_or(path, |operation| operation.path);
    let refuse = move |request: HttpRequest| {
        observe::matched(&request, address);
        let error = ApiError::method_not_allowed(allow.clone());
        async move { error.respond(&request_id(&request)) }
    };
    let empty = web::resource(path).default_service(web::to(refuse));
    // A guard, so that the router finds nothing for clients elsewhere, regardless of the method.
    let empty = match operations.first().map_or(Exposure::Everywhere, |operation| operation.exposure) {
        Exposure::Everywhere => empty,
        Exposure::Metrics => empty.guard(within(api.settings.reachable.metrics.clone())),
        Exposure::Operators => empty.guard(within(api.settings.reachable.operators.clone())),
    };
    operations.iter().fold(empty, |resource, operation| {
        let (api, served) = (Arc::clone(api), Rc::clone(operation));
        let serve = move |request: HttpRequest, payload: web::Payload| {
            let (api, operation) = (Arc::clone(&api), Rc::clone(&served));
            async move { serve(&operation, &api, request, payload).await }
        };
        let guard = if operation.method == Method::GET {
            web::route().guard(guard::Any(guard::Get()).or(guard::Head()))
        } else {
            web::method(operation.method.clone())
        };
        resource.route(guard.to(serve))
    })
}

/// A guard that admits clients in these networks.
fn within(networks: Networks) -> impl Guard {
    guard::fn_guard(move |context| {
        let client = context.req_data().get::<ClientAddress>().copied();
        client.is_some_and(|client| networks.admit(client))
    })
}

async fn serve(
    operation: &Declaration,
    api: &Arc<ApiState>,
    request: HttpRequest,
    payload: web::Payload,
) -> HttpResponse {
    observe::matched(&request, operation.path);
    let answered = pipeline::answer(operation, api, &request, payload).await;
    let admitted = request.extensions().get::<Admitted>().copied();
    let mut response = answered.unwrap_or_else(|error| error.respond(&request_id(&request)));
    if let Some(admitted) = admitted {
        envelope::show(admitted.status, response.headers_mut());
    }
    response
}

/// The methods of a resource, as listed in `Allow`.
fn allowed(operations: &[Rc<Declaration>]) -> String {
    let mut methods: Vec<&str> = operations.iter().map(|operation| operation.method.as_str()).collect();
    if methods.contains(&"GET") {
        methods.push("HEAD");
    }
    methods.sort_unstable();
    methods.join(", ")
}

/// Whether the route of this path shows documentation, which runs scripts.
#[must_use]
pub fn is_documentation(path: &str) -> bool {
    path == "/openapi.json" || path.starts_with("/docs")
}

/// The answer to an unknown route.
pub async fn not_found(request: HttpRequest) -> HttpResponse {
    ApiError::from(Code::NotFound).respond(&request_id(&request))
}
