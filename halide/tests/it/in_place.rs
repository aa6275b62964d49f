//! Outputs in the memory of inputs: the same results as with a copy, or a reason why not.

use crate::engines_agree::noise;
use halide::prelude::*;

const ENGINES: [Engine; 3] = [Engine::Interp, Engine::Eval, crate::CPU];

/// In place and with a copy, on every engine, over odd regions that are a part of a larger buffer.
#[track_caller]
fn check(pipeline: &Pipeline, schedules: &[&str], ty: ScalarType) {
    for text in schedules {
        let schedule: Schedule = text.parse().unwrap();
        for (w, h) in [(1, 1), (5, 3), (16, 9), (37, 12)] {
            let region = Region::of_spans([(-3, w), (2, h)]);
            let image = noise(ty, &Region::of_spans([(-4, w + 7), (2, h + 1)]), 17);
            let reference = Compiler::new(pipeline).engine(Engine::Interp).compile().unwrap();
            let cropped = image.crop(&region).unwrap();
            let call = reference.inputs().image_named("input", cropped);
            let expected = call.realize_all(std::slice::from_ref(&region)).unwrap().swap_remove(0);
            for engine in ENGINES {
                let compiled = Compiler::new(pipeline).engine(engine).schedule(&schedule).compile().unwrap();
                let mut memory = image.compact().unwrap();
                let view = memory.view_mut().unwrap().crop(&region).unwrap();
                let call = compiled.inputs().in_place_named("input", 0).threads(2);
                call.realize_all_into(&mut [view]).unwrap_or_else(|e| panic!("{text}\n{engine:?}: {e}"));
                assert_eq!(
                    memory.crop(&region).unwrap().first_difference(&expected),
                    None,
                    "{text}\n{engine:?} {w}x{h}"
                );
                for at in memory.coords().filter(|at| !region.contains(at)) {
                    assert_eq!(memory.get(&at), image.get(&at), "{text}: what is beside the output stays");
                }
            }
        }
    }
}

#[test]
fn points_that_read_themselves() {
    let input = ImageParam::new("input", U8, 2);
    let (x, y) = vars!(x, y);
    let (mut bright, mut f) = (Func::new("bright"), Func::new("f"));
    bright[(x, y)] = cast::<u16>(input[(x, y)]) * 3 + cast::<u16>(input[(x, y)] / 2);
    f[(x, y)] = select(input[(x, y)].gt(100), saturating_cast::<u8>(bright[(x, y)]), cast::<u8>(x * 7 + y));
    let schedules = [
        "",
        "f: vectorize(x, 8)",
        "f: vectorize(x, 16) parallel(y)",
        "f: split(x, xo, xi, 5) unroll(xi) reorder(y, xi, xo)",
        "f: tile(x, y, xo, yo, xi, yi, 8, 4) vectorize(xi) unroll(yi) parallel(yo)",
        "f: split(x, xo, xi, 8, Predicate) vectorize(xi)",
        "bright: compute_root() vectorize(x, 8)\n f: vectorize(x, 4)",
    ];
    check(&Pipeline::new([&f]).unwrap(), &schedules, U8);
}

#[test]
fn funcs_that_are_computed_before_may_read_anything() {
    let input = ImageParam::new("input", U16, 2);
    let (x, y) = vars!(x, y);
    let (mut blur, mut f) = (Func::new("blur"), Func::new("f"));
    let inside = repeat_edge(&input);
    blur[(x, y)] = inside[(x - 1, y)] / 2 + inside[(x + 1, y + 1)] / 2;
    f[(x, y)] = blur[(x + 1, y)] - blur[(x, y)] + input[(x, y)];
    let schedules = ["blur: compute_root()", "blur: compute_root() vectorize(x, 8)\n f: vectorize(x, 8) parallel(y)"];
    check(&Pipeline::new([&f]).unwrap(), &schedules, U16);
}

