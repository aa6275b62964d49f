//! Reasons that there is no gradient, as text.

use halide::externs::Extern;
use halide::prelude::*;

/// The text of the reasons, without the places.
fn refused(outputs: &[&Func], loss: &str, by: &[&str]) -> String {
    refused_over(outputs, loss, by, &[])
}

fn refused_over(outputs: &[&Func], loss: &str, by: &[&str], regions: &[(&str, &[(i32, i32)])]) -> String {
    let pipeline = Pipeline::new(outputs.iter().copied()).unwrap();
    let errors = pipeline.adjoints_over(loss, by, regions).unwrap_err();
    for error in &errors.0 {
        assert!(error.at.file == file!(), "{error}");
    }
    let text: Vec<String> =
        errors.0.iter().map(|e| format!("{}\n  help: {}", e.kind.reason(), e.kind.help())).collect();
    text.join("\n")
}

fn input() -> ImageParam {
    ImageParam::new("input", F32, 1)
}

/// A loss that sums up what an expression is over an RDom of 4 elements.
fn total(name: &str, value: impl Fn(&RDom) -> Expr) -> Func {
    let (mut loss, r) = (Func::new(name), RDom::new([(0, 4)]));
    loss[()] += value(&r);
    loss
}

#[test]
fn names_types_and_dimensions() {
    let (bytes, x) = (ImageParam::new("bytes", U8, 1), Var::new("x"));
    let mut wide = Func::new("wide");
    wide[x] = input()[x] * 2.0;
    let loss = total("loss", |r| wide[r.x] + cast::<f32>(bytes[r.x]));
    assert_eq!(
        refused(&[&loss], "lost", &["inputs", "bytes", "input", "input"]),
        "the pipeline has no Func `lost`; it has `wide`, `loss`
  help: name a Func of the pipeline, as `Func::new` does
the pipeline has no image or parameter `inputs`; it has `input`, `bytes`
  help: name an image or a parameter that the outputs depend on
the gradient by `input` is asked for twice
  help: name each input once
`bytes` is u8, and a loss has no gradient by integers
  help: make `bytes` an input of floats, and cast what is stored in it"
    );
    assert_eq!(
        refused(&[&loss], "wide", &[]),
        "gradients by no input are asked for
  help: name at least one image or parameter
the loss `wide` has 1 dimension, so it is not one number
  help: sum it in a Func without dimensions, `total[()] += wide[(r.x, ..)]`; or give its region to `adjoints_over`, \
and the loss is the sum of its elements"
    );
    assert_eq!(
        refused_over(&[&loss], "loss", &["input"], &[("wide", &[(0, 1), (0, 1)])]),
        "`wide` has 1 dimension but a region of 2 is given
  help: give `(min, extent)` for each dimension"
    );
    let (mut pair, mut whole) = (Func::new("pair"), Func::new("whole"));
    pair[()] = tuple([input()[0], input()[1]]);
    whole[()] = cast::<i32>(input()[0]);
    assert_eq!(
        refused(&[&pair], "pair", &["input"]),
        "the loss `pair` is a tuple of 2 elements
  help: name a Func of one element: define one of `.at(i)` of the tuple"
    );
    assert_eq!(
        refused(&[&whole], "whole", &["input"]),
        "the loss `whole` is i32, which is no float
  help: cast its value to f32 or f64"
    );
}

#[test]
fn updates_that_are_neither_sums_nor_recurrences() {
    let x = Var::new("x");
    let updates: [fn(&mut Func, &RDom, Var); 8] = [
        |f, r, x| f[x] *= input()[r.x],
        |f, r, x| {
            let largest = max(f[x], input()[r.x]);
            f[x] = largest;
        },
        |f, r, _| f[r.x / 2] = input()[r.x].expr(),
        |f, r, _| {
            let next = f[r.x + 1].expr();
            f[r.x] = next * 0.5 + input()[r.x];
        },
        |f, r, _| {
            let more = f[r.x - 1] * 0.5 + f[r.x - 2] * 0.25;
            f[r.x] += more;
        },
        |f, r, _| {
            let more = select(f[r.x].gt(1.0), input()[r.x], 0.0);
            f[r.x] += more;
        },
        |f, r, x| {
            let chosen = select(input()[r.x].gt(0.0), f[x] + input()[r.x], f[x] * 2.0);
            f[x] = chosen;
        },
        |f, r, x| {
            let more = f[x] * input()[r.x];
            f[x] += more;
        },
    ];
    for update in updates {
        let (mut f, r) = (Func::new("f"), RDom::new([(1, 3)]));
        f[x] = input()[x];
        update(&mut f, &r, x);
        let loss = total("loss", |r| f[r.x].expr());
        assert_eq!(
            refused(&[&loss], "loss", &["input"]),
            "update 1 of `f` is neither a sum, nor stores each element once, from at most one that it has stored before
  help: write `f[..] += e`, where `e` does not read `f`; or as the last update a recurrence along one variable, such \
as `f[r] = f[r - 1] * c + e`; or a Func of its own for each step"
        );
    }
    // Updates that do not depend on the input are nobody's business.
    let (mut f, r) = (Func::new("f"), RDom::new([(1, 3)]));
    f[x] = cast::<f32>(x);
    let before = f[r.x + 1] * f[r.x + 2];
    f[r.x] = before;
    let loss = total("loss", |r| f[r.x] * input()[r.x]);
    assert!(Pipeline::new([&loss]).unwrap().adjoints("loss", &["input"]).is_ok());
}

