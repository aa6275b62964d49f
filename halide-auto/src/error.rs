//! The reasons that there is no schedule.

use crate::attempt::Attempt;
use crate::costs::CostError;
use crate::estimate::EstimateError;
use crate::tss::TssError;
use halide_sched::lower::LowerError;
use halide_sched::lower::regions::query::QueryError;
use halide_sched::plan::ScheduleError;
use std::fmt;

/// A reason that no schedule can be chosen.
#[derive(Clone)]
#[non_exhaustive]
pub enum AutoError {
    /// Estimates with mistakes.
    Estimates(Vec<EstimateError>),
    /// The algorithm asks for what no schedule gives it.
    Schedule(Vec<ScheduleError>),
    /// The algorithm cannot be lowered, whatever the schedule.
    Lower(Vec<LowerError>),
    /// A pipeline with stages that are computed outside of it.
    Extern {
        /// The first one.
        func: String,
    },
    /// A schedule with kernels, which is to be priced.
    Kernel {
        /// A Func that they compute.
        func: String,
    },
    /// Code that the compiler does not make.
    Code {
        /// The reason.
        reason: String,
    },
    /// Sizes of inputs that do not follow from those of outputs.
    Query(QueryError),
    /// A definition for which no tiles can be chosen.
    Tiles(TssError),
    /// A pipeline of which no instruction computes a stage.
    NothingMaps {
        /// Each instruction and stage with what differs.
        attempts: Vec<Attempt>,
    },
    /// A mistake in the costs of instructions.
    Costs(CostError),
}

impl fmt::Display for AutoError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fn lines<E: fmt::Display>(f: &mut fmt::Formatter<'_>, errors: &[E]) -> fmt::Result {
            errors.iter().enumerate().try_for_each(|(n, e)| write!(f, "{}{e}", if n == 0 { "" } else { "\n" }))
        }
        match self {
            AutoError::Estimates(errors) => lines(f, errors),
            AutoError::Schedule(errors) => lines(f, errors),
            AutoError::Lower(errors) => lines(f, errors),
            AutoError::Extern { func } => write!(
                f,
                "`{func}` is an extern stage, and schedules are chosen for pipelines without any; write one by hand"
            ),
            AutoError::Kernel { func } => write!(
                f,
                "`{func}` is computed by kernels, and prices are of loops of the host; price a schedule without \
                 `gpu_blocks`, `gpu_threads` and `gpu_single_thread`"
            ),
            AutoError::Code { reason } => f.write_str(reason),
            AutoError::Query(error) => error.fmt(f),
            AutoError::Tiles(error) => error.fmt(f),
            AutoError::NothingMaps { attempts } => {
                f.write_str("no instruction computes a stage of the pipeline")?;
                attempts.iter().try_for_each(|attempt| write!(f, "\n  {attempt}"))
            }
            AutoError::Costs(error) => error.fmt(f),
        }
    }
}

halide_core::debug_is_display!(AutoError);

impl std::error::Error for AutoError {}
