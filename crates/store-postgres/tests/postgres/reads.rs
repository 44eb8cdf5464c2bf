//! Reads over the connections of a worker.

use cuepoint_store_sql_tests::reads::{crowd, each_reader_gets_their_own_row, on_a_worker};

use crate::scenario::client;
use crate::suite::database;

#[tokio::test(flavor = "multi_thread")]
async fn workers_replace_closed_connections() {
    let database = database().await;
    let people = crowd(&database.store).await;
    let url = database.url();
    on_a_worker(|| async {
        each_reader_gets_their_own_row(&database.store, &people).await;
        let others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
            WHERE datname = current_database() AND pid <> pg_backend_pid()";
        client(url).await.batch_execute(others).await.unwrap();
        each_reader_gets_their_own_row(&database.store, &people).await;
    });
}
