//! A cache of code for calls whose sizes are known.

use crate::compiled::Compiled;
use crate::compiler::Compiler;
use crate::error::Error;
use crate::shapes::Shapes;
use halide_core::error::Location;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Code that is made when it is first needed; who needs it meanwhile waits.
type Made = Arc<OnceLock<Result<Compiled, Error>>>;

/// One compiler's code for each shape that is asked for. Keeps what was used last.
///
/// ```
/// use halide::prelude::*;
/// # fn main() -> Result<(), Error> {
/// let input = ImageParam::new("input", U8, 2);
/// let (x, y) = vars!(x, y);
/// let mut f = Func::new("f");
/// f[(x, y)] = input[(x, y)] / 2 + input[(x + 1, y)] / 2;
/// let pipeline = Pipeline::new([&f])?;
/// let cache = ShapeCache::new(Compiler::new(&pipeline).schedule(&"f: vectorize(x, 16)".parse()?));
/// for (width, height) in [(64, 48), (32, 24), (64, 48)] {
///     let compiled = cache.get(&Shapes::of_outputs([Region::of_extents([width, height])]))?;
///     let image = Buffer::<u8>::new([width + 1, height])?;
///     let out: Buffer<u8> = compiled.inputs().image(&input, image).realize([width, height])?;
/// }
/// assert_eq!(cache.shapes().len(), 2);
/// # Ok(())
/// # }
/// ```
pub struct ShapeCache {
    compiler: Compiler,
    most: usize,
    at: Location,
    /// The compiled pipelines, the one used last at the end.
    made: Mutex<Vec<(Shapes, Made)>>,
}

impl ShapeCache {
    /// A cache of what `compiler` makes for each shape, in place of its own shapes. Nothing is compiled yet. Code for
    /// up to 64 shapes is kept.
    #[track_caller]
    pub fn new(compiler: Compiler) -> ShapeCache {
        ShapeCache { compiler, most: 64, at: Location::caller(), made: Mutex::default() }
    }
    /// The same, keeping code for up to so many shapes (at least one).
    #[must_use]
    pub fn keep(self, most: usize) -> ShapeCache {
        ShapeCache { most: most.max(1), ..self }
    }

    /// The code for calls of these shapes, compiled now if it is not there.
    ///
    /// # Errors
    /// As of [`Compiler::compile`] with these shapes.
    pub fn get(&self, shapes: &Shapes) -> Result<Compiled, Error> {
        let entry = self.entry(shapes);
        let compile = || self.compiler.clone().shapes_at(shapes, self.at).compile();
        entry.get_or_init(compile).clone()
    }
    /// The shapes that code is kept for; what was used last comes last.
    pub fn shapes(&self) -> Vec<Shapes> {
        let made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        made.iter().map(|(shapes, _)| shapes.clone()).collect()
    }

    fn entry(&self, shapes: &Shapes) -> Made {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let known = made.iter().position(|(s, _)| s == shapes);
        let entry = known.map_or_else(|| (shapes.clone(), Made::default()), |i| made.remove(i));
        let code = entry.1.clone();
        made.push(entry);
        if made.len() > self.most {
            drop(made.remove(0));
        }
        code
    }
}
