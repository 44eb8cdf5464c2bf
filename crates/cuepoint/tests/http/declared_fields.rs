//! Every declared field of an operation, against its own schema: other types and values outside its limits
//! are rejected.

use serde_json::{Map, Value, json};

use crate::harness::{Person, ROUTES, Route, Server, Store};

on_one_store!(every_declared_field_is_validated_against_its_schema);

/// Values outside the limits of a property.
fn outside(property: &Value) -> Vec<Value> {
    let mut values = vec![json!([]), json!({})];
    let of_type = property["type"].as_str().or(property["type"][0].as_str());
    match of_type {
        Some("string") => values.push(json!(5)),
        Some("number" | "integer" | "boolean") => values.push(json!("five")),
        // An enumeration.
        _ => values.push(json!("nonsense")),
    }
    if let Some(most) = property["maxLength"].as_u64() {
        values.push(json!("é".repeat(usize::try_from(most).unwrap() + 1)));
    }
    if let Some(least) = property["minLength"].as_u64() {
        values.push(json!("x".repeat(usize::try_from(least).unwrap() - 1)));
    }
    values.extend(property["maximum"].as_i64().map(|most| json!(most + 1)));
    values.extend(property["minimum"].as_i64().map(|least| json!(least - 1)));
    values.extend(property["exclusiveMinimum"].as_i64().map(|least| json!(least)));
    values
}

fn send(caller: &Person, route: &Route, body: Map<String, Value>, field: &str) {
    let call = caller.call(route.method, route.path);
    call.json(&Value::Object(body)).send().invalid(&[field]);
}

fn every_declared_field_is_validated_against_its_schema(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let dj = server.dj();
    let before = (dj.snapshot(), operator.snapshot());
    let mut tried = 0;
    // An object named by an id in the path is looked up first.
    for route in ROUTES.iter().filter(|route| route.wants_body() && !route.signed && !route.has_id()) {
        let caller = if route.is_operators() { &operator } else { &dj };
        let Some(Value::Object(body)) = route.body(dj.id) else { panic!("{} has no example", route.path) };
        let schema = route.schema().unwrap();
        for (field, property) in schema["properties"].as_object().unwrap() {
            for value in outside(property) {
                let mut body = body.clone();
                body.insert(field.clone(), value);
                send(caller, route, body, field);
                tried += 1;
            }
            if schema["required"].as_array().is_some_and(|required| required.contains(&json!(field))) {
                let mut body = body.clone();
                body.remove(field);
                send(caller, route, body, field);
            }
        }
    }
    assert!(tried > 100, "{tried}");
    assert_eq!((dj.snapshot(), operator.snapshot()), before);
}
