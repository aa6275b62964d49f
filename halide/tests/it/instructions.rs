//! Instructions that schedules use: what fits is in the code, and what does not is told.

use crate::engines_agree::noise;
use halide::prelude::*;
use halide::schedule::{Extents, Instruction, InstructionError, InstructionSet, LoopKind};

/// `out(x, c) += weights(k, c) * input(k, x)` of u8 by i8.
fn products(reduced: i32) -> Pipeline {
    let (input, weights) = (ImageParam::new("input", U8, 2), ImageParam::new("weights", I8, 2));
    let (x, c, mut out) = (Var::new("x"), Var::new("c"), Func::new("out"));
    let k = RDom::named("k", [(0, reduced)]);
    out[(c, x)] = 7.expr();
    out[(c, x)] += cast::<i32>(weights[(k.x, c)]) * cast::<i32>(input[(k.x, x)]);
    Pipeline::new([&out]).unwrap()
}

const DOT: &str = "out.update(0): split(c, co, ci, 16) split(k.x, ko, ki, 4) reorder(ki, ci, ko, co, x)
    use(dot_u8i8_4, j=ci, k.x=ki)";

fn compiled(pipeline: &Pipeline, schedule: &str) -> Result<Compiled, Error> {
    pipeline.compile(&schedule.parse().unwrap_or_else(|error| panic!("{error}")), &Target::host())
}

fn refused(pipeline: &Pipeline, schedule: &str) -> String {
    match compiled(pipeline, schedule) {
        Ok(_) => panic!("this is taken: {schedule}"),
        Err(error) => error.to_string(),
    }
}

/// Compares the code of a schedule with the interpreter.
fn agree(pipeline: &Pipeline, compiled: &Compiled, images: &[(&str, AnyBuffer)], sizes: &[[i64; 2]]) {
    let reference = Compiler::new(pipeline).engine(Engine::Interp).compile().unwrap();
    for size in sizes {
        let run = |compiled: &Compiled| {
            let call =
                images.iter().fold(compiled.inputs(), |call, (name, image)| call.image_named(name, image.clone()));
            call.realize_all(&[Region::of_extents(*size)]).unwrap_or_else(|error| panic!("{size:?}: {error}"))
        };
        assert_eq!(run(compiled), run(&reference), "{size:?}");
    }
}

fn images(reduced: i64) -> Vec<(&'static str, AnyBuffer)> {
    let image = |ty, extents: [i64; 2]| noise(ty, &Region::of_extents(extents), 5);
    vec![("input", image(U8, [reduced, 64])), ("weights", image(I8, [reduced, 128]))]
}

