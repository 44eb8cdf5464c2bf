//! The checks of a database, while servers may use it.

use cuepoint_domain::money::Currency;
use cuepoint_domain::operation::feature_level::FeatureLevel;
use cuepoint_domain::ports::{CLOCK_TOLERANCE, Diagnosis};
use cuepoint_domain::timestamp::Timestamp;
use diesel::prelude::*;
use diesel::sql_types::{Bool, Integer, Text};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use time::Duration;

use crate::connect::connection::Connector;
use crate::connect::deployment::{ensure_own_cluster, mark_of};
use crate::connect::migrations;
use crate::connect::node::Node;
use crate::schema::deployment;

/// The checks.
const DATABASE: &str = "storage.database";
const SCHEMA: &str = "storage.schema";
const VERSION: &str = "storage.version";
const DURABILITY: &str = "storage.durability";
const STANDBY: &str = "storage.standby";
const ROLE: &str = "storage.role";
const LEVEL: &str = "storage.feature_level";
const CLOCK: &str = "clock";

/// The first supported version.
const OLDEST: i32 = 150_000;
/// The difference of clocks from which it approaches the tolerated one.
const SKEW_WARNING: Duration = Duration::seconds(1);

const SETTINGS: &str = "SELECT \
    current_setting('server_version') AS version, \
    current_setting('server_version_num')::integer AS version_number, \
    current_setting('fsync') AS fsync, \
    current_setting('full_page_writes') AS full_page_writes, \
    current_setting('synchronous_commit') AS synchronous_commit, \
    current_setting('synchronous_standby_names') AS standbys, \
    current_user::text AS role, \
    (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) AS is_superuser";

/// The settings of a node that decide whether commits are kept, and the role of the connection.
#[derive(QueryableByName)]
struct NodeSettings {
    #[diesel(sql_type = Text)]
    version: String,
    #[diesel(sql_type = Integer)]
    version_number: i32,
    #[diesel(sql_type = Text)]
    fsync: String,
    #[diesel(sql_type = Text)]
    full_page_writes: String,
    #[diesel(sql_type = Text)]
    synchronous_commit: String,
    /// The value of `synchronous_standby_names`.
    #[diesel(sql_type = Text)]
    standbys: String,
    #[diesel(sql_type = Text)]
    role: String,
    #[diesel(sql_type = Bool)]
    is_superuser: bool,
}

/// Checks the database at a URL. No result repeats the URL.
pub(crate) async fn diagnose(url: &str, currency: &Currency, now: Timestamp) -> Vec<Diagnosis> {
    let connector = match Connector::new(url) {
        Ok(connector) => connector.named("cuepoint doctor"),
        Err(error) => return vec![unusable(&error)],
    };
    let mut found = Vec::new();
    let mut connection = match connector.connect().await {
        Ok(connection) => connection,
        Err(error) => return vec![unusable(&error.into())],
    };
    found.push(Diagnosis::ok(DATABASE, "connected, and accepts writes"));
    match Node::describe(&connection).await {
        Ok(node) => found.push(of_clock(Timestamp::from_unix_micros(node.clock_micros), now)),
        Err(failure) => found.push(unusable(&failure.into())),
    }
    match diesel::sql_query(SETTINGS).get_result::<NodeSettings>(&mut connection).await {
        Ok(settings) => found.extend(of_settings(&settings)),
        Err(error) => found.push(unusable(&error.into())),
    }
    found.extend(of_data(&connector, &mut connection, currency).await);
    found
}

fn unusable(error: &anyhow::Error) -> Diagnosis {
    let remedy = "check storage.postgres.url, the server, and the way to it";
    Diagnosis::fail(DATABASE, format!("{error:#}"), remedy)
}

/// Compares the clock of the node with that of this machine, which was read just before.
fn of_clock(node: Timestamp, now: Timestamp) -> Diagnosis {
    let difference = now.since(node);
    let found = match difference.is_negative() {
        true => format!("{:.1} s behind the database", difference.abs().as_seconds_f64()),
        false => format!("{:.1} s ahead of the database", difference.as_seconds_f64()),
    };
    let remedy = "synchronize the clocks of both machines, for example with chrony";
    match difference.abs() {
        apart if apart > CLOCK_TOLERANCE => Diagnosis::fail(CLOCK, found, remedy),
        apart if apart > SKEW_WARNING => Diagnosis::warn(CLOCK, found, remedy),
        _ => Diagnosis::ok(CLOCK, found),
    }
}

