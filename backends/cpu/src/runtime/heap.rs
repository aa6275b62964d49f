//! Memory for allocations of programs: 64-byte aligned blocks that are kept and reused, because touching fresh memory
//! is far slower than computing, and a stack of them per worker, because allocations nest.

use crate::tuning::{CHUNK_ALLOCATION_BYTES, CHUNK_BYTES};
use halide_core::buffer::prefer_large_pages;
use halide_ir::BufId;
use std::alloc::{Layout, alloc, dealloc};
use std::ptr::NonNull;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The alignment of every allocation: a cache line, and the widest vector.
const ALIGN: usize = 64;

/// True if every allocation is memory of its own that is no larger than asked for and freed at once: for tests that
/// guard its ends.
const APART: bool = cfg!(feature = "apart-allocations");

/// Owned memory.
pub(crate) struct HeapBlock {
    data: NonNull<u8>,
    bytes: usize,
}

// SAFETY: a block owns its memory; nothing else refers to it.
unsafe impl Send for HeapBlock {}

impl HeapBlock {
    fn new(bytes: usize) -> Option<HeapBlock> {
        let layout = Layout::from_size_align(bytes.max(ALIGN), ALIGN).ok()?;
        // SAFETY: the layout's size is not zero.
        let data = NonNull::new(unsafe { alloc(layout) })?;
        prefer_large_pages(data, layout.size());
        Some(HeapBlock { data, bytes: layout.size() })
    }
}

impl Drop for HeapBlock {
    fn drop(&mut self) {
        // SAFETY: made by `HeapBlock::new` with this size and alignment, freed once.
        unsafe { dealloc(self.data.as_ptr(), Layout::from_size_align_unchecked(self.bytes, ALIGN)) }
    }
}

/// Blocks that no run uses at the moment, shared by all runs of an executable.
pub(crate) struct Pool {
    state: Mutex<PoolState>,
    /// No more than this is kept.
    retain: usize,
}

#[derive(Default)]
struct PoolState {
    idle: Vec<HeapBlock>,
    idle_bytes: usize,
    live_bytes: usize,
    /// The most that was ever live at once. Idle blocks never make the total exceed it: a block that does not fit a
    /// request is freed rather than kept beside a new one.
    high_water: usize,
}

