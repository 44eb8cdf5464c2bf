//! The backend of the memory store.

use std::sync::Arc;

use async_trait::async_trait;
use cuepoint_domain::ports::{Backend, BackendError, Diagnosis, Opening, Store, Thoroughness};
use cuepoint_domain::timestamp::Timestamp;

use crate::MemoryStore;

/// Opens a new, empty store on each call.
#[derive(Clone, Copy, Debug, Default)]
pub struct MemoryBackend;

#[async_trait]
impl Backend for MemoryBackend {
    fn name(&self) -> &'static str {
        "memory"
    }

    fn is_durable(&self) -> bool {
        false
    }

    async fn open(&self, _: Opening) -> Result<Arc<dyn Store>, BackendError> {
        Ok(Arc::new(MemoryStore::new()))
    }

    async fn migrate(&self) -> Result<Option<Vec<String>>, BackendError> {
        Ok(None)
    }

    async fn diagnose(&self, _: Thoroughness, _: Timestamp) -> Vec<Diagnosis> {
        vec![Diagnosis::ok("storage", "memory: nothing is kept after the process ends")]
    }
}
