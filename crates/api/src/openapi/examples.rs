//! Example failures of an operation, with a field and states of its own.

use actix_web::http::Method;
use cuepoint_domain::application::{TokenRequestRefusal, WebhookRefusal};
use cuepoint_domain::music_request::RequestStatus;
use cuepoint_domain::topup::TopupStatus;
use cuepoint_domain::withdrawal::WithdrawalStatus;
use serde_json::{Map, Value, json};
use utoipa::openapi::schema::{SchemaType, Type};
use utoipa::openapi::{RefOr, Schema};

use crate::declaration::Declaration;
use crate::wire::error::{ApiError, Code};
use crate::wire::validation_texts::{self, FieldProblem};

/// The failure with this code.
pub(super) fn failure(code: Code, declaration: &Declaration) -> Value {
    let path = declaration.path;
    let mut keys = Map::new();
    keys.insert("status".to_owned(), json!("error"));
    keys.insert("code".to_owned(), json!(code.name()));
    keys.insert("message".to_owned(), json!(code.message()));
    let money = if path.ends_with("/music/requests") { "fee" } else { "amount" };
    let wrong = match code {
        Code::ValidationFailed => wrong_field(declaration),
        Code::InsufficientFunds => Some((money.to_owned(), validation_texts::funds(money))),
        Code::LimitExceeded if path.ends_with("/music/requests") => {
            Some(("dj_id".to_owned(), validation_texts::too_many_open(3)))
        }
        Code::LimitExceeded if path.ends_with("/withdrawal/crypto") => {
            Some((money.to_owned(), validation_texts::at_most(money, "1000.00")))
        }
        _ => None,
    };
    if code == Code::LimitExceeded && wrong.is_none() {
        let message = if path.ends_with("/webhook-endpoints") {
            ApiError::from(WebhookRefusal::TooMany).message
        } else if path.ends_with("/auth/tokens") {
            ApiError::from(TokenRequestRefusal::TooMany).message
        } else {
            ApiError::BALANCE_TOO_LARGE.into()
        };
        keys.insert("message".to_owned(), json!(message));
    }
    match (code, wrong) {
        (Code::ValidationFailed, None) => {
            keys.insert("message".to_owned(), json!("The body must be a JSON object."));
        }
        (_, Some((field, FieldProblem { sentence, rule, limit }))) => {
            keys.insert("message".to_owned(), json!(sentence));
            let detail = json!({ "field": field, "rule": rule.name(), "limit": json!(limit) });
            keys.insert("errors".to_owned(), json!({ field: [sentence] }));
            keys.insert("details".to_owned(), json!([detail]));
        }
        (Code::InvalidTransition, None) => {
            let (current, allowed) = transition(path);
            keys.insert("current".to_owned(), json!(current));
            keys.insert("allowed".to_owned(), json!(allowed));
        }
        (Code::GigOpen, None) => {
            keys.insert("gig".to_owned(), json!(5));
        }
        (Code::WalletOwes, None) => {
            keys.insert("owed".to_owned(), json!(12.5));
        }
        (_, None) => {}
    }
    keys.insert("request_id".to_owned(), json!("0192f7c1-8a3b-7c4d-9e5f-60718293a4b5"));
    Value::Object(keys)
}

/// A field or parameter of the operation and its problem; `None` without fields.
fn wrong_field(declaration: &Declaration) -> Option<(String, FieldProblem)> {
    let Some(body) = declaration.body.schema else {
        if declaration.method != Method::GET {
            return Some(("id".to_owned(), validation_texts::selected("id")));
        }
        let mut filters = declaration.filters.iter().map(|filter| filter.name);
        let filter = filters.find(|name| matches!(*name, "status" | "online" | "kind"));
        let Some(filter) = filter else {
            return Some(("sort".to_owned(), validation_texts::unknown_parameter("sort")));
        };
        let problem = if filter == "online" {
            validation_texts::flag(filter)
        } else {
            validation_texts::selected(filter)
        };
        return Some((filter.to_owned(), problem));
    };
    let RefOr::T(Schema::Object(body)) = body.schema() else { return None };
    if let Some(field) = body.required.first() {
        return Some((field.clone(), validation_texts::required(field)));
    }
    let (field, property) = body.properties.iter().next()?;
    let wrong = if is_whole_number(property) { validation_texts::integer } else { validation_texts::string };
    Some((field.clone(), wrong(field)))
}

/// Whether a property is an integer, or an integer or null.
fn is_whole_number(property: &RefOr<Schema>) -> bool {
    let RefOr::T(Schema::Object(property)) = property else { return false };
    match &property.schema_type {
        SchemaType::Type(one) => *one == Type::Integer,
        SchemaType::Array(several) => several.contains(&Type::Integer),
        SchemaType::AnyValue => false,
    }
}

/// The current status of the object and the statuses that the caller can set.
fn transition(path: &str) -> (&'static str, Vec<&'static str>) {
    if path.contains("/operator/withdrawals/") {
        use WithdrawalStatus::{Approved, Processing, Rejected};
        return (Approved.name(), vec![Processing.name(), Rejected.name()]);
    }
    if path.contains("/withdrawals/") {
        return (WithdrawalStatus::Processing.name(), Vec::new());
    }
    if path.contains("/topups/") {
        return (TopupStatus::Pending.name(), Vec::new());
    }
    // The caller of an operation on a request can set no other status where this one is refused.
    (RequestStatus::Rejected.name(), Vec::new())
}
