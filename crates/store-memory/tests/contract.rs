//! The promises of the storage ports, on the memory store.

use std::sync::Arc;

use cuepoint_domain::ports::Store;
use cuepoint_store_memory::MemoryStore;

async fn store() -> Arc<dyn Store> {
    Arc::new(MemoryStore::new())
}

cuepoint_store_contract::store_contract!(store, histories = 128, steps = 60);
