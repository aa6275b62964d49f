//! Instructions that closures compute: called in place of loops, with the values of the interpreter.

use crate::engines_agree::noise;
use halide::externs::ExternResult;
use halide::prelude::*;
use halide::schedule::{Extents, Instruction, InstructionSet, LoopKind, Tile};

/// `c(j, i) += a(k, i) * b(j, k)` of integers, by a closure in plain loops.
fn product() -> Instruction {
    let (a, b) = (ImageParam::new("a", I32, 2), ImageParam::new("b", I32, 2));
    let (j, i, k, mut c) = (Var::new("j"), Var::new("i"), RDom::named("k", [(0, 4)]), Func::new("c"));
    c[(j, i)] = undef::<i32>();
    c[(j, i)] += a[(k.x, i)] * b[(j, k.x)];
    Instruction::new("product", &Pipeline::new([&c]).unwrap())
        .axis("j", Extents::UpTo(16), LoopKind::Serial)
        .axis("i", Extents::UpTo(16), LoopKind::Serial)
        .axis("k.x", Extents::UpTo(16), LoopKind::Serial)
        .calls(multiply)
}

fn multiply(tile: &mut Tile<'_>) -> ExternResult<()> {
    let (a, b) = (tile.operand("a")?.typed::<i32>()?, tile.operand("b")?.typed::<i32>()?);
    let count = a.as_any().extent(0);
    assert_eq!((a.as_any().min(0), b.as_any().min(1), b.as_any().extent(1)), (0, 0, count));
    for at in tile.result().coords() {
        let value = |buffer: &Buffer<i32>, at: [i64; 2]| buffer.get(at).ok_or("an operand has no such element");
        let mut sum = tile.result().get(&at).ok_or("the result has no such element")?.as_i64() as i32;
        for k in 0..count {
            let (left, right) = (value(&a, [k, at[1].into()])?, value(&b, [at[0].into(), k])?);
            sum = sum.wrapping_add(left.wrapping_mul(right));
        }
        tile.result_mut().set(&at, sum.into())?;
    }
    Ok(())
}

fn set() -> InstructionSet {
    InstructionSet::built_in().with(product()).unwrap()
}

/// `out(x, y) = sum of left(r, y) * right(x, r)`, whose factors are stored in ways that schedules say.
fn matrices(shared: i32) -> Pipeline {
    let (a, b) = (ImageParam::new("left", I32, 2), ImageParam::new("right", I32, 2));
    let (x, y, mut right, mut sum, mut out) =
        (Var::new("x"), Var::new("y"), Func::new("right_copy"), Func::new("sum"), Func::new("out"));
    let r = RDom::named("r", [(0, shared)]);
    right[(x, y)] = b[(x, y)] + 1;
    sum[(x, y)] = x * 3 + y;
    sum[(x, y)] += right[(x, r.x)] * a[(r.x, y)];
    out[(x, y)] = sum[(x, y)] * 2;
    Pipeline::new([&out]).unwrap()
}

const AT_ROOT: &str = "
    right_copy: compute_root()
    sum: compute_root() bound(x, 0, 24) bound(y, 0, 10)
    sum.update(0): split(x, xo, xi, 8) split(y, yo, yi, 5) split(r.x, ro, ri, 4) reorder(ri, xi, yi, ro, xo, yo)
        use(product, j=xi, i=yi, k.x=ri)";

const IN_TILES: &str = "
    right_copy: compute_at(out, yo) store_root()
    sum: compute_at(out, xo)
    sum.update(0): split(r.x, ro, ri, 4) split(x, xo, xi, 8) split(y, yo, yi, 2) reorder(xi, ri, yi, ro, xo, yo)
        use(product, j=xi, i=yi, k.x=ri)
    sum: bound_extent(x, 8) bound_extent(y, 2)
    out: split(x, xo, xi, 8) split(y, yo, yi, 2) reorder(xi, yi, xo, yo) parallel(yo) vectorize(xi)";

