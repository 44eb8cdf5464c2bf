//! SQL with placeholders for what each database writes in its own way.
//!
//! | placeholder | value |
//! |---|---|
//! | `{now}` | the current time |
//! | `{time 5}` | the time 5 µs after the start of 1970 |
//! | `{interval 1 day}` | a duration to be added to a time, in days, seconds or microseconds |
//! | `{money 12.50}` | an amount |
//! | `{id 1}`, `{new id}` | the id of an operation with this number; a random one |
//! | `{bytes 00ff}`, `{zero}`, `{link}` | bytes; the hash of nothing; another hash |
//! | `{repeat é 3}` | a literal of repeated characters |
//! | `{read a.b}` | the text at a path of the column `receipt` |
//! | `{with a.b 5}` | the receipt with this JSON value at a path |
//! | `{without a.b c}` | the receipt without the values at these paths |
//! | `{as json}` | after a text: the cast to a document |

/// A value that each database writes in its own way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Value<'a> {
    /// The current time.
    Now,
    /// A time, in microseconds since the start of 1970.
    Time(i64),
    /// A duration in microseconds.
    Interval(i64),
    /// An amount, in the currency's major unit.
    Money(&'a str),
    /// The id of an operation.
    Id(u128),
    /// A random id of an operation.
    NewId,
    /// Bytes, in hexadecimal digits.
    Bytes(&'a str),
    /// The text at a path, separated by dots, of the column `receipt`.
    Read(&'a str),
    /// The column `receipt` with a JSON value at a path.
    With(&'a str, &'a str),
    /// The column `receipt` without the values at these paths, separated by spaces.
    Without(&'a str),
    /// The cast of a text to a document.
    AsJson,
}

/// How a database writes values.
pub type Dialect = fn(Value<'_>) -> String;

/// Writes a statement for a database. A brace before anything but a lower-case letter is no placeholder, so that JSON
/// needs no escapes.
///
/// # Panics
/// When a placeholder is unknown.
#[must_use]
pub fn written(template: &str, dialect: Dialect) -> String {
    let mut sql = String::with_capacity(template.len());
    let mut parts = template.split('{');
    sql.push_str(parts.next().unwrap_or_default());
    for part in parts {
        match part.split_once('}') {
            Some((placeholder, rest)) if part.starts_with(|c: char| c.is_ascii_lowercase()) => {
                sql.push_str(&value(placeholder, dialect));
                sql.push_str(rest);
            }
            _ => {
                sql.push('{');
                sql.push_str(part);
            }
        }
    }
    sql
}

/// The value of one placeholder.
fn value(placeholder: &str, dialect: Dialect) -> String {
    let (name, argument) = placeholder.split_once(' ').unwrap_or((placeholder, ""));
    let parts = || argument.split_once(' ').unwrap_or_else(|| panic!("{{{placeholder}}} has one argument"));
    match (name, argument) {
        ("now", "") => dialect(Value::Now),
        ("time", micros) => dialect(Value::Time(micros.parse().unwrap())),
        ("interval", _) => dialect(Value::Interval(micros(parts()))),
        ("money", amount) => dialect(Value::Money(amount)),
        ("id", number) => dialect(Value::Id(number.parse().unwrap())),
        ("new", "id") => dialect(Value::NewId),
        ("bytes", digits) => dialect(Value::Bytes(digits)),
        ("zero", "") => dialect(Value::Bytes(&"00".repeat(32))),
        ("link", "") => dialect(Value::Bytes(&"11".repeat(32))),
        ("repeat", _) => {
            let (text, times) = parts();
            format!("'{}'", text.repeat(times.parse().unwrap()))
        }
        ("read", path) => dialect(Value::Read(path)),
        ("with", _) => {
            let (path, value) = parts();
            dialect(Value::With(path, value))
        }
        ("without", paths) => dialect(Value::Without(paths)),
        ("as", "json") => dialect(Value::AsJson),
        _ => panic!("{{{placeholder}}} is no placeholder"),
    }
}

/// The microseconds of a number of units.
fn micros((number, unit): (&str, &str)) -> i64 {
    let micros = match unit {
        "day" => 86_400_000_000,
        "second" => 1_000_000,
        "microsecond" => 1,
        other => panic!("{other} is no unit of intervals"),
    };
    number.parse::<i64>().unwrap() * micros
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_replaced_by_the_dialect() {
        let dialect: Dialect = |value| format!("<{value:?}>");
        for (template, sql) in [
            ("SELECT {now}, '{}', '{\"a\":{\"b\":1}}'", "SELECT <Now>, '{}', '{\"a\":{\"b\":1}}'"),
            ("{time -5} + {interval 2 day}", "<Time(-5)> + <Interval(172800000000)>"),
            ("{money -12.50}{id 2}{new id}", "<Money(\"-12.50\")><Id(2)><NewId>"),
            ("{bytes}{bytes 0a}{repeat é 3}", "<Bytes(\"\")><Bytes(\"0a\")>'ééé'"),
            ("{read a.b} = '4'", "<Read(\"a.b\")> = '4'"),
            ("{with a.b \"x y\"}{without a b.c}", "<With(\"a.b\", \"\\\"x y\\\"\")><Without(\"a b.c\")>"),
            ("'x'{as json}", "'x'<AsJson>"),
        ] {
            assert_eq!(written(template, dialect), sql);
        }
    }
}
