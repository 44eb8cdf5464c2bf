//! The crates on which the domain must not depend, even transitively.

/// Each crate's name, where a final `*` matches any suffix, and what it would bring into the domain.
const BANNED_IN_DOMAIN: &[(&str, &str)] = &[
    ("actix*", "a web framework"),
    ("async-std", "an async runtime"),
    ("axum*", "a web framework"),
    ("config", "configuration"),
    ("deadpool*", "a connection pool"),
    ("diesel*", "SQL"),
    ("http", "HTTP"),
    ("hyper*", "HTTP"),
    ("libsqlite3-sys", "SQL"),
    ("mio", "sockets"),
    ("mysql*", "SQL"),
    ("postgres*", "SQL"),
    ("pq-sys", "SQL"),
    ("redis", "a store"),
    ("reqwest", "HTTP"),
    ("rocket*", "a web framework"),
    ("rusqlite", "SQL"),
    ("sea-orm*", "SQL"),
    ("serde_json", "JSON"),
    ("simd-json", "JSON"),
    ("smol", "an async runtime"),
    ("sonic-rs", "JSON"),
    ("sqlx*", "SQL"),
    ("tokio*", "an async runtime"),
    ("tower*", "a web framework"),
    ("ureq", "HTTP"),
    ("utoipa*", "the HTTP contract"),
    ("warp", "a web framework"),
];

/// Checks the output of `cargo tree --prefix none` for the domain crate.
pub(super) fn check_domain(tree: &str) -> Vec<String> {
    let mut names: Vec<&str> = tree.lines().filter_map(|line| line.split_whitespace().next()).collect();
    names.sort_unstable();
    names.dedup();
    let complain = |name: &str| {
        let (_, brings) = BANNED_IN_DOMAIN.iter().find(|(banned, _)| matches(banned, name))?;
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
    use super::*;

    fn check(tree: &str, expected: &[&str]) {
        let complaints = check_domain(tree);
        assert_eq!(complaints.len(), expected.len(), "{complaints:?}");
        for (complaint, name) in complaints.iter().zip(expected) {
            assert!(complaint.contains(&format!("on {name},")), "{complaint}");
        }
    }

    #[test]
    fn pure_crates_are_accepted() {
        check("cuepoint-domain v0.1.0 (/x)\ntime v0.3.55\nurl v2.5.8 (*)\n", &[]);
    }

    #[test]
    fn forbidden_crates_are_reported_once() {
        check("time v0.3.55\ntokio v1.54.0\ntokio v1.54.0 (*)\n", &["tokio"]);
        check(
            "actix-web v4\ndiesel_migrations v2\nserde_json v1\n",
            &["actix-web", "diesel_migrations", "serde_json"],
        );
    }

    #[test]
    fn a_pattern_without_a_star_matches_only_a_whole_name() {
        check("httparse v1\nserde_json_lookalike v1\nsmallvec v1\n", &[]);
    }
}
