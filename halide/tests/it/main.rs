//! Tests of the facade: engines agree, and the classic two-stage example computes and stores what it should. Also the
//! rules of the source tree (`tidy`).

mod adjoints;
mod adjoints_random;
mod adjoints_refused;
mod adversary;
mod asked;
mod asynchronous;
mod auto_isa;
#[cfg(feature = "cpu")]
mod budget;
mod callable;
mod cases;
mod cases_bounds;
mod cases_buffers;
mod cases_domains;
mod cases_reductions;
mod cases_runtime;
mod cases_values;
mod check;
#[cfg(feature = "cpu")]
mod chosen;
#[cfg(feature = "cpu")]
mod classic_counts;
mod code_cache;
mod compiler;
mod coordinates;
mod corners;
mod deep;
mod distinct;
mod empty_buffers;
mod engines_agree;
mod errors;
mod explain_bounds;
mod explained;
mod extern_call_runs;
mod extern_calls;
mod externs;
mod findings;
mod floats;
#[cfg(feature = "gpu")]
mod gpu;
#[cfg(feature = "gpu")]
mod gpu_found;
#[cfg(feature = "gpu")]
mod gpu_lanes;
mod halves;
mod in_place;
mod inspected;
mod instruction_calls;
mod instructions;
mod interleaved;
mod language;
mod large;
mod limits;
mod memoized;
mod memory;
mod needs;
mod nest;
mod notes;
#[cfg(feature = "cpu")]
mod object;
mod outputs;
mod page;
mod printing;
mod profiled;
mod programs;
mod programs_sized;
mod ragged;
mod rules;
mod schedule_algorithm;
mod schedule_blocks;
mod schedule_page;
mod settled;
mod shapes;
mod shapes_refused;
#[cfg(feature = "cpu")]
mod skipped;
#[cfg(feature = "cpu")]
mod threads;
mod tidy;
mod tidy_cycles;
mod tidy_docs;
mod tidy_errors;
mod tidy_functions;
mod tidy_lexer;
mod tidy_manifests;
mod tidy_names;
mod tidy_passes;
mod tidy_places;
mod tidy_skips;
mod tiled;
mod together;
mod tracing;
mod tune;
mod tuple_storage;
mod undef;
mod untuned;

/// The engine that stands for machine code: where this build has none, the evaluator does.
#[cfg(feature = "cpu")]
const CPU: halide::Engine = halide::Engine::Cpu;
#[cfg(not(feature = "cpu"))]
const CPU: halide::Engine = halide::Engine::Eval;

/// Records the tests that this build leaves out.
#[test]
fn tests_that_are_not_compiled() {
    for (name, is_on) in [("cpu", cfg!(feature = "cpu")), ("gpu", cfg!(feature = "gpu"))] {
        if !is_on {
            halide_skips::skip(halide_skips::Need::Feature(name), "tests of the feature");
        }
    }
}
