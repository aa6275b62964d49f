//! VEC-TSS: sizes of tiles by vectorisation efficiency and reuse distance.
//!
//! After *Tile size selection that is friendly to vectors* (Chai, Liu, Qu, Wang, Wu; Computer Engineering and
//! Applications, 2020, in Chinese). A loop nest is cut in tiles whose last loop runs in vectors:
//!
//! 1. [`num_vec()`] counts the elements that aligned vectors within tiles reach: the efficiency of a size of the last
//!    loop.
//! 2. [`reuse()`] has for each array the distance between two uses of an element, and which array's is the longest.
//! 3. A tile's level is the first cache that holds the distance and the working set ([`FitRule`]).
//! 4. Tiles are tasks, more than two a thread, where there are several; sizes of middle loops are whole lines.
//! 5. [`select`] takes the best of these: as the paper does ([`Fidelity::Paper`]), or by predicted cycles
//!    ([`Fidelity::Corrected`]), which also counts rows, their ends, straddled lines and misses.
//!
//! A tile may be cut further in blocks that are written out ([`Block`]), as fast code for products has them: what a
//! block stores stays in registers while the loops of reductions go on inside of it.
//!
//! [`rules`] has what it is compared with: untiled nests, cubes, two other rules, and all candidates.
//!
//! The price in cycles counts more between two uses of an element than the paper's distance does: a cache that drops
//! what was used the longest ago still holds what the last iteration touched of other arrays, beside what the next one
//! touches. Nine of ten predictions in the tests are within 15 % of the traffic of simulated caches, and all within a
//! factor of two. By the paper's distance, one that just fit was predicted to move 28 % of what it did.
//!
//! The paper's choice of the vector loop alone is degenerate, since the whole loop always reaches the most elements.
//! Its numbers hold for rows that begin aligned, so the leading dimension is an argument here.

mod error;
mod nest;
mod num_vec;
mod price;
mod reuse;
mod row;
pub mod rules;
mod select;
mod setting;
mod space;

pub use error::{NoVector, TssError};
pub use nest::{AccessKind, Array, Loop, LoopKind, Nest, Subscript};
pub use num_vec::{Rows, num_vec, straddled};
pub use reuse::{Reuse, acc, footprint, reuse, reuse_count};
pub(crate) use row::{broadcast, slanted};
pub use select::{Leading, Padding, Tiles, assess, select};
pub use setting::{Block, Fidelity, FitRule, TssOptions};
pub use space::Candidates;
