//! The builder's words about sizes, caches, and operations that the compiler does not know.

use super::build::StageSchedule;
use super::directive::{Identity, PrefetchBound, Verb};
use super::list::Schedule;
use super::names::{FuncName, LoopName};

impl StageSchedule<'_> {
    /// Says what region of a dimension is likely to be asked for: for reports, and for runs that say no size. Nothing is
    /// compiled differently.
    #[track_caller]
    pub fn set_estimate(self, dim: impl LoopName, min: i64, extent: i64) -> Self {
        self.push(Verb::SetEstimate { var: dim.loop_name(), min, extent })
    }

    /// As `set_estimate` for all dimensions: first coordinate and extent of each.
    #[track_caller]
    pub fn set_estimates(self, region: impl IntoIterator<Item = (i64, i64)>) -> Self {
        self.push(Verb::SetEstimates(region.into_iter().collect()))
    }

    /// Keeps room for `extent` coordinates of a dimension, whatever bounds inference finds. A run that needs more ends
    /// with a fault that says so.
    #[track_caller]
    pub fn bound_storage(self, dim: impl LoopName, extent: i64) -> Self {
        self.push(Verb::BoundStorage { var: dim.loop_name(), extent })
    }

    /// Asks for what iteration `from + offset` will read of `what`, a Func or an input image, to be brought into caches
    /// in each iteration of loop `at`, which is `from` or inside of it. What the iteration before asked for is not asked for
    /// again. Machine code for vectors of 128 bits has no instruction for that, and leaves it out. An `offset` beyond 65,536
    /// either way is an error.
    #[track_caller]
    pub fn prefetch(
        self,
        what: impl FuncName,
        at: impl LoopName,
        from: impl LoopName,
        offset: i64,
        bound: PrefetchBound,
    ) -> Self {
        let (what, at, from) = (what.func_name(), at.loop_name(), from.loop_name());
        self.push(Verb::Prefetch { what, at, from, offset, bound })
    }

    /// Asks for values to be stored past the caches, since nothing reads them soon.
    #[track_caller]
    pub fn stream_stores(self) -> Self {
        self.push(Verb::StreamStores)
    }

    /// Vouches that this update folds values into its elements by an associative operation that `identity`, one number
    /// per tuple element, leaves as they are: so it may be done in parts (`rfactor`), and, if it `commutes`, in any
    /// order. What random values refute is an error. In text: `monoid(0)`, `monoid([1, 0], commutative)`.
    #[track_caller]
    pub fn monoid<I: Into<Identity>>(self, identity: impl IntoIterator<Item = I>, commutes: bool) -> Self {
        self.push(Verb::Monoid { identity: identity.into_iter().map(Into::into).collect(), commutes })
    }
}

impl Schedule {
    /// Returns the estimates of a Func with these dimensions: first coordinate and extent, dimension by dimension, as
    /// the last directive about each says.
    pub fn estimates(&self, func: &str, dims: &[&str]) -> Vec<Option<(i64, i64)>> {
        let mut found = vec![None; dims.len()];
        for directive in self.directives().iter().filter(|d| d.subject.func == func) {
            match &directive.verb {
                Verb::SetEstimate { var, min, extent } => {
                    let dim = dims.iter().position(|d| d == var);
                    dim.into_iter().for_each(|dim| found[dim] = Some((*min, *extent)));
                }
                Verb::SetEstimates(region) => {
                    found.iter_mut().zip(region).for_each(|(f, estimate)| *f = Some(*estimate));
                }
                _ => {}
            }
        }
        found
    }
}

impl From<i64> for Identity {
    fn from(value: i64) -> Identity {
        Identity::Const(value)
    }
}
