//! A server on a restored backup.

use std::sync::Arc;

use cuepoint_store_sqlite::testing::TestDirectory;

use super::{Database, Server, Store, once_servers_are_gone, run};

/// A server on a restored backup.
pub(crate) struct Restored {
    pub(crate) server: Server,
    /// What the command printed.
    pub(crate) said: String,
    /// Declared last, so that it is removed after the server.
    _data: Option<TestDirectory>,
}

impl Restored {
    /// Restores a backup that was made after `before` and before `later`, whose server may have another address. All
    /// servers have this configuration.
    pub(crate) fn between<T>(
        store: Store,
        keys: &[(&str, &str)],
        before: impl FnOnce(&Server) -> T,
        later: impl FnOnce(&Server, &T),
    ) -> (Self, T) {
        match store {
            Store::Postgres => Self::on_postgres(keys, before, later),
            Store::Memory | Store::Sqlite => Self::on_sqlite(keys, before, later),
        }
    }

    fn on_postgres<T>(
        keys: &[(&str, &str)],
        before: impl FnOnce(&Server) -> T,
        later: impl FnOnce(&Server, &T),
    ) -> (Self, T) {
        let database = Arc::new(Database::postgres());
        let server = Server::on(&database, keys);
        let scene = before(&server);
        drop(server);
        let backup = Arc::new(database.copy());
        let server = Server::on(&database, keys);
        later(&server, &scene);
        drop(server);
        let name = backup.url().rsplit_once('/').unwrap().1;
        let restore = || run(&["restore", "--database-name", name], Some(backup.url()), keys);
        let (done, said) = once_servers_are_gone(restore);
        assert!(done, "{said}");
        (Self { server: Server::on(&backup, keys), said, _data: None }, scene)
    }

    fn on_sqlite<T>(
        keys: &[(&str, &str)],
        before: impl FnOnce(&Server) -> T,
        later: impl FnOnce(&Server, &T),
    ) -> (Self, T) {
        let folder = TestDirectory::create();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        let [old, new, file] = ["data", "restored", "backup.db"].map(path);
        let [old, new] = [&old, &new]
            .map(|data| [keys, &[("storage.backend", "sqlite"), ("storage.dir", data.as_str())]].concat());
        let server = Server::start_with(&old);
        let scene = before(&server);
        let (status, said) = run(&["backup", &file], None, &old);
        assert!(status.success(), "{said}");
        later(&server, &scene);
        drop(server);
        let (status, said) = run(&["restore", &file], None, &new);
        assert!(status.success(), "{said}");
        (Self { server: Server::start_with(&new), said, _data: Some(folder) }, scene)
    }
}
