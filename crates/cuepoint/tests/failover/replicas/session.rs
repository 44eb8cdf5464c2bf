//! A connection of the test's own to one node.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;
use tokio_postgres::{Client, Config, NoTls, SimpleQueryMessage};

/// The longest that a statement of a test may take.
const LIMIT: Duration = Duration::from_secs(60);

/// An open connection.
pub(crate) struct Session {
    runtime: Runtime,
    client: Client,
}

impl Session {
    /// Connects as superuser to the maintenance database; `None` where the node does not take connections.
    pub(crate) fn open(address: SocketAddr) -> Option<Self> {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let client = runtime.block_on(async {
            let mut config = Config::new();
            config.host(address.ip().to_string()).port(address.port()).user("postgres").dbname("postgres");
            config.application_name("failover test").connect_timeout(Duration::from_secs(2));
            let (client, connection) = config.connect(NoTls).await.ok()?;
            // Its end is seen by the statements.
            tokio::spawn(connection);
            Some(client)
        })?;
        Some(Self { runtime, client })
    }

    /// The rows of a statement, each column as text.
    pub(crate) fn rows(&self, statement: &str) -> Vec<Vec<Option<String>>> {
        let asking = async { timeout(LIMIT, self.client.simple_query(statement)).await };
        let messages = self.runtime.block_on(asking).expect(statement).expect(statement);
        let row = |message| match message {
            SimpleQueryMessage::Row(row) => {
                Some((0..row.len()).map(|column| row.get(column).map(str::to_owned)).collect())
            }
            _ => None,
        };
        messages.into_iter().filter_map(row).collect()
    }

    /// The first column of the first row, if there is one and it is not null.
    pub(crate) fn value(&self, statement: &str) -> Option<String> {
        self.rows(statement).into_iter().next()?.into_iter().next()?
    }

    /// The first column of each row.
    pub(crate) fn column(&self, statement: &str) -> Vec<String> {
        let first = |row: Vec<Option<String>>| row.into_iter().next().flatten();
        self.rows(statement).into_iter().filter_map(first).collect()
    }
}