impl Pool {
    pub(crate) fn new(retain: usize) -> Pool {
        Pool { state: Mutex::default(), retain }
    }
    /// Frees every idle block.
    pub(crate) fn trim(&self) {
        let mut state = self.lock();
        state.idle.clear();
        state.idle_bytes = 0;
    }
    /// Returns the number of idle bytes.
    pub(crate) fn idle_bytes(&self) -> usize {
        self.lock().idle_bytes
    }
    /// A block of at least `bytes`: the smallest idle one that is not much larger, else a new one. Also says if it is
    /// new.
    fn take(&self, bytes: usize) -> Option<(HeapBlock, bool)> {
        let mut state = self.lock();
        let most = if APART { bytes } else { bytes + bytes / 4 + 4096 };
        let fits = |b: &HeapBlock| (bytes..=most).contains(&b.bytes);
        let best = (0..state.idle.len()).filter(|&i| fits(&state.idle[i])).min_by_key(|&i| state.idle[i].bytes);
        let block = match best {
            Some(i) => {
                let block = state.idle.swap_remove(i);
                state.idle_bytes -= block.bytes;
                block
            }
            None => {
                while state.idle_bytes + state.live_bytes + bytes > state.high_water
                    && let Some(block) = state.idle.pop()
                {
                    state.idle_bytes -= block.bytes;
                }
                HeapBlock::new(bytes)?
            }
        };
        state.live_bytes += block.bytes;
        state.high_water = state.high_water.max(state.live_bytes);
        Some((block, best.is_none()))
    }
    /// Takes a block back.
    fn give(&self, block: HeapBlock) {
        let mut state = self.lock();
        state.live_bytes -= block.bytes;
        if !APART && state.idle_bytes + block.bytes <= self.retain {
            state.idle_bytes += block.bytes;
            state.idle.push(block);
        }
    }
    fn lock(&self) -> MutexGuard<'_, PoolState> {
        // Every update of the state is complete before anything can panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The allocations of one worker: a stack.
#[derive(Default)]
pub(crate) struct LocalHeap {
    chunks: Vec<HeapBlock>,
    /// The chunk that is being filled (one past the last when there is none), and how far.
    chunk: usize,
    used: usize,
    frames: Vec<HeapAllocation>,
    /// New blocks that nobody has counted yet.
    made: u64,
}

/// One allocation.
struct HeapAllocation {
    bytes: usize,
    buf: BufId,
    origin: Origin,
}

enum Origin {
    /// In a chunk: what `chunk` and `used` were before.
    Chunk { chunk: usize, used: usize },
    /// A block of its own.
    Own(HeapBlock),
    /// A block that was given back early.
    Gone,
}

impl LocalHeap {
    /// `bytes` of aligned memory for `buf`, until the matching [`LocalHeap::pop`].
    pub(crate) fn push(&mut self, buf: BufId, bytes: usize, pool: &Pool) -> Option<*mut u8> {
        let size = bytes.checked_next_multiple_of(ALIGN)?;
        let (data, origin) = if size <= CHUNK_ALLOCATION_BYTES && !APART {
            let before = Origin::Chunk { chunk: self.chunk, used: self.used };
            (self.bump(size.max(ALIGN), pool)?, before)
        } else {
            let block = self.take(size, pool)?;
            (block.data.as_ptr(), Origin::Own(block))
        };
        self.frames.push(HeapAllocation { bytes, buf, origin });
        Some(data)
    }
    /// Ends the newest allocation and returns its buffer and size; `None` when there is none, or it was given back
    /// early.
    pub(crate) fn pop(&mut self, pool: &Pool) -> Option<(BufId, usize)> {
        let HeapAllocation { bytes, buf, origin } = self.frames.pop()?;
        match origin {
            Origin::Chunk { chunk, used } => (self.chunk, self.used) = (chunk, used),
            Origin::Own(block) => pool.give(block),
            Origin::Gone => return None,
        }
        Some((buf, bytes))
    }
    /// Gives the block of the allocation at `data` back before the allocation ends; returns its buffer and size. Small
    /// allocations stay, and give `None`: others may lie behind them in their chunk.
    pub(crate) fn free_early(&mut self, data: *mut u8, pool: &Pool) -> Option<(BufId, usize)> {
        let holds = |f: &&mut HeapAllocation| matches!(&f.origin, Origin::Own(block) if block.data.as_ptr() == data);
        let frame = self.frames.iter_mut().rev().find(holds)?;
        if let Origin::Own(block) = std::mem::replace(&mut frame.origin, Origin::Gone) {
            pool.give(block);
        }
        Some((frame.buf, frame.bytes))
    }
    /// Ends every allocation and gives all memory back.
    pub(crate) fn clear(&mut self, pool: &Pool) {
        while !self.frames.is_empty() {
            self.pop(pool);
        }
        self.chunks.drain(..).for_each(|chunk| pool.give(chunk));
        (self.chunk, self.used) = (0, 0);
    }
    /// The number of new blocks since it was last asked for.
    pub(crate) fn take_made(&mut self) -> u64 {
        std::mem::take(&mut self.made)
    }
    fn take(&mut self, bytes: usize, pool: &Pool) -> Option<HeapBlock> {
        let (block, is_new) = pool.take(bytes)?;
        self.made += u64::from(is_new);
        Some(block)
    }
    fn bump(&mut self, size: usize, pool: &Pool) -> Option<*mut u8> {
        if self.chunk < self.chunks.len() && self.used + size > self.chunks[self.chunk].bytes {
            (self.chunk, self.used) = (self.chunk + 1, 0);
        }
        if self.chunk == self.chunks.len() {
            let chunk = self.take(CHUNK_BYTES, pool)?;
            self.chunks.push(chunk);
            self.used = 0;
        }
        let data = self.chunks[self.chunk].data.as_ptr().wrapping_add(self.used);
        self.used += size;
        Some(data)
    }
}

#[cfg(test)]
mod tests {
    use crate::runtime::heap::*;