/// The code of a schedule; `None` on a machine that has no such instruction, which says so.
fn on_machines_with(mnemonic: &str, made: Result<Compiled, Error>) -> Option<Compiled> {
    match made {
        Ok(compiled) => {
            assert!(compiled.asm().unwrap().contains(mnemonic), "{}", compiled.asm().unwrap());
            Some(compiled)
        }
        Err(Error::NotEmitted(missing)) => {
            assert!(missing.to_string().contains(&format!("its code has no `{mnemonic}`")), "{missing}");
            // Machines with vectors of 512 bits have all of the table but sums of four products, maybe.
            assert!(Target::host().vector_bits < 512 || mnemonic.starts_with("vpdp"), "{missing}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn dot_products_are_the_instruction_that_is_named() {
    let pipeline = products(32);
    let Some(made) = on_machines_with("vpdpbusd", compiled(&pipeline, DOT)) else { return };
    let explained = made.explain().unwrap();
    assert!(
        explained.contains("use\n  + out.update(0): `dot_u8i8_4` in loops ci, ki, which is `vpdpbusd`"),
        "{explained}"
    );
    agree(&pipeline, &made, &images(32), &[[128, 5], [17, 3], [16, 1], [1, 1], [5, 2]]);
}

#[test]
fn multiply_add_is_one_instruction_of_floats_that_may_contract() {
    let (a, b) = (ImageParam::new("a", F32, 2), ImageParam::new("b", F32, 2));
    let (x, y, k) = (Var::new("x"), Var::new("y"), RDom::named("k", [(0, 9)]));
    let (mut scaled, mut out) = (Func::new("scaled"), Func::new("out"));
    scaled[(x, y)] = b[(x, y)];
    out[(x, y)] += a[(k.x, y)] * scaled[(x, k.x)];
    let pipeline = Pipeline::new([&out]).unwrap();
    let schedule = "out.update(0): float(contract) split(x, xo, xi, 16) reorder(xi, k.x, xo, y) use(fma_f32, j=xi)";
    on_machines_with("vfmadd", compiled(&pipeline, schedule));
    let strict = refused(&pipeline, &schedule.replace("float(contract)", "float(strict)"));
    assert!(strict.contains("treats floats as `contract` allows it, and `out.update(0)` is `strict`"), "{strict}");
    // The other operand is the one whose neighbours are lanes.
    let turned = "out.update(0): float(contract) split(y, yo, yi, 16) reorder(yi, k.x, x, yo) use(fma_f32, j=yi)";
    let turned = refused(&pipeline, turned);
    assert!(turned.contains("instruction `fma_f32`"), "{turned}");
}

/// Each way of writing what an instruction of the table means is in code by that instruction, with the values of the
/// interpreter.
#[test]
fn meanings_of_the_table_are_their_instructions() {
    let set = InstructionSet::built_in();
    let mut ways = 0;
    for instruction in set.names().filter_map(|name| set.find(name)) {
        let Some(mnemonic) = instruction.mnemonic() else { continue };
        for meaning in instruction.meanings().iter().filter(|meaning| meaning.images.len() == 2) {
            let meaning = &Pipeline::from(meaning.clone());
            let pure = meaning.funcs.iter().all(|func| func.stages.len() == 1);
            if !pure {
                continue;
            }
            let schedule = format!("c: split(j, jo, ji, 64) use({}, j=ji)", instruction.name());
            let Some(made) = on_machines_with(mnemonic, compiled(meaning, &schedule)) else { continue };
            let ty = meaning.images.iter().next().map_or(U8, |image| image.ty);
            let image = |seed| noise(ty, &Region::of_extents([400]), seed);
            let reference = Compiler::new(meaning).engine(Engine::Interp).compile().unwrap();
            for size in [1, 17, 64, 67, 400] {
                let run = |compiled: &Compiled| {
                    let call = compiled.inputs().image_named("a", image(1)).image_named("b", image(2));
                    call.realize_all(&[Region::of_extents([size])]).unwrap_or_else(|error| panic!("{error}"))
                };
                assert_eq!(run(&made), run(&reference), "{} of {size}", instruction.name());
            }
            ways += 1;
        }
    }
    assert!(ways == 27 || Target::host().vector_bits < 256, "{ways} ways");
}

/// Means as users write them: in 32 bits, divided or shifted, by a Func that is inlined.
#[test]
fn idioms_are_known_however_they_are_written() {
    let (a, b) = (ImageParam::new("a", U8, 2), ImageParam::new("b", U8, 2));
    let (x, y) = (Var::new("x"), Var::new("y"));
    let wide = |image: &ImageParam| cast::<i32>(image[(x, y)]);
    let short = |image: &ImageParam| cast::<u16>(image[(x, y)]);
    let mean = |value: Expr| {
        let mut out = Func::new("out");
        out[(x, y)] = cast::<u8>(value);
        Pipeline::new([&out]).unwrap()
    };
    let schedule = "out: split(x, xo, xi, 32) use(rounding_halving_add_u8, j=xi)";
    for value in [(wide(&a) + wide(&b) + 1) / 2, (wide(&b) + wide(&a) + 1) >> 1, (short(&a) + short(&b) + 1) / 2] {
        let pipeline = mean(value);
        let Some(made) = on_machines_with("vpavgb", compiled(&pipeline, schedule)) else { return };
        let image = |seed| noise(U8, &Region::of_extents([90, 7]), seed);
        agree(&pipeline, &made, &[("a", image(1)), ("b", image(2))], &[[90, 7], [1, 1], [31, 2], [64, 3]]);
    }
    let third = refused(&mean((wide(&a) + wide(&b) + 1) / 3), schedule);
    assert!(third.contains("instruction `rounding_halving_add_u8`"), "{third}");
}

/// Loads of kernels of wide vectors are explained: dense ones, and those at data, which cost more.
#[test]
fn ways_of_loads_are_explained() {
    let (index, table) = (ImageParam::new("index", I32, 1), ImageParam::new("table", F32, 1));
    let (x, mut out) = (Var::new("x"), Func::new("out"));
    out[x] = table[clamp(index[x], 0, 999)];
    let explained = compiled(&Pipeline::new([&out]).unwrap(), "out: vectorize(x, 16)").unwrap().explain().unwrap();
    let (_, ways) = explained.split_once("loads of vectors").unwrap();
    if explained.contains("vectors of 128 bits") {
        return;
    }
    let line = ways.lines().find(|line| line.contains("out.x")).unwrap_or_else(|| panic!("{explained}"));
    assert!(line.contains("whole registers, ") && line.contains("scalarised gather (21 operations for 8"), "{line}");
}

/// Each reason that an instruction does not fit, one at a time.
#[test]
fn what_does_not_fit_is_told() {
    let pipeline = products(32);
    let case = |from: &str, to: &str, says: &str| {
        assert!(DOT.contains(from), "{from}");
        let error = refused(&pipeline, &DOT.replace(from, to));
        assert!(error.contains(says), "{to}: {error}");
    };
    case("dot_u8i8_4", "dot_u8i8_5", "there is no instruction `dot_u8i8_5`");
    case("dot_u8i8_4", "dot_u8i8_5", "did you mean `dot_u8i8_4`?");
    case("k.x=ki", "l=ki", "axis `k.x` of instruction `dot_u8i8_4` has no loop");
    case("k.x=ki", "k.x=ki, l=ko", "instruction `dot_u8i8_4` has no axis `l`; it has `j`, `k.x`");
    case("k.x=ki", "k.x=ci", "loop `ci` stands for axis `k.x` of instruction `dot_u8i8_4` and for another one");
    case("j=ci, k.x=ki", "j=ci, k.x=ki, k.x=ko", "axis `k.x` of instruction `dot_u8i8_4` has 2 loops");
    case("k.x=ki", "k.x=kj", "has no loop `kj`");
    case(
        "reorder(ki, ci, ko, co, x)",
        "reorder(ki, ko, ci, co, x)",
        "`ci`, `ki`, are not the innermost ones, `ko`, `ki`",
    );
    case(
        "k.x, ko, ki, 4",
        "k.x, ko, ki, 8",
        "the extent of loop `ki` is 8, and axis `k.x` of instruction `dot_u8i8_4` needs 4",
    );
    case("c, co, ci, 16", "c, co, ci, 12", "the extent of loop `ci` is 12, and axis `j`");
    case(
        "k.x=ki)",
        "k.x=ki) vectorize(ki)",
        "loop `ki` is vectorized, and instruction `dot_u8i8_4` needs it to be unrolled",
    );
    case("use(", "skew(x, 1, ci, t) use(", "loop `ci` of instruction `dot_u8i8_4` counts several variables");
    // Weights are the bytes with a sign, and move along `c`; inputs do not.
    case("split(c, co, ci, 16)", "split(x, co, ci, 16) rename(c, x)", "of instruction `dot_u8i8_4`");
    let odd = refused(&products(30), DOT);
    assert!(odd.contains("a guard against iterations beyond the end of `k.x` inside"), "{odd}");
}

#[test]
fn definitions_that_differ_are_told_with_the_place() {
    let (input, weights) = (ImageParam::new("input", U8, 2), ImageParam::new("weights", I8, 2));
    let (x, c, k) = (Var::new("x"), Var::new("c"), RDom::named("k", [(0, 32)]));
    let with = |value: Expr| {
        let mut out = Func::new("out");
        out[(c, x)] = 7.expr();
        out[(c, x)] += value;
        Pipeline::new([&out]).unwrap()
    };
    let (weight, value) = (cast::<i32>(weights[(k.x, c)]), cast::<i32>(input[(k.x, x)]));
    let says = |value: Expr, text: &str| {
        let error = refused(&with(value), DOT);
        assert!(error.contains(text), "{text}: {error}");
    };
    says(weight + value, "computes `i32(a(k.x)) * i32(b(k.x, j))`");
    says(weight * value * 2, "instruction `dot_u8i8_4` computes");
    says(cast::<i32>(weights[(2 * k.x, c)]) * value, "operand `b` of instruction `dot_u8i8_4` moves by");
    says(cast::<i32>(weights[(k.x, 2 * c)]) * value, "(0, 2) along ci");
    says(cast::<i32>(weights[(c, k.x)]) * value, "dimension 0 is the one with neighbours");
    says(cast::<i32>(weights[(k.x, c * x)]) * value, "of which a coordinate is no sum of multiples of loops");
    says(weight * weight, "instruction `dot_u8i8_4` computes");
}

/// Operands may change places where operations commute, stand behind inlined Funcs and conversions that lose nothing,
/// and have other coordinates that do not move.
#[test]
fn definitions_match_in_any_spelling() {
    let (input, weights) = (ImageParam::new("input", U8, 2), ImageParam::new("weights", I8, 2));
    let (x, c, k) = (Var::new("x"), Var::new("c"), RDom::named("k", [(0, 32)]));
    let (i, j, mut moved) = (Var::new("i"), Var::new("j"), Func::new("moved"));
    moved[(i, j)] = cast::<i16>(input[(i + 1, j)]);
    let spellings = [
        cast::<i32>(input[(k.x, x)]) * cast::<i32>(weights[(k.x, c)]),
        cast::<i32>(moved[(k.x, x)]) * cast::<i32>(weights[(k.x + 2 * x, c + 3)]),
        cast::<i32>(cast::<i16>(weights[(k.x, c)])) * cast::<i32>(input[(k.x, x)]),
    ];
    for (n, value) in spellings.into_iter().enumerate() {
        let mut out = Func::new("out");
        out[(c, x)] = 7.expr();
        out[(c, x)] = match n {
            0 => value + out[(c, x)],
            _ => out[(c, x)] + value,
        };
        let pipeline = Pipeline::new([&out]).unwrap();
        let Some(made) = on_machines_with("vpdpbusd", compiled(&pipeline, DOT)) else { return };
        let image = |ty, extents: [i64; 2]| noise(ty, &Region::of_extents(extents), 5);
        let images = [("input", image(U8, [33, 8])), ("weights", image(I8, [64, 80]))];
        agree(&pipeline, &made, &images, &[[64, 5], [20, 3], [3, 1]]);
    }
}

#[test]
fn instructions_of_ones_own_are_values() {
    let (a, b) = (ImageParam::new("a", I32, 1), ImageParam::new("b", I32, 1));
    let (j, mut sum) = (Var::new("j"), Func::new("sum"));
    sum[j] = max(a[j], b[j]) - min(a[j], b[j]);
    let meaning = Pipeline::new([&sum]).unwrap();
    let apart = Instruction::new("apart", &meaning).axis("j", Extents::UpTo(16), LoopKind::Vectorized).emits("vpmaxsd");
    let set = InstructionSet::new().with(apart.clone()).unwrap();
    assert_eq!(set.clone().with(apart).unwrap_err(), InstructionError::Taken { name: "apart".into() });

    let (left, right) = (ImageParam::new("left", I32, 2), ImageParam::new("right", I32, 2));
    let (x, y, mut out) = (Var::new("x"), Var::new("y"), Func::new("out"));
    out[(x, y)] = max(right[(y, x)], left[(x, y)]) - min(left[(x, y)], right[(y, x)]);
    let pipeline = Pipeline::new([&out]).unwrap();
    let schedule: Schedule = "out: split(x, xo, xi, 8) use(apart, j=xi)".parse().unwrap();
    let compiler = Compiler::new(&pipeline).instructions(&set).schedule(&schedule);
    let image = |seed| noise(I32, &Region::of_extents([64, 64]), seed);
    if let Some(made) = on_machines_with("vpmaxsd", compiler.compile()) {
        agree(&pipeline, &made, &[("left", image(3)), ("right", image(4))], &[[64, 3], [9, 9], [2, 2]]);
    }
    // Without the set nobody knows it; with other instructions in the code it is told.
    assert!(
        refused(&pipeline, "out: split(x, xo, xi, 8) use(apart, j=xi)").contains("there is no instruction `apart`")
    );
    let other = Instruction::new("apart", &meaning).axis("j", Extents::Any, LoopKind::Vectorized).emits("vpsadbw");
    let set = InstructionSet::new().with(other).unwrap();
    let error = compiler.clone().instructions(&set).compile().unwrap_err().to_string();
    assert!(error.contains("`out` uses instruction `apart`, and its code has no `vpsadbw`"), "{error}");
}

#[test]
fn instructions_that_mean_nothing_are_refused() {
    let (a, j) = (ImageParam::new("a", I32, 1), Var::new("j"));
    let meaning = |make: &dyn Fn(&mut Func)| {
        let mut out = Func::new("out");
        make(&mut out);
        Pipeline::new([&out]).unwrap()
    };
    let plain = meaning(&|out| out[j] = a[j] + 1);
    let axis = |pipeline: &Pipeline| Instruction::new("i", pipeline).axis("j", Extents::Any, LoopKind::Vectorized);
    let says = |instruction: Instruction, text: &str| {
        let error = InstructionSet::new().with(instruction).unwrap_err().to_string();
        assert!(error.contains(text), "{error}");
    };
    assert!(InstructionSet::new().with(axis(&plain)).is_ok());
    says(Instruction::new("i", &plain), "variable `j` of instruction `i` is no axis");
    says(axis(&plain).axis("j", Extents::Any, LoopKind::Serial), "is 2 axes");
    says(axis(&plain).axis("k", Extents::Any, LoopKind::Serial), "axis `k` of instruction `i` is no variable");
    says(Instruction::new("i", &plain).axis("j", Extents::Any, LoopKind::Parallel), "cannot be Parallel");
    says(axis(&plain).dense("b", "j"), "has no image `b` or no axis `j`");
    let twice = meaning(&|out| {
        out[j] = a[j];
        out[j] += 1;
    });
    says(axis(&twice), "has other definitions; write one pure definition");
    says(axis(&meaning(&|out| out[j] = tuple([a[j], a[j]]))), "has a tuple");
    says(axis(&meaning(&|out| out[j] = a[j] * Param::<i32>::new("p").expr())), "has parameters");
}

/// A machine instruction that does the work of another definition in the same loops is not the one that is named.
#[test]
fn instructions_of_another_definition_do_not_count() {
    let (a, b) = (ImageParam::new("a", I32, 1), ImageParam::new("b", I32, 1));
    let (j, mut sum) = (Var::new("j"), Func::new("sum"));
    sum[j] = a[j] + b[j];
    let sum = Instruction::new("sum", &Pipeline::new([&sum]).unwrap()).axis("j", Extents::Any, LoopKind::Vectorized);
    let (x, mut larger, mut out) = (Var::new("x"), Func::new("larger"), Func::new("out"));
    larger[x] = max(a[x], b[x]);
    out[x] = larger[x] + b[x];
    let pipeline = Pipeline::new([&out]).unwrap();
    let schedule =
        "larger: compute_at(out, xo) vectorize(x, 8)\n out: split(x, xo, xi, 8) use(sum, j=xi)".parse().unwrap();
    let compile = |mnemonic: &str| {
        let set = InstructionSet::new().with(sum.clone().emits(mnemonic)).unwrap();
        Compiler::new(&pipeline).schedule(&schedule).instructions(&set).compile()
    };
    if let Some(made) = on_machines_with("vpaddd", compile("vpaddd")) {
        assert!(made.asm().unwrap().contains("vpmaxsd"), "{}", made.asm().unwrap());
        let error = compile("vpmaxsd").map(drop).unwrap_err().to_string();
        assert!(error.contains("`out` uses instruction `sum`, and its code has no `vpmaxsd`"), "{error}");
    }
}

/// Meanings that would take very long to compare are refused at once.
#[test]
fn meanings_have_a_size() {
    let (a, j) = (ImageParam::new("a", I32, 1), Var::new("j"));
    let refused = |value: Expr| {
        let mut out = Func::new("out");
        out[j] = value;
        let meaning = Pipeline::new([&out]).unwrap();
        let instruction = Instruction::new("i", &meaning).axis("j", Extents::Any, LoopKind::Vectorized);
        InstructionSet::new().with(instruction).map(drop).unwrap_err().to_string()
    };
    let says = "the meaning of instruction `i` has more than 512 operations";
    let twice = (0..60).fold(a[j], |value, _| value * value);
    assert!(refused(twice).contains(says));
    let long = (0..20_000).fold(a[j], |value, n| value + n);
    assert!(refused(long).contains(says));
    let (mut inner, i) = (Func::new("inner"), Var::new("i"));
    inner[i] = (0..40).fold(a[i], |value, _| value + value);
    assert!(refused(inner[j] * 2).contains(says));
}

/// Code of inner loops counts for the stage whose outer loops are tasks, or loops that other code is around.
#[test]
fn instructions_in_loops_inside_of_tasks_are_seen() {
    let (a, b) = (ImageParam::new("a", F32, 1), ImageParam::new("b", F32, 2));
    let ((x, y), r) = (vars!(x, y), RDom::named("r", [(1, 4)]));
    let (mut kept, mut sums, mut out) = (Func::new("kept"), Func::new("sums"), Func::new("out"));
    kept[(x, y)] = b[(x, y)] + 1f32;
    sums[(x, y)] += a[r.x + 1] * kept[(x, y)];
    out[(x, y)] = sums[(x, y)] - sums[(x + 1, y)];
    let pipeline = Pipeline::new([&out]).unwrap();
    let serial = "kept: compute_root() vectorize(x, natural)
        sums: compute_root() vectorize(x, natural)
        sums.update(0): float(contract) split(y, yo, yi, 5) split(x, xo, xi, 32) reorder(xi, yi, r.x, yo, xo) unroll(yi)
            use(fma_f32, j=xi)";
    if on_machines_with("vfmadd", compiled(&pipeline, serial)).is_some() {
        compiled(&pipeline, &format!("{serial} parallel(xo) parallel(yo)\nkept: parallel(y)")).unwrap();
    }
}