#[test]
fn pipelines_of_updates_only() {
    let input = ImageParam::new("input", I32, 2);
    let (x, y) = vars!(x, y);
    let mut f = Func::new("f");
    // A scan down the columns, then every other column negated: the input is where the output is.
    f[(x, y)] = input[(x, y)];
    let down = RDom::named("down", [(input.dim(1).min() + 1, input.dim(1).extent() - 1)]);
    let above = f[(x, down.x - 1)];
    f[(x, down.x)] += above * 2;
    let across = RDom::named("across", [(0, input.dim(0).extent() / 2)]);
    let column = input.dim(0).min() + across.x * 2;
    f[(column, y)] = -f[(column, y)];
    let pipeline = Pipeline::new([&f]).unwrap();
    let schedules = [
        "",
        "f: vectorize(x, 4)\n f.update(0): vectorize(x, 4) reorder(x, down.x)",
        "f.update(0): parallel(x)\n f.update(1): parallel(y)",
    ];
    check(&pipeline, &schedules, I32);
    // The first definition is not run at all.
    let compiled = pipeline.compile(&Schedule::new(), &Target::host()).unwrap();
    let mut memory = noise(I32, &Region::of_extents([6, 4]), 1);
    compiled.inputs().in_place(&input, 0).realize_all_into(&mut [memory.view_mut().unwrap()]).unwrap();
    assert!(compiled.variants().iter().any(|v| v.in_memory == 1));
}

/// The text of the error of an in-place run of one output, on every engine.
#[track_caller]
fn refused(outputs: &[&Func], schedule: &str, ty: ScalarType) -> String {
    let pipeline = Pipeline::new(outputs.iter().copied()).unwrap();
    let mut texts = Vec::new();
    for engine in ENGINES {
        let compiled = Compiler::new(&pipeline).engine(engine).schedule(&schedule.parse().unwrap()).compile().unwrap();
        let mut memory: Vec<AnyBuffer> = Vec::new();
        for func in &pipeline.outputs {
            let def = &pipeline.funcs[*func];
            memory.extend(def.types.iter().map(|ty| noise(*ty, &Region::of_extents(vec![8; def.dims()]), 3)));
        }
        let before = memory[0].compact().unwrap();
        let mut views: Vec<_> = memory.iter_mut().map(|m| m.view_mut().unwrap()).collect();
        let mut call = compiled.inputs().in_place_named("input", 0);
        if pipeline.images.len() > 1 {
            call = call.image_named("other", noise(ty, &Region::of_extents([8, 8]), 2));
        }
        texts.push(call.realize_all_into(&mut views).unwrap_err().to_string());
        drop(views);
        assert_eq!(memory[0], before, "nothing was written");
    }
    assert!(texts.windows(2).all(|two| two[0] == two[1]), "{texts:?}");
    // Places are those of this file.
    let mut text = texts.swap_remove(0);
    while let Some(start) = text.find("halide/tests/it/in_place.rs:") {
        let rest = &text[start..];
        let end = rest.find(|c: char| c != ':' && !c.is_ascii_digit() && !"halide/tests/it/in_place.rs".contains(c));
        text.replace_range(start..start + end.unwrap_or(rest.len()), "HERE");
    }
    text
}

