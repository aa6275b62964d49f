//! Nests of loops over blocks and threads that are no kernel, as loop IR: whole pipelines do not come to all of them.

use super::offload;
use crate::lower::example::TABLES;
use crate::lower::trace::LoweringTrace;
use expect_test::{Expect, expect};
use halide_ir::Program;
use halide_ir::target::Gpu;
use halide_solve::simplify::Facts;

fn check(body: &str, expected: Expect) {
    let tables = TABLES.replace("fault fault0", "loop z#L4\nfault fault0");
    let text = format!("program shaped{tables}body {{\n{body}}}");
    let program: Program = text.parse().unwrap_or_else(|e| panic!("{e}\n{text}"));
    let refused = offload(program, &Facts::new(), &Gpu::LEAST, &mut LoweringTrace::new());
    let errors = refused.map(|p| panic!("a kernel:\n{p}")).unwrap_err();
    expected.assert_eq(&errors.iter().map(|e| e.to_string()).collect::<Vec<_>>().join("\n"));
}

#[test]
fn a_number_of_blocks_that_is_data() {
    check(
        "gpu_blocks y#L1 from 0 extent out#b2.extent0 {
  gpu_blocks x#L0 from 0 extent out#b2.extent0 / y#L1 {
    out#b2[x#L0] = 1u8
  }
}
",
        expect![[r#"
            the kernel of `y`: the number of blocks of `x` depends on other blocks in a way that has no bound
              help: run this loop serially, or on threads"#]],
    );
}

#[test]
fn blocks_inside_of_a_kernel() {
    check(
        "gpu_blocks y#L1 from 0 extent 8 {
  for x#L0 from 0 extent 8 {
    gpu_blocks xi#L2 from 0 extent 8 {
      out#b2[y#L1 * 64 + x#L0 * 8 + xi#L2] = 1u8
    }
  }
}
",
        expect![[r#"
            the kernel of `y`: the loop over blocks `xi` is inside a kernel, and not directly in its other loops over blocks
              help: run this loop serially, or on threads"#]],
    );
}

#[test]
fn four_loops_over_threads() {
    check(
        "gpu_blocks z#L4 from 0 extent 8 {
  gpu_threads y#L1 from 0 extent 2 {
    gpu_threads x#L0 from 0 extent 2 {
      gpu_threads yi#L3 from 0 extent 2 {
        gpu_threads xi#L2 from 0 extent 2 {
          out#b2[z#L4 * 16 + y#L1 * 8 + x#L0 * 4 + yi#L3 * 2 + xi#L2] = 1u8
        }
      }
    }
  }
}
",
        expect![[r#"
            the kernel of `z`: `xi` is inside of three other loops over threads, and a block has three dimensions
              help: run one of the loops serially"#]],
    );
}

/// Values that threads read in front of the inner loops would be read again by each of these, after others have stored.
#[test]
fn values_that_threads_read_before_they_part() {
    check(
        "gpu_blocks yi#L3 from 0 extent 8 {
  gpu_threads y#L1 from 0 extent 4 {
    let t0 = out#b2[y#L1]
    gpu_threads x#L0 from 0 extent 4 {
      out#b2[x#L0] = t0
    }
    gpu_threads xi#L2 from 0 extent 4 {
      out#b2[xi#L2 + 4] = t0
    }
  }
}
",
        expect![[r#"
            the kernel of `yi`: threads read `out` before the loops over them part, and it is stored between these
              help: compute `out` outside of the loops over threads, or inside of all of them"#]],
    );
}

#[test]
fn lanes_around_threads() {
    check(
        "gpu_blocks y#L1 from 0 extent 8 {
  gpu_lanes x#L0 from 0 extent 8 {
    gpu_threads xi#L2 from 0 extent 4 {
      out#b2[y#L1 * 32 + x#L0 * 4 + xi#L2] = 1u8
    }
  }
}
",
        expect![[r#"
            the kernel of `y`: the lanes of `x` are not the innermost threads of the block
              help: give the innermost loop over threads to gpu_lanes, in all stages of the block"#]],
    );
}