    /// The buffer of all allocations.
    const BUF: BufId = BufId(3);

    #[test]
    fn allocations_nest_and_are_reused() {
        let pool = Pool::new(usize::MAX);
        let mut heap = LocalHeap::default();
        let first = heap.push(BUF, 100, &pool).unwrap();
        let second = heap.push(BUF, 1, &pool).unwrap();
        assert_eq!((first as usize % ALIGN, second as usize - first as usize), (0, 128));
        assert_eq!(heap.pop(&pool), Some((BUF, 1)));
        assert_eq!(heap.push(BUF, 5, &pool), Some(second), "popped memory is reused");
        let large = heap.push(BUF, 1 << 20, &pool).unwrap();
        assert_eq!(heap.pop(&pool), Some((BUF, 1 << 20)));
        assert_eq!(heap.push(BUF, 1 << 20, &pool), Some(large), "a large block is reused");
        heap.clear(&pool);
        assert_eq!(pool.lock().live_bytes, 0);
        assert_eq!(pool.idle_bytes(), (1 << 20) + CHUNK_BYTES);
        pool.trim();
        assert_eq!(pool.idle_bytes(), 0);
    }

    #[test]
    fn many_small_allocations_fill_chunks() {
        let pool = Pool::new(usize::MAX);
        let mut heap = LocalHeap::default();
        let all: Vec<usize> =
            (0..100).map(|_| heap.push(BUF, CHUNK_ALLOCATION_BYTES, &pool).unwrap() as usize).collect();
        let mut sorted = all.clone();
        sorted.sort_unstable();
        assert!(sorted.windows(2).all(|w| w[1] - w[0] >= CHUNK_ALLOCATION_BYTES), "no two overlap");
        (0..100).for_each(|_| assert_eq!(heap.pop(&pool), Some((BUF, CHUNK_ALLOCATION_BYTES))));
        assert_eq!(heap.push(BUF, CHUNK_ALLOCATION_BYTES, &pool).map(|p| p as usize), Some(all[0]));
    }

    #[test]
    fn idle_blocks_do_not_raise_the_peak() {
        let pool = Pool::new(usize::MAX);
        let mut heap = LocalHeap::default();
        for mib in [8, 16, 24] {
            heap.push(BUF, mib << 20, &pool).unwrap();
            heap.pop(&pool);
        }
        assert_eq!(pool.idle_bytes(), 24 << 20, "smaller blocks were freed before larger ones were made");
    }

    #[test]
    fn large_blocks_end_early_and_once() {
        let pool = Pool::new(usize::MAX);
        let mut heap = LocalHeap::default();
        let (first, small) = (heap.push(BUF, 1 << 20, &pool).unwrap(), heap.push(BUF, 100, &pool).unwrap());
        assert_eq!((heap.free_early(small, &pool), heap.free_early(first, &pool)), (None, Some((BUF, 1 << 20))));
        assert_eq!(heap.free_early(first, &pool), None, "it is gone");
        assert_eq!(heap.push(BUF, 1 << 20, &pool), Some(first), "while the allocations in it go on");
        let popped = [heap.pop(&pool), heap.pop(&pool), heap.pop(&pool)];
        assert_eq!(popped, [Some((BUF, 1 << 20)), Some((BUF, 100)), None]);
        assert_eq!(pool.idle_bytes(), 1 << 20);
    }

    #[test]
    fn impossible_sizes_fail() {
        let pool = Pool::new(usize::MAX);
        assert!(LocalHeap::default().push(BUF, usize::MAX, &pool).is_none());
        assert!(LocalHeap::default().push(BUF, usize::MAX / 2, &pool).is_none());
    }
}