#[test]
fn sites_bits_and_buffers() {
    let x = Var::new("x");
    let mut f = Func::new("f");
    f[x] = input()[x];
    f[scatter([0, 1])] = gather([input()[0], input()[1]]);
    let loss = total("loss", |r| f[r.x].expr());
    assert_eq!(
        refused(&[&loss], "loss", &["input"]),
        "an update of `f` stores to several sites at once
  help: write one update for each site"
    );
    let mut f = Func::new("f");
    f[x] = reinterpret::<f32>(reinterpret::<u32>(input()[x]) + 1) + reinterpret::<f32>(input()[x]);
    let loss = total("loss", |r| f[r.x].expr());
    assert_eq!(
        refused(&[&loss], "loss", &["input"]),
        "`reinterpret` in a definition of `f` has no derivative
  help: keep it out of what depends on the inputs, or write the value by arithmetic"
    );
    let mut kept = Func::new("kept");
    kept[x] = select(x.expr().lt(2), input()[x], undef::<f32>());
    let loss = total("loss", |r| kept[r.x] * kept[r.x]);
    assert_eq!(
        refused(&[&loss, &kept], "loss", &["input"]),
        "gradients need `kept`, which leaves elements as its buffer holds them
  help: give all elements a value in the first definition"
    );
}

#[test]
fn points_that_nothing_bounds() {
    let (x, index) = (Var::new("x"), ImageParam::new("index", I32, 1));
    let mut f = Func::new("f");
    f[x] = input()[clamp(x, 0, 3)];
    let loss = total("loss", |r| f[index[r.x]].expr());
    assert_eq!(
        refused(&[&loss], "loss", &["input"]),
        "the gradient by `input` is a sum over `x` of `f`, and nothing known before the run bounds it
  help: clamp the coordinates at which `f` is read, or give its region to `adjoints_over`"
    );
    let pipeline = Pipeline::new([&loss]).unwrap();
    let gradients = pipeline.adjoints_over("loss", &["input"], &[("f", &[(-5, 11)])]).unwrap();
    let compiled = gradients.compile(&"d_f: compute_root()".parse().unwrap(), &Target::host()).unwrap();
    let index = Buffer::from_slice([4], &[5i32, -5, 1, 1]).unwrap();
    let call = compiled.inputs().image_named("index", index);
    assert_eq!(call.realize::<f32>([4]).unwrap().to_vec(), [1.0, 2.0, 0.0, 1.0]);
    // Clamped or narrow data is bounded.
    let bytes = ImageParam::new("bytes", U8, 1);
    for coordinate in [clamp(index_of(&ImageParam::new("index", I32, 1)), -2, 7), cast::<i32>(bytes[0])] {
        let loss = total("loss", |r| f[coordinate] * cast::<f32>(r.x));
        assert!(Pipeline::new([&loss]).unwrap().adjoints("loss", &["input"]).is_ok());
    }
}

fn index_of(image: &ImageParam) -> Expr {
    image[0].expr()
}

#[test]
fn sums_of_too_many_variables() {
    let (a, b, c, d, e, g) = vars!(a, b, c, d, e, g);
    let mut f = Func::new("f");
    let r = RDom::new([(0, 2), (0, 2), (0, 2), (0, 2)]);
    f[(a, b, c, d, e, g)] += input()[r.x] * input()[r.y] * cast::<f32>(r.z + r.w);
    let loss = total("loss", |r| f[(r.x, 0, 0, 0, 0, 0)].expr());
    assert_eq!(
        refused(&[&loss], "loss", &["input"]),
        "the gradient by `input` is a sum over 9 variables of `f`; at most 8 are possible
  help: write the definition with fewer variables, in several Funcs"
    );
}

#[test]
fn places_are_those_of_definitions() {
    let x = Var::new("x");
    let mut f = Func::new("f");
    f[x] = input()[x];
    let line = line!() + 1;
    f[x] *= 2.0;
    let loss = total("loss", |r| f[r.x].expr());
    let errors = Pipeline::new([&loss]).unwrap().adjoints("loss", &["input"]).unwrap_err();
    let text = Error::from(errors).to_string();
    assert!(text.starts_with(&format!("{}:{line}:6: update 1 of `f` is neither", file!())), "{text}");
}

#[test]
fn values_of_extern_stages() {
    let (x, source) = (Var::new("x"), input());
    let mut f = Func::new("f");
    f[x] = source[x] * 2.0;
    let turned = Extern::new("turn", [F32], 1).input(&f).compute(|_| Ok(()));
    let loss = total("loss", |r| turned[r.x] * f[r.x]);
    assert_eq!(
        refused(&[&loss], "loss", &["input"]),
        "gradients need values of the extern stage `turn`
  help: give its results as an image of their own, of another pipeline"
    );
}
