//! Whether the coordinates of one dispatch fit the 32 bits that kernels compute them in.

use halide_sched::ir::{Kernel, Program};

/// Whether every Index value that `kernel` may compute for these arguments is within i32, so that its 32-bit arithmetic is
/// exact. `scalars`, `offsets` and `grid` are those of the dispatch, see [`super::Layout::pack`].
pub fn fits(_program: &Program, _kernel: &Kernel, _scalars: &[u64], _offsets: &[i64], _grid: &[i64]) -> bool {
    false
}
