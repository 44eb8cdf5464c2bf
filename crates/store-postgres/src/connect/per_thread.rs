//! What each thread that serves alone has for itself.
//!
//! A web worker is a thread with a runtime of its own. What it reads over a connection that lives on the same thread
//! wakes no other thread, and needs none to be told of the answer.

use std::any::Any;
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::runtime::{Handle, RuntimeFlavor};

/// How many of these there have been in the process.
static NUMBERS: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// What this thread has, by the number of who keeps it.
    static HERE: RefCell<HashMap<u64, Weak<dyn Any + Send + Sync>>> = RefCell::default();
}

/// One value for each thread that has a runtime of its own, all of them dropped with this.
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
    /// The value of this thread, which is made where there is none yet; `None` where the runtime has other threads, which
    /// may take over what was begun on this one.
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

    /// The values of all threads so far.
    pub(crate) fn all(&self) -> Vec<Arc<T>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
