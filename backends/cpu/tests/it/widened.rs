//! Bytes and words of pixels whose values lie beside each other, in wider lanes: one colour of each.

use crate::harness::*;
use halide_core::types::ScalarType::{self, *};
use halide_core::value;
use halide_cpu::Tier;
use halide_ir::features::CpuFeature;
use halide_ir::{BufId, Expr, Memory, Program, Stmt, Sym, build};

const PIXELS: i64 = 256;

/// Each colour of pixels of `colours` values, widened to `to`, in an output of its own. Loads have names, or are copied
/// first to memory that changes between the loads and their use.
fn colours(ty: ScalarType, to: ScalarType, (colours, lanes): (usize, u16), is_named: bool, changes: bool) -> Program {
    let mut p = program(&[ty], &vec![to; colours]);
    let copy = internal(&mut p, ty, Memory::Heap);
    p.next_temp = colours as u32;
    let all = colours as i64 * PIXELS;
    let from = if changes { copy } else { BufId(0) };
    let fill = serial(&mut p, build::int(all), |i| store(copy, i.clone(), build::load(BufId(0), ty, i, None)));
    let each = serial(&mut p, build::int(PIXELS / i64::from(lanes)), |i| {
        let first = build::mul(i.clone(), build::int(i64::from(lanes) * colours as i64));
        let load = |k: usize| {
            let at = build::offset(first.clone(), k as i64 * i64::from(lanes));
            build::load(from, ty, dense(at, lanes), None)
        };
        let loads: Vec<Expr> = (0..colours).map(load).collect();
        let names: Vec<Expr> = (0..colours).map(|k| build::typed_sym(Sym::Temp(k as u32), loads[k].ty())).collect();
        let sources = if is_named || changes { names } else { loads.clone() };
        let stores = (0..colours).map(|c| {
            let picks = (0..lanes).map(|l| l * colours as u16 + c as u16).collect();
            let one = build::cast_data(to, build::shuffle(sources.clone(), picks));
            let at = dense(build::mul(i.clone(), build::int(i64::from(lanes))), lanes);
            store(BufId(1 + c as u32), at, one)
        });
        let stores: Vec<Stmt> = stores.collect();
        let zero = build::constant(value::cast(ty, 0i32.into()));
        let nothing = store(copy, dense(first.clone(), lanes), build::broadcast(zero, lanes));
        let body = if changes { build::block([nothing].into_iter().chain(stores)) } else { build::block(stores) };
        match is_named || changes {
            true => build::let_in(loads.into_iter().enumerate().map(|(k, e)| (Sym::Temp(k as u32), e)).collect(), body),
            false => body,
        }
    });
    let body = Box::new(build::block([fill, each]));
    p.body = Stmt::Alloc { buf: copy, count: build::int(all), constant: None, body };
    p
}

fn check(tier: Tier, ty: ScalarType, to: ScalarType, shape: (usize, u16), is_named: bool, changes: bool) -> String {
    let code = compiled_for(tier, &colours(ty, to, shape, is_named, changes));
    let mut noise = SplitMix(3);
    let input: Vec<_> = (0..shape.0 as i64 * PIXELS).map(|_| random(ty, &mut noise)).collect();
    let outputs = vec![(to, PIXELS as usize); shape.0];
    let (out, _) = run(&code, &[], &[buffer(ty, &input)], &outputs).unwrap();
    let done = PIXELS as usize / usize::from(shape.1) * usize::from(shape.1);
    for (c, out) in out.iter().enumerate() {
        for (i, got) in out.iter().enumerate().take(done) {
            let want = value::cast(to, input[i * shape.0 + c]);
            assert!(got.same(want), "{tier:?} {ty} to {to}, {shape:?}, {is_named} {changes}: {i} of {c}");
        }
    }
    code.asm().unwrap_or_default().to_string()
}

#[test]
fn colours_of_every_width() {
    for tier in tiers() {
        for (ty, wider) in [(U8, &[U16, I32, U64, F32, F64, F16][..]), (U16, &[I32, U32, I64, F32]), (I8, &[I32])] {
            for (to, n) in wider.iter().flat_map(|to| [2, 3, 4, 7].map(|n| (to, n))) {
                for lanes in [1, 3, 8, 16, 24, 64] {
                    check(tier, ty, *to, (n, lanes), false, false);
                    check(tier, ty, *to, (n, lanes), true, false);
                }
            }
        }
    }
}

#[test]
fn loads_keep_what_memory_held_before_a_store() {
    for tier in tiers() {
        for (ty, to) in [(U8, F32), (U8, U16), (U16, I32)] {
            for lanes in [16, 64] {
                check(tier, ty, to, (3, lanes), true, true);
            }
        }
    }
}

/// A register of wide lanes is one permutation of one that is loaded.
#[test]
fn colours_are_permuted_and_widened_at_once() {
    if !has_all(Tier::Avx512.needs().with(CpuFeature::Avx512vbmi)) {
        return;
    }
    for (ty, to, lanes, permutation) in [(U8, F32, 64, "vpermb"), (U8, I32, 16, "vpermb"), (U16, F32, 32, "vpermt2w")] {
        for is_named in [false, true] {
            let asm = check(Tier::Avx512, ty, to, (3, lanes), is_named, false);
            assert!(asm.contains(permutation) && asm.contains("{z}"), "{asm}");
            assert!(!asm.contains("vpmovzx"), "{asm}");
        }
    }
}