fn of_settings(settings: &NodeSettings) -> Vec<Diagnosis> {
    vec![
        if settings.version_number < OLDEST {
            let remedy = "upgrade PostgreSQL to version 15 or newer";
            Diagnosis::fail(VERSION, format!("PostgreSQL {}", settings.version), remedy)
        } else {
            Diagnosis::ok(VERSION, format!("PostgreSQL {}", settings.version))
        },
        of_durability(settings),
        if settings.standbys.is_empty() || settings.synchronous_commit == "local" {
            let found = "no commit waits for a standby";
            Diagnosis::warn(
                STANDBY,
                found,
                "set synchronous_standby_names; otherwise a lost disk loses commits",
            )
        } else {
            Diagnosis::ok(STANDBY, format!("commits wait for {}", settings.standbys))
        },
        if settings.is_superuser {
            let found = format!("{} is a superuser, who can change entries of the ledger", settings.role);
            Diagnosis::warn(ROLE, found, "connect as a role with the privileges in docs/guide/postgresql.md")
        } else {
            Diagnosis::ok(ROLE, settings.role.clone())
        },
    ]
}

fn of_durability(settings: &NodeSettings) -> Diagnosis {
    let values = [
        ("fsync", &settings.fsync),
        ("full_page_writes", &settings.full_page_writes),
        ("synchronous_commit", &settings.synchronous_commit),
    ];
    let off: Vec<&str> = values.iter().filter(|(_, value)| *value == "off").map(|(name, _)| *name).collect();
    if off.is_empty() {
        return Diagnosis::ok(DURABILITY, "commits survive a power failure");
    }
    let names = off.join(", ");
    Diagnosis::fail(
        DURABILITY,
        format!("off: {names}"),
        format!("set {names} = on; otherwise a crash loses commits"),
    )
}

/// Checks that this version can use the data.
async fn of_data(
    connector: &Connector,
    connection: &mut AsyncPgConnection,
    currency: &Currency,
) -> Vec<Diagnosis> {
    let refused =
        |error: anyhow::Error, remedy: &str| vec![Diagnosis::fail(SCHEMA, format!("{error:#}"), remedy)];
    if let Err(error) = migrations::ensure_migrated(connector).await {
        return refused(error, "install the version that the database has, or run `cuepoint migrate`");
    }
    if let Err(error) = migrations::ensure_currency(connection, currency).await {
        return refused(error, "set wallet.currency and wallet.scale to those of the database");
    }
    if let Err(error) = ensure_own_cluster(connection).await {
        return refused(error, "run `cuepoint restore --database-name NAME` after moving or restoring data");
    }
    match mark_of(connection).await {
        Ok(None) => {}
        Ok(Some(mark)) => {
            let found = mark.refusal();
            return vec![Diagnosis::fail(
                SCHEMA,
                found,
                "use the store that has the data, or finish the copy",
            )];
        }
        Err(error) => return refused(error, "restore the database"),
    }
    let level: QueryResult<Option<i16>> =
        deployment::table.select(deployment::feature_level).get_result(connection).await.optional();
    match level {
        Ok(level) => vec![Diagnosis::ok(SCHEMA, "every migration of this version"), of_level(level)],
        Err(error) => refused(error.into(), "restore the database"),
    }
}

/// Checks that the upgrade to this version is finalized; a database that no server has used begins at its level.
fn of_level(level: Option<i16>) -> Diagnosis {
    let newest = FeatureLevel::NEWEST.number();
    match level {
        Some(level) if level < newest => Diagnosis::warn(
            LEVEL,
            format!("{level}, while this version has {newest}: the upgrade is not finalized"),
            "run `cuepoint finalize-upgrade` once all servers of the earlier version have stopped",
        ),
        Some(level) if level > newest => Diagnosis::fail(
            LEVEL,
            format!("{level}, while this version only knows {newest}"),
            "install the later version, to which the upgrade was finalized",
        ),
        _ => Diagnosis::ok(LEVEL, newest.to_string()),
    }
}