#[test]
fn what_could_read_its_own_results_is_refused() {
    let input = ImageParam::new("input", U8, 2);
    let (x, y) = vars!(x, y);
    let mut f = Func::new("f");
    f[(x, y)] = input[(x, y)] + input[(x + 1 - 1, y)] + input[(y, x)];
    assert_eq!(
        refused(&[&f], "", U8),
        "`f` cannot be computed in the memory of `input`: the definition at HERE reads `input` at other coordinates than it \
         writes, so it may read what it has overwritten\n  help: give two buffers, or read it in a Func that is computed before, \
         with compute_root()"
    );
    let mut g = Func::new("g");
    g[(x, y)] = input[(x, y)] + 1;
    g[(x, 0)] += input[(x, 1)];
    assert_eq!(
        refused(&[&g], "", U8),
        "`g` cannot be computed in the memory of `input`: update 0, at HERE, reads `input`, which the first definition has \
         overwritten by then\n  help: give two buffers, or read `g` itself in the update"
    );
    let (mut a, mut b) = (Func::new("a"), Func::new("b"));
    a[(x, y)] = input[(x, y)] / 2;
    b[(x, y)] = a[(x, y)] + a[(x, y + 1)];
    assert_eq!(
        refused(&[&b], "a: compute_at(b, y)", U8),
        "`b` cannot be computed in the memory of `input`: `a` reads `input`, at HERE, and is not computed whole before `b` \
         is\n  help: give two buffers, or compute `a` by itself: `a: compute_root()`"
    );
    let mut same = Func::new("same");
    same[(x, y)] = input[(x, y)] + 1;
    assert_eq!(
        refused(&[&same], "same: split(x, xo, xi, 4, ShiftInwards) vectorize(xi)", U8),
        "`same` cannot be computed in the memory of `input`: the split of `x` at schedule:1:7 computes some points twice, the \
         second time of what the first has overwritten\n  help: give two buffers, or split with another tail, as GuardWithIf"
    );
    let mut after = Func::new("after");
    after[(x, y)] = same[(x, y)] + input[(x, y)];
    let text = refused(&[&same, &after], "", U8);
    assert!(
        text.starts_with("`same` cannot be computed in the memory of `input`: `after` reads `input`, at HERE"),
        "{text}"
    );
    // `corner` would be computed first, but for the loops that it shares.
    let (mut ones, mut corner) = (Func::new("ones"), Func::new("corner"));
    ones[(x, y)] = cast::<u8>(1);
    corner[(x, y)] = input[(0, 0)];
    for schedule in ["ones: compute_with(corner, y)", "corner: compute_with(ones, y)", "ones: compute_with(corner, x)"]
    {
        let text = refused(&[&ones, &corner], schedule, U8);
        assert!(
            text.starts_with("`ones` cannot be computed in the memory of `input`: `corner` reads `input`, at HERE"),
            "{text}"
        );
    }
    let mut sure = Func::new("sure");
    sure[(x, y)] = require(input[(x, y)].lt(9), input[(x, y)], ());
    assert_eq!(
        refused(&[&sure], "", U8),
        "`sure` cannot be computed in the memory of `input`: the algorithm requires something of its values, and a run that \
         fails must not have changed its input\n  help: give two buffers"
    );
    let mut wide = Func::new("wide");
    wide[(x, y)] = cast::<u16>(input[(x, y)]);
    assert_eq!(
        refused(&[&wide], "", U8),
        "`wide` cannot be computed in the memory of `input`: one has elements of u16, the other of u8\n  help: give two buffers"
    );
    let mut row = Func::new("row");
    row[x] = input[(x, 0)];
    assert_eq!(
        refused(&[&row], "", U8),
        "`row` cannot be computed in the memory of `input`: one has 1 dimensions, the other 2\n  help: give two buffers"
    );
    let mut two = Func::new("two");
    two[(x, y)] = (input[(x, y)], input[(x, y)] + 1).into();
    assert_eq!(
        refused(&[&two], "", U8),
        "`two` cannot be computed in the memory of `input`: it is a tuple, whose elements are stored one after the other\n  \
         help: give two buffers, or make it several Funcs"
    );
}

#[test]
fn there_must_be_such_an_input_and_such_a_buffer() {
    let input = ImageParam::new("input", U8, 1);
    let x = vars!(x);
    let mut f = Func::new("f");
    f[x] = input[x] + 1;
    let pipeline = Pipeline::new([&f]).unwrap();
    let compiled = pipeline.compile(&Schedule::new(), &Target::host()).unwrap();
    let run = |name: &str, buffer: usize| {
        let mut memory = Buffer::<u8>::new([4]).unwrap();
        let call = compiled.inputs().in_place_named(name, buffer);
        call.realize_into(memory.view_mut().unwrap()).unwrap_err().to_string()
    };
    assert_eq!(run("imput", 0), "the pipeline reads no image `imput`; its images are input");
    assert_eq!(
        run("input", 1),
        "`input` is to be in the memory of output buffer 1, but there are 1; use a smaller number: they are counted from 0"
    );
    let alone = compiled.inputs().in_place(&input, 0).realize::<u8>([4]).unwrap_err().to_string();
    assert_eq!(
        alone,
        "`input` is to be in the memory of an output, but no buffer was given for one; call `realize_into` or \
         `realize_all_into`"
    );
}

/// The values of an input in the memory of an output are as promised, or the run is refused: code relies on them.
#[test]
fn promises_of_what_lies_in_the_output() {
    let (input, table, x) = (ImageParam::new("input", I32, 1), ImageParam::new("table", I32, 1), Var::new("x"));
    input.promise_values(0, 3);
    let mut f = Func::new("f");
    f[x] = table[input[x]];
    let pipeline = Pipeline::new([&f]).unwrap();
    let table = Buffer::from_slice([4], &[10, 11, 12, 13]).unwrap();
    for engine in ENGINES {
        let compiled = Compiler::new(&pipeline).engine(engine).compile().unwrap();
        let run = |elements: [i32; 3]| {
            let mut memory = Buffer::from_slice([3], &elements).unwrap();
            let call = compiled.inputs().in_place_named("input", 0).image_named("table", &table);
            call.realize_into(memory.view_mut().unwrap()).map(|_| memory.to_vec())
        };
        assert_eq!(run([3, 0, 2]).unwrap(), [13, 10, 12], "{engine:?}");
        let text = run([3, 4000, 2]).unwrap_err().to_string();
        assert!(text.contains("`input`") && text.contains("4000"), "{engine:?}: {text}");
    }
}

