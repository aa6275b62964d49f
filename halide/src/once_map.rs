//! A map whose values are computed once, each under a lock of its own.
//!
//! What computes a value must not wait for work of rayon's: a thread that waits takes up other work of its pool, which
//! may ask for the value that this thread is computing, or that another waits for.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// A cell of [`OnceMap`].
type Cell<V, E> = Arc<OnceLock<Result<V, E>>>;

/// A map from keys to values that are computed when they are first asked for.
///
/// The map itself is locked only to find a cell, never while a value is computed: who needs another key goes on, who
/// needs the same key waits for the one that computes it. A failure is for those who wait for it; who asks later tries
/// again.
pub(crate) struct OnceMap<K, V, E>(Mutex<BTreeMap<K, Cell<V, E>>>);

impl<K, V, E> Default for OnceMap<K, V, E> {
    fn default() -> OnceMap<K, V, E> {
        OnceMap(Mutex::default())
    }
}

impl<K: Ord + Clone, V: Clone, E: Clone> OnceMap<K, V, E> {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<K, Cell<V, E>>> {
        // Every update is complete before anything can panic.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
    fn cell(&self, key: &K) -> Cell<V, E> {
        self.lock().entry(key.clone()).or_default().clone()
    }

    /// Returns the value of `key`, computed by `make` unless it is there.
    pub(crate) fn get_or_make(&self, key: &K, make: impl FnOnce() -> Result<V, E>) -> Result<V, E> {
        let cell = self.cell(key);
        let value = cell.get_or_init(make).clone();
        if value.is_err() {
            let mut cells = self.lock();
            if cells.get(key).is_some_and(|now| Arc::ptr_eq(now, &cell)) {
                cells.remove(key);
            }
        }
        value
    }
    /// Returns the value of `key` if it is there.
    #[cfg(feature = "gpu")]
    pub(crate) fn get(&self, key: &K) -> Option<V> {
        self.lock().get(key).and_then(|cell| cell.get()?.as_ref().ok().cloned())
    }
    /// Returns the entries whose values are there.
    pub(crate) fn entries(&self) -> Vec<(K, V)> {
        let cells = self.lock();
        let there = |(key, cell): (&K, &Cell<V, E>)| Some((key.clone(), cell.get()?.as_ref().ok()?.clone()));
        cells.iter().filter_map(there).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::once_map::OnceMap;
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    #[test]
    fn values_of_two_keys_are_computed_at_once() {
        let (map, both) = (OnceMap::<u8, u8, ()>::default(), Barrier::new(2));
        // Each waits until the other is being computed as well.
        let compute = |key: u8| {
            map.get_or_make(&key, || {
                both.wait();
                Ok(key * 10)
            })
        };
        let (one, two) = thread::scope(|s| {
            let one = s.spawn(|| compute(1));
            (compute(2), one.join().unwrap())
        });
        assert_eq!((one, two), (Ok(20), Ok(10)));
        assert_eq!(map.entries(), [(1, 10), (2, 20)]);
    }

    #[test]
    fn a_value_is_computed_once() {
        let (map, times, start) = (OnceMap::<u8, usize, ()>::default(), AtomicUsize::new(0), Barrier::new(4));
        let compute = || {
            start.wait();
            map.get_or_make(&7, || Ok(times.fetch_add(1, Ordering::SeqCst)))
        };
        let all: Vec<Result<usize, ()>> = thread::scope(|s| {
            let threads: Vec<_> = (0..4).map(|_| s.spawn(compute)).collect();
            threads.into_iter().map(|t| t.join().unwrap()).collect()
        });
        assert_eq!((all, times.into_inner()), (vec![Ok(0); 4], 1));
    }

    #[test]
    fn a_failure_is_not_kept() {
        let map = OnceMap::<u8, u8, &str>::default();
        assert_eq!(map.get_or_make(&7, || Err("lost")), Err("lost"));
        assert_eq!(map.entries(), []);
        assert_eq!(map.get_or_make(&7, || Ok(1)), Ok(1));
        assert_eq!(map.get_or_make(&7, || Err("again")), Ok(1));
    }
}
