//! Every operation under the base address, with a valid body.

use std::sync::LazyLock;

use cuepoint_api::declaration::Declaration;
use cuepoint_api::endpoint::Body;
use cuepoint_api::operations;
use serde_json::{Value, json};

/// The base address of the API.
const BASE: &str = "/api/v1";

/// A well-formed code that no DJ has.
pub(crate) const UNKNOWN_CODE: &str = "K7TW3M";

/// The methods of routes.
const METHODS: [&str; 5] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/// A route of the contract.
pub(crate) struct Route {
    pub(crate) method: &'static str,
    /// Its path; `{id}` stands for an id, `{code}` for the code of a gig.
    pub(crate) path: &'static str,
    /// Whether it requires a token.
    pub(crate) private: bool,
    /// Whether it requires a provider's signature.
    pub(crate) signed: bool,
    /// Whether it requires a body.
    wants_body: bool,
    /// The schema of its body, if it has one.
    schema: Option<Value>,
}

impl Route {
    fn of(operation: &Declaration) -> Option<Self> {
        let path = operation.path.strip_prefix(BASE)?;
        let takes = operation.body.takes;
        let schema = operation.body.schema.filter(|_| takes != Body::None);
        let schema = schema.map(|schema| serde_json::to_value(schema.schema()).unwrap());
        Some(Self {
            method: METHODS.into_iter().find(|method| *method == operation.method.as_str())?,
            path,
            private: operation.run.action().is_some(),
            signed: operation.run.is_signed(),
            wants_body: takes == Body::Json,
            schema,
        })
    }

    /// Its path with this id.
    pub(crate) fn at(&self, id: impl std::fmt::Display) -> String {
        self.path.replace("{id}", &id.to_string()).replace("{code}", UNKNOWN_CODE)
    }

    /// Whether it is reserved for operators.
    pub(crate) fn is_operators(&self) -> bool {
        self.path.starts_with("/operator/")
    }

    /// Whether it requires a body.
    pub(crate) fn wants_body(&self) -> bool {
        self.wants_body
    }

    pub(crate) fn has_id(&self) -> bool {
        self.path.contains("{id}")
    }

    /// The schema of its body.
    pub(crate) fn schema(&self) -> Option<&Value> {
        self.schema.as_ref()
    }

    /// A valid body; names this DJ if the body names one.
    pub(crate) fn body(&self, dj: i64) -> Option<Value> {
        let mut body = self.schema()?.get("example").cloned().unwrap_or_else(|| json!({}));
        if body.get("dj_id").is_some() {
            body["dj_id"] = json!(dj);
        }
        // A wrong password, so that the user survives calls of every route.
        if (self.method, self.path) == ("DELETE", "/user") {
            body["password"] = json!("wrong horse");
        }
        Some(body)
    }
}

/// Every route under the base address.
pub(crate) static ROUTES: LazyLock<Vec<Route>> =
    LazyLock::new(|| operations::all().iter().filter_map(Route::of).collect());