#[test]
fn alignment_of_what_lies_in_the_output() {
    let (input, x) = (ImageParam::new("input", U8, 1), Var::new("x"));
    input.set_host_alignment(16);
    let mut f = Func::new("f");
    f[x] = input[x] + 1;
    let pipeline = Pipeline::new([&f]).unwrap();
    for engine in ENGINES {
        let compiled = Compiler::new(&pipeline).engine(engine).compile().unwrap();
        for (from, suits) in [(0, true), (16, true), (3, false)] {
            let mut memory = Buffer::<u8>::new([64]).unwrap();
            let view = memory.view_mut().unwrap().crop(&Region::of_spans([(from, 32)])).unwrap();
            let done = compiled.inputs().in_place_named("input", 0).realize_into(view);
            assert_eq!(done.is_ok(), suits, "{engine:?} from {from}: {done:?}");
        }
    }
}

/// An input that is said to be in two buffers is in the later one, on every engine.
#[test]
fn the_later_buffer_of_an_input_counts() {
    let (input, x) = (ImageParam::new("input", I32, 1), Var::new("x"));
    input.promise_values(0, 9);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[x] = input[x] * 2;
    g[x] = input[x] + 1;
    let pipeline = Pipeline::new([&f, &g]).unwrap();
    for engine in ENGINES {
        let compiled = Compiler::new(&pipeline).engine(engine).schedule(&"f: compute_root()".parse().unwrap());
        let compiled = compiled.compile().unwrap();
        let (mut first, mut second) =
            (Buffer::from_slice([2], &[4000, 5000]).unwrap(), Buffer::from_slice([2], &[3, 4]).unwrap());
        let call = compiled.inputs().in_place_named("input", 0).in_place_named("input", 1);
        let views = &mut [first.view_mut().unwrap().into_any(), second.view_mut().unwrap().into_any()];
        call.realize_all_into(views).unwrap_or_else(|e| panic!("{engine:?}: {e}"));
        assert_eq!((first.to_vec(), second.to_vec()), (vec![6, 8], vec![4, 5]), "{engine:?}");
    }
}

/// Only what is in the memory of an input must compute each point once: outputs beside it keep the main variant.
#[test]
fn outputs_beside_one_in_place_keep_their_code() {
    let (count, input) = (ImageParam::new("count", I32, 0), ImageParam::new("input", I32, 1));
    let (x, mut out, mut after, mut next) = (Var::new("x"), Func::new("out"), Func::new("after"), Func::new("next"));
    out[x] = input[x] * count[()];
    after[()] = count[()] + 1;
    next[x] = input[x] + 1;
    let schedule: Schedule = "out: vectorize(x, 8)".parse().unwrap();
    let beside = Pipeline::new([&out, &after]).unwrap().compile(&schedule, &Target::host()).unwrap();
    let schedule: Schedule = "next: vectorize(x, 8)".parse().unwrap();
    let shifted = Pipeline::new([&next]).unwrap().compile(&schedule, &Target::host()).unwrap();
    for (width, kinds) in [(37, 1), (8, 1), (3, 2)] {
        let numbers = Buffer::from_fn(&Region::of_extents([width]), |at| at[0] - 4).unwrap();
        let mut memory = Buffer::from_fn(&Region::of_extents([0i64; 0]), |_| 5).unwrap();
        let mut results = Buffer::<i32>::new([width]).unwrap();
        let call = beside.inputs().image(&input, &numbers).in_place(&count, 1);
        let views = &mut [results.view_mut().unwrap().into_any(), memory.view_mut().unwrap().into_any()];
        call.realize_all_into(views).unwrap();
        assert_eq!(results.to_vec(), (0..width).map(|x| (x - 4) * 5).collect::<Vec<_>>());
        assert_eq!((memory.to_vec(), beside.variants().len()), (vec![6], kinds), "{width}");

        let mut numbers = numbers.into_any();
        let call = shifted.inputs().in_place(&input, 0);
        call.realize_all_into(&mut [numbers.view_mut().unwrap()]).unwrap();
        let found: Buffer<i32> = numbers.try_into().unwrap();
        assert_eq!(found.to_vec(), (0..width).map(|x| x - 3).collect::<Vec<_>>());
    }
    assert!(shifted.variants().iter().any(|key| key.exact_tails), "{:?}", shifted.variants());
}
