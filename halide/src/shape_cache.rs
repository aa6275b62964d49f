//! A cache of code for calls whose sizes are known.

use crate::compiled::Compiled;
use crate::compiler::Compiler;
use crate::error::Error;
use crate::shapes::Shapes;
use halide_core::error::Location;
#[cfg(feature = "gpu")]
use halide_gpu::runtime::Gpu;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

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
    /// The compiled pipelines, also those that are being compiled, the one used last at the end.
    made: Mutex<Vec<(Shapes, Made)>>,
    /// The GPU for all shapes, if the compiler has none and needs one.
    #[cfg(feature = "gpu")]
    gpu: Mutex<Option<Gpu>>,
}

impl ShapeCache {
    /// A cache of what `compiler` makes for each shape, in place of its own shapes. Nothing is compiled yet. Code for
    /// up to 64 shapes is kept.
    #[track_caller]
    pub fn new(compiler: Compiler) -> ShapeCache {
        ShapeCache {
            compiler,
            most: 64,
            at: Location::caller(),
            made: Mutex::default(),
            #[cfg(feature = "gpu")]
            gpu: Mutex::default(),
        }
    }
    /// The same, keeping code for up to so many shapes (at least one).
    #[must_use]
    pub fn keep(self, most: usize) -> ShapeCache {
        ShapeCache { most: most.max(1), ..self }
    }

    /// The code for calls of these shapes, compiled now if it is not there. A failure is not kept, and drives nothing
    /// out.
    ///
    /// # Errors
    /// As of [`Compiler::compile`] with these shapes.
    pub fn get(&self, shapes: &Shapes) -> Result<Compiled, Error> {
        let entry = self.entry(shapes);
        let result = entry.get_or_init(|| self.compiler()?.shapes_at(shapes, self.at).compile()).clone();
        let mut made = self.lock();
        match result {
            Ok(_) => {
                let kept = made.iter().filter(|(_, code)| is_there(code)).count();
                if kept > self.most
                    && let Some(oldest) = made.iter().position(|(_, code)| is_there(code))
                {
                    drop(made.remove(oldest));
                }
            }
            Err(_) => made.retain(|(_, code)| !Arc::ptr_eq(code, &entry)),
        }
        result
    }
    /// The shapes that code is kept for; what was used last comes last.
    pub fn shapes(&self) -> Vec<Shapes> {
        self.lock().iter().filter(|(_, code)| is_there(code)).map(|(shapes, _)| shapes.clone()).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(Shapes, Made)>> {
        // Every update is complete before anything can panic.
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }
    fn entry(&self, shapes: &Shapes) -> Made {
        let mut made = self.lock();
        let known = made.iter().position(|(s, _)| s == shapes);
        let entry = known.map_or_else(|| (shapes.clone(), Made::default()), |i| made.remove(i));
        let code = entry.1.clone();
        made.push(entry);
        code
    }
    /// The compiler, with the one GPU for all shapes where it needs one: opened when that is first so.
    #[cfg(feature = "gpu")]
    fn compiler(&self) -> Result<Compiler, Error> {
        let mut gpu = self.gpu.lock().unwrap_or_else(PoisonError::into_inner);
        if gpu.is_none() {
            *gpu = self.compiler.needed_gpu()?;
        }
        let compiler = self.compiler.clone();
        Ok(match &*gpu {
            Some(gpu) => compiler.gpu(gpu),
            None => compiler,
        })
    }
    #[cfg(not(feature = "gpu"))]
    fn compiler(&self) -> Result<Compiler, Error> {
        Ok(self.compiler.clone())
    }
}

fn is_there(code: &Made) -> bool {
    matches!(code.get(), Some(Ok(_)))
}

impl fmt::Debug for ShapeCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ShapeCache").field("most", &self.most).field("shapes", &self.shapes()).finish_non_exhaustive()
    }
}
