//! The crates on which the domain must not depend, even transitively.

/// What crates would bring into the domain, and their names, in which a final `*` matches any suffix.
const BANNED_IN_DOMAIN: &[(&str, &str)] = &[
    ("a connection pool", "deadpool*"),
    ("a store", "redis"),
    ("a web framework", "actix* axum* rocket* tower* warp"),
    ("an async runtime", "async-std smol tokio*"),
    ("configuration", "config"),
    ("HTTP", "http hyper* reqwest ureq"),
    ("JSON", "serde_json simd-json sonic-rs"),
    ("sockets", "mio"),
    ("SQL", "diesel* libsqlite3-sys mysql* postgres* pq-sys rusqlite sea-orm* sqlx*"),
    ("the HTTP contract", "utoipa*"),
];

/// Checks the output of `cargo tree --prefix none` for the domain crate.
pub(super) fn check_domain(tree: &str) -> Vec<String> {
    let mut names: Vec<&str> = tree.lines().filter_map(|line| line.split_whitespace().next()).collect();
    names.sort_unstable();
    names.dedup();
    let complain = |name: &str| {
        let is_banned = |banned: &str| banned.split(' ').any(|pattern| matches(pattern, name));
        let (brings, _) = BANNED_IN_DOMAIN.iter().find(|(_, banned)| is_banned(banned))?;
        Some(format!(
            "crates/domain: it depends on {name}, which brings {brings}; it belongs in a store or in the server"
        ))
    };
    names.into_iter().filter_map(complain).collect()
}

fn matches(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => name == pattern,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::assert_complaints;
    use super::*;

    #[test]
    fn forbidden_crates_are_reported_once() {
        let check = |tree: &str, names: &[&str]| assert_complaints(&check_domain(tree), names);
        check("cuepoint-domain v0.1.0 (/x)\ntime v0.3.55\nurl v2.5.8 (*)\n", &[]);
        check("time v0.3.55\ntokio v1.54.0\ntokio v1.54.0 (*)\n", &["on tokio,"]);
        let several = ["on actix-web,", "on diesel_migrations,", "on serde_json,"];
        check("actix-web v4\ndiesel_migrations v2\nserde_json v1\n", &several);
        // A pattern without a star matches only a whole name.
        check("httparse v1\nserde_json_lookalike v1\nsmallvec v1\n", &[]);
    }
}
