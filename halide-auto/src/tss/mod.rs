//! VEC-TSS: sizes of tiles by vectorisation efficiency and reuse distance.
//!
//! After *Tile size selection that is friendly to vectors* (Chai, Liu, Qu, Wang, Wu; Computer Engineering and
//! Applications, 2020, in Chinese).

mod num_vec;

pub use num_vec::{Rows, num_vec, straddled};
