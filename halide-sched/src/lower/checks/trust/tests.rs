//! Small programs for each argument, and ones that it must not be used for.

use super::*;
use halide_ir::Stage;
use halide_testing::programs::around;

fn judged(text: &str) -> Trust {
    let program = around(Stage::Shaped, text.parse().unwrap_or_else(|e| panic!("{text}: {e}")));
    trust(&program)
}

#[track_caller]
fn initialised(expected: bool, text: &str) {
    assert_eq!(judged(text).initialised[&BufId(1)], expected, "{text}");
}

#[track_caller]
fn independent(expected: bool, text: &str) {
    let judged = judged(text);
    assert!(
        !judged.independent.is_empty() && judged.independent.values().all(|p| *p == expected),
        "{text}: {judged:?}"
    );
}

#[test]
fn a_nest_that_writes_all_comes_first() {
    let program = |nest: &str| {
        format!("alloc b1[8 * b0.extent0] {{ {nest} for L9 from 0 extent b0.extent0 {{ b0[L9] = b1:u16[L9] }} }}")
    };
    let rows = |inner: &str| format!("for L0 from 0 extent b0.extent0 {{ {inner} }}");
    initialised(true, &program(&rows("b1[ramp(L0 * 8, 1, 8)] = x8(1u16)")));
    initialised(true, &program(&rows("for L1 from 0 extent 8 { b1[L0 * 8 + L1] = 1u16 }")));
    initialised(
        true,
        &program(&rows("let t0 = L0 * 8 for L1 from 0 extent 2 { b1[ramp(t0 + L1 * 4, 1, 4)] = x4(1u16) }")),
    );
    initialised(true, &program(&rows("b1[ramp(L0 * 8, 1, 4)] = x4(1u16) b1[ramp(L0 * 8 + 4, 1, 4)] = x4(2u16)")));
    let cut = "for L0 from 0 extent 1 { b1[ramp(L0 * 8, 1, 8)] = x8(1u16) } \
               for L1 from 1 extent b0.extent0 - 1 { b1[ramp(L1 * 8, 1, 8)] = x8(1u16) }";
    initialised(true, &program(cut));
    // Gaps, ends, conditions, masks, and reads that come first.
    initialised(false, &program(&rows("b1[ramp(L0 * 8, 1, 4)] = x4(1u16)")));
    initialised(false, &program(&rows("for L1 from 1 extent 7 { b1[L0 * 8 + L1] = 1u16 }")));
    initialised(false, &program("for L0 from 0 extent b0.extent0 - 1 { b1[ramp(L0 * 8, 1, 8)] = x8(1u16) }"));
    initialised(false, &program(&rows("if L0 < 3 { b1[ramp(L0 * 8, 1, 8)] = x8(1u16) }")));
    initialised(false, &program(&rows("b1[ramp(L0 * 8, 1, 8) where ramp(L0, 1, 8) < x8(3)] = x8(1u16)")));
    initialised(false, &program(&rows("b1[ramp(L0 * 8, 1, 8)] = x8(b1:u16[0])")));
    initialised(false, &program(&rows("b1[ramp(L0 * 8 + select(L0 < 3, 0, 1), 1, 8)] = x8(1u16)")));
    initialised(false, &program(&rows("b1[ramp(min(L0, 3) * 8, 1, 8)] = x8(1u16)")));
}

#[test]
fn iterations_at_a_distance_are_apart() {
    let program =
        |body: &str| format!("alloc b1[8 * b0.extent0] {{ parallel L0 from 0 extent b0.extent0 {{ {body} }} }}");
    independent(true, &program("b1[ramp(L0 * 8, 1, 8)] = x8(1u16)"));
    independent(true, &program("for L1 from 0 extent 7 { b1[L0 * 8 + L1 + 1] = b1:u16[L0 * 8 + L1] }"));
    independent(true, &program("b0[L0 * b0.stride0] = 1u16"));
    independent(true, &program("alloc b1[8] { b1[0] = 1u16 }").replace("alloc b1[8 * b0.extent0]", "scope"));
    independent(true, &program("atomic f1 { b1[0] = b1:u16[0] + 1u16 }"));
    independent(true, &program("b1[min(L0 * 8, L0 * 8 + 3)] = 1u16"));
    // Planes further apart than rows.
    let planes = "let t0 = b0.extent0 let t1 = b0.stride0 alloc b1[t0 * t1 * 4] { parallel L0 from 0 extent t1 { \
                  for L1 from 0 extent 4 { for L2 from 0 extent t0 { b1[L1 * t0 * t1 + L0 * t0 + L2] = 1u16 } } } }";
    independent(true, planes);
    independent(false, &planes.replace("L2 from 0 extent t0", "L2 from 0 extent t0 + 1"));
    independent(false, &planes.replace("L0 * t0", "0"));
    // The last chunk of a row begins further inwards.
    independent(true, &program("for L1 from 0 extent 2 { b1[ramp(min(L1 * 5, 3) + L0 * 8, 1, 5)] = x5(1u16) }"));
    independent(false, &program("for L1 from 0 extent 2 { b1[ramp(min(L1 * 5, 4) + L0 * 8, 1, 5)] = x5(1u16) }"));
    independent(false, &program("b1[ramp(L0 * 7, 1, 8)] = x8(1u16)"));
    independent(false, &program("for L1 from 0 extent 8 { b1[L0 * 8 + L1] = b1:u16[L0 * 8 + L1 + 1] }"));
    independent(false, &program("b1[0] = 1u16"));
    independent(false, &program("b1[min(L0, 3)] = 1u16"));
    independent(false, &program("b1[L0 + select(L0 < 3, 0, 1)] = 1u16"));
    independent(false, &program("atomic f1 { b1[0] = b1:u16[0] + 1u16 } b1[L0] = 2u16"));
    independent(false, &program("atomic f0 { b0[0] = b0:u16[0] + b1:u16[0] } atomic f1 { b1[0] = b1:u16[0] + 1u16 }"));
    independent(false, &program("b1[int(b1:u16[L0])] = 1u16"));
}
