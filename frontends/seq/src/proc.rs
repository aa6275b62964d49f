//! Procs: what a user writes.

use crate::error::Error;
use crate::module::Module;
use crate::prelude;
use crate::schedule::Nest;
use crate::types::Scheme;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A data-parallel function on nested sequences.
///
/// ```
/// use halide_seq::{Data, Place, Proc};
/// let axpy = Proc::parse("
///     def axpy(a, x, y):
///         return [a * xi + yi for xi, yi in zip(x, y)]")?;
/// assert_eq!(axpy.scheme().to_string(), "(a, [a], [a]) -> [a]");
/// let (x, y) = (Data::values(&[1.0f32, 2.0])?, Data::values(&[10.0f32, 20.0])?);
/// let sum = Place::cpu(1).call(&axpy, [3.0f32.into(), x, y])?;
/// assert_eq!(sum.to_vec::<f32>()?, [13.0, 26.0]);
/// # Ok::<(), halide_seq::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Proc {
    pub(crate) module: Arc<Module>,
    /// Tells procs from each other.
    pub(crate) number: u64,
    pub(crate) nest: Vec<Nest>,
    pub(crate) is_relaxed: bool,
}

impl Proc {
    /// The proc that a text defines: its last def, which may use those before it.
    ///
    /// # Errors
    /// Every mistake of the text, or else of its types, with its place.
    pub fn parse(text: &str) -> Result<Proc, Error> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let module = Arc::new(Module::parse(text, Some(prelude::module()))?);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Ok(Proc { module, number, nest: vec![Nest::Core, Nest::Seq], is_relaxed: false })
    }

    /// The name of the proc.
    pub fn name(&self) -> &str {
        self.module.defs.last().map_or("", |def| &def.name)
    }

    /// The type of the proc.
    pub fn scheme(&self) -> Scheme {
        self.schemes().pop().map_or_else(Scheme::nothing, |(_, scheme)| scheme)
    }

    /// The types of all defs, inner ones before those around them; the proc is the last.
    pub fn schemes(&self) -> Vec<(String, Scheme)> {
        self.module.schemes().into_iter().map(|(name, scheme)| (name.to_string(), scheme)).collect()
    }

    /// The proc with the kinds of loops that levels of nested sequences become, outermost first.
    pub fn nest(&self, nest: impl Into<Vec<Nest>>) -> Proc {
        Proc { nest: nest.into(), ..self.clone() }
    }

    /// The proc whose floating-point reductions may be computed in any order.
    pub fn relaxed(&self) -> Proc {
        Proc { is_relaxed: true, ..self.clone() }
    }
}
