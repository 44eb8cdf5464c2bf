//! Values of single-threaded runtimes, one for each thread.
//!
//! A web worker is a thread with a runtime of its own. A read over a connection on the same thread wakes no
//! other thread to deliver its reply.

use std::any::Any;
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::runtime::{Handle, RuntimeFlavor};

/// The number of [`PerThread`] values created in the process.
static NUMBERS: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// The values of this thread, by the number of their [`PerThread`].
    static HERE: RefCell<HashMap<u64, Weak<dyn Any + Send + Sync>>> = RefCell::default();
}

/// One value for each thread with a single-threaded runtime; all are dropped with this.
pub(crate) struct PerThread<T> {
    number: u64,
    all: Mutex<Vec<Arc<T>>>,
}

impl<T> Default for PerThread<T> {
    fn default() -> Self {
        Self { number: NUMBERS.fetch_add(1, Ordering::Relaxed), all: Mutex::default() }
    }
}

impl<T: Send + Sync + 'static> PerThread<T> {
    /// Returns the value of this thread, creating it if there is none; `None` on a multi-threaded runtime,
    /// where another thread may continue a task.
    pub(crate) fn here(&self, make: impl FnOnce() -> T) -> Option<Arc<T>> {
        let runtime = Handle::try_current().ok()?;
        if runtime.runtime_flavor() != RuntimeFlavor::CurrentThread {
            return None;
        }
        HERE.with_borrow_mut(|here| {
            let known = here.get(&self.number).and_then(Weak::upgrade);
            if let Some(known) = known.and_then(|known| known.downcast().ok()) {
                return Some(known);
            }
            let made = Arc::new(make());
            self.all.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&made));
            let kept: Weak<T> = Arc::downgrade(&made);
            here.insert(self.number, kept);
            Some(made)
        })
    }

    /// The existing values of all threads.
    pub(crate) fn all(&self) -> Vec<Arc<T>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