fn images(shared: i64) -> [(&'static str, AnyBuffer); 2] {
    let image = |extents: [i64; 2], seed| noise(I32, &Region::of_extents(extents), seed);
    [("left", image([shared, 20], 3)), ("right", image([48, shared], 4))]
}

fn compiled(pipeline: &Pipeline, schedule: &str, engine: Engine) -> Result<Compiled, Error> {
    let schedule: Schedule = schedule.parse().unwrap_or_else(|error| panic!("{error}"));
    Compiler::new(pipeline).instructions(&set()).schedule(&schedule).engine(engine).compile()
}

fn run(compiled: &Compiled, shared: i64, size: [i64; 2]) -> Result<Vec<AnyBuffer>, Error> {
    let call = images(shared).into_iter().fold(compiled.inputs(), |call, (name, image)| call.image_named(name, image));
    call.realize_all(&[Region::of_extents(size)])
}

#[test]
fn closures_compute_tiles_on_every_engine() {
    let pipeline = matrices(12);
    let reference = Compiler::new(&pipeline).engine(Engine::Interp).compile().unwrap();
    // Memory of the tiles is allocated once, and of their operand for two iterations.
    let hoisted = format!("{IN_TILES}\nsum: hoist_storage(out, yo)");
    let ahead =
        format!("{AT_ROOT}\nright_copy: compute_at(sum.update(0), ro) store_root() hoist_storage_root() async()");
    // Several variants of a stage use the instruction by one directive.
    let variants = format!("{AT_ROOT}\nsum.update(0).specialize(left.extent(0) > 5): parallel(yo)");
    let unlike = format!("{AT_ROOT}\nsum.update(0).specialize(left.extent(0) > 99): parallel(yo)");
    let of_variants = [(&*variants, [24, 10]), (&*unlike, [24, 10])];
    let all =
        [(AT_ROOT, [24, 10]), (IN_TILES, [24, 10]), (IN_TILES, [16, 7]), (&hoisted, [24, 10]), (&ahead, [24, 10])];
    for (schedule, size) in all.into_iter().chain(of_variants) {
        let wanted = run(&reference, 12, size).unwrap();
        for engine in [Engine::Interp, Engine::Eval, Engine::Cpu] {
            let made = compiled(&pipeline, schedule, engine).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(
                run(&made, 12, size).unwrap_or_else(|error| panic!("{engine:?}: {error}")),
                wanted,
                "{engine:?}"
            );
        }
    }
}

#[test]
fn calls_are_explained_and_shown_in_place_of_loops() {
    let made = compiled(&matrices(12), AT_ROOT, Engine::Cpu).unwrap_or_else(|error| panic!("{error}"));
    let explained = made.explain().unwrap();
    let line = "sum.update(0): `product` in loops xi, yi, ri, which are a call of its closure";
    assert!(explained.contains(line), "{explained}");
    let ir = made.ir().unwrap();
    assert!(ir.contains("callee callee0 = \"product\" (b4, b1, b3) results 1 updates params ()"), "{ir}");
    assert!(ir.contains("call callee0 sum#b4 [t") && !ir.contains("for \"sum.update(0).xi\""), "{ir}");
}

fn refused(schedule: &str) -> String {
    match compiled(&matrices(12), schedule, Engine::Cpu) {
        Ok(_) => panic!("this is taken: {schedule}"),
        Err(error) => error.to_string(),
    }
}

/// The stage with the instruction in loops of these extents, and other lines.
fn with(lines: &str) -> String {
    format!("right_copy: compute_root()\nsum: compute_root()\n{AT_ROOT}\n{lines}")
}

#[test]
fn what_stands_in_the_loops_of_a_call_is_refused() {
    for (lines, why) in [
        ("sum.update(0): vectorize(xo)", "the loop `xo` around it runs in lanes or on a device"),
        ("sum.update(0): atomic()", "the stage is atomic"),
        ("right_copy: compute_at(sum.update(0), xi)", "`right_copy` has its place in the loop `xi` of it"),
        ("right_copy: split_storage(x, xo, xi, 4)", "`right_copy` is stored in blocks"),
        (
            "right_copy: fold_storage(y, 4) store_root() compute_at(sum.update(0), ro)",
            "`right_copy` is stored in a circle",
        ),
        ("sum.update(0): prefetch(right_copy, ri, ro, 1)", "`right_copy` is prefetched in a loop of it"),
    ] {
        let text = refused(&with(lines));
        assert!(text.contains("a closure computes instruction `product`, and ") && text.contains(why), "{text}");
    }
    // Loops that end early have no whole tiles.
    let guarded = AT_ROOT.replace("bound(x, 0, 24)", "bound(x, 0, 23)");
    let text = refused(&guarded);
    assert!(text.contains("a guard against iterations beyond the end of `x`"), "{text}");
}

#[test]
fn instructions_of_closures_ask_for_no_code() {
    let (a, j, mut c) = (ImageParam::new("a", I32, 1), Var::new("j"), Func::new("c"));
    c[j] = a[j] * 3;
    let meaning = Pipeline::new([&c]).unwrap();
    let triple = || Instruction::new("triple", &meaning).calls(|_| Ok(()));
    let with = |made: Instruction| InstructionSet::new().with(made).map(drop).map_err(|error| error.to_string());
    let lanes = with(triple().axis("j", Extents::Any, LoopKind::Vectorized)).unwrap_err();
    assert!(lanes.contains("a closure computes instruction `triple`, whose code has no loop over axis `j`"), "{lanes}");
    let named = with(triple().axis("j", Extents::Any, LoopKind::Serial).emits("vpmulld")).unwrap_err();
    assert!(named.contains("whose code has no `vpmulld`"), "{named}");
    assert_eq!(with(triple().axis("j", Extents::Any, LoopKind::Serial)), Ok(()));
}

/// A closure that fails, panics, or puts a buffer of another size in the place of its result.
#[test]
fn faults_of_closures_name_the_instruction() {
    let (a, j, mut c) = (ImageParam::new("a", I32, 1), Var::new("j"), Func::new("c"));
    c[j] = a[j] * 3;
    let meaning = Pipeline::new([&c]).unwrap();
    type Compute = fn(&mut Tile<'_>) -> ExternResult<()>;
    let cases: [(Compute, &str); 4] = [
        (|_| Err("no luck".into()), "no luck"),
        (|tile| tile.operand("b").map(drop), "there is no operand `b`, but a"),
        (|_| panic!("oh no"), "oh no"),
        (
            |tile| {
                *tile.result_mut() = AnyBuffer::new(I32, [3])?;
                Ok(())
            },
            "of another",
        ),
    ];
    for (compute, why) in cases {
        let triple =
            Instruction::new("triple", &meaning).axis("j", Extents::Exactly(4), LoopKind::Serial).calls(compute);
        let set = InstructionSet::new().with(triple).unwrap();
        let schedule: Schedule = "c: split(j, jo, ji, 4) bound_extent(j, 8) use(triple, j=ji)".parse().unwrap();
        for engine in [Engine::Cpu, Engine::Eval] {
            let made = Compiler::new(&meaning).instructions(&set).schedule(&schedule).engine(engine).compile().unwrap();
            let call = made.inputs().image_named("a", AnyBuffer::new(I32, [8]).unwrap());
            let error = call.realize_all(&[Region::of_extents([8])]).unwrap_err().to_string();
            assert!(error.contains("triple") && error.contains(why), "{engine:?}: {error}");
        }
    }
}

/// A closure that gives other values than its meaning has: what reads memory by them is an error, not a wild read.
#[test]
fn values_that_no_meaning_has_are_no_wild_reads() {
    let (a, table) = (ImageParam::new("a", I32, 1), ImageParam::new("table", I32, 1));
    let (j, mut c) = (Var::new("j"), Func::new("c"));
    c[j] = a[j] % 4;
    let meaning = Pipeline::new([&c]).unwrap();
    let wrong = Instruction::new("wrong", &meaning).axis("j", Extents::Exactly(4), LoopKind::Serial).calls(|tile| {
        tile.result_mut().fill(1_000_000i32.into())?;
        Ok(())
    });
    let set = InstructionSet::new().with(wrong).unwrap();
    let (input, x, mut f, mut out) =
        (ImageParam::new("input", I32, 1), Var::new("x"), Func::new("f"), Func::new("out"));
    f[x] = input[x] % 4;
    out[x] = table[f[x]] + 1;
    let pipeline = Pipeline::new([&out]).unwrap();
    let text = "f: compute_root() bound_extent(x, 8) split(x, xo, xi, 4) use(wrong, j=xi)\nout: vectorize(x, 8)";
    let schedule: Schedule = text.parse().unwrap();
    for engine in [Engine::Cpu, Engine::Eval] {
        let made = Compiler::new(&pipeline).instructions(&set).schedule(&schedule).engine(engine).compile().unwrap();
        let image = |n: i64| AnyBuffer::new(I32, [n]).unwrap();
        let call = made.inputs().image_named("input", image(8)).image_named("table", image(4));
        let ran = call.realize_all(&[Region::of_extents([8])]);
        assert!(ran.is_err(), "{engine:?}: {ran:?}");
    }
}
