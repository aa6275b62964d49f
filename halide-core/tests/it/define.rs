//! Building and freezing: what users write becomes what they meant, or every mistake at once.

use halide_core::expr::*;
use halide_core::pipeline::Kind;
use halide_core::types::*;
use halide_core::{Expr, Func, ImageParam, Param, Pipeline, RDom, vars};

#[test]
fn blur_freezes_to_two_funcs_and_an_image() {
    let input = ImageParam::new("input", U16, 2);
    let (x, y) = vars!(x, y);
    let (mut blur_x, mut blur_y) = (Func::new("blur_x"), Func::new("blur_y"));
    blur_x[(x, y)] = (input[(x, y)] + input[(x + 1, y)] + input[(x + 2, y)]) / 3;
    blur_y[(x, y)] = (blur_x[(x, y)] + blur_x[(x, y + 1)] + blur_x[(x, y + 2)]) / 3;
    let p = Pipeline::new([&blur_y]).unwrap();
    let names: Vec<&str> = p.funcs.iter().map(|f| f.name.as_str()).collect();
    assert_eq!(names, ["blur_x", "blur_y"]);
    assert_eq!(p.images.len(), 1);
    assert_eq!(p.funcs.iter().map(|f| f.types.clone()).collect::<Vec<_>>(), [[U16], [U16]]);
    for (id, node) in p.exprs.enumerate() {
        assert!(node.kind.children().iter().all(|c| *c < id), "children stand before {id:?}");
    }
}

#[test]
fn updates_scatter_and_scan() {
    let input = ImageParam::new("input", U8, 2);
    let i = vars!(i);
    let r = RDom::over(&input);
    let mut hist = Func::new("hist");
    hist[i] = 0u32.expr();
    hist[input[(r.x, r.y)]] += 1;
    let s = RDom::named("s", [(1, 255)]);
    let mut cdf = Func::new("cdf");
    cdf[i] = hist[i];
    cdf[s.x] = cdf[s.x - 1] + hist[s.x];
    let p = Pipeline::new([&cdf]).unwrap();
    assert_eq!(p.funcs.iter().map(|f| f.stages.len()).collect::<Vec<_>>(), [2, 2]);
    let update = &p.funcs[p.order[0]].stages[1];
    assert!(matches!(p.exprs[update.args[0]].kind, Kind::Cast(_)), "a u8 coordinate is data, converted");
}

#[test]
fn mistakes_come_back_all_at_once_with_places() {
    let (x, y) = vars!(x, y);
    let input = ImageParam::new("input", U8, 2);
    let mut f = Func::new("f");
    f[(x, y)] = input[(x, y)] + 300;
    let mut g = Func::new("g");
    g[x] = f[x] + y;
    let mut k = Func::new("k");
    k[x] = x + y;
    let undefined = Func::new("undefined");
    let mut h = Func::new("h");
    h[x] = undefined[x] + g[x] + k[x];
    let errors = Pipeline::new([&h]).unwrap_err();
    let text = errors.to_string();
    assert!(text.contains("the literal 300 meets u8"), "{text}");
    assert!(text.contains("`f` has 2 dimensions but 1 coordinate is given"), "{text}");
    assert!(text.contains("`undefined` is read before it has a definition"), "{text}");
    assert!(text.contains("a definition of `k` uses `y`"), "{text}");
    assert!(text.contains("define.rs:"), "{text}");
}

#[test]
fn pipelines_built_for_ever_do_not_grow_the_arena() {
    let mut most = 0;
    for _ in 0..10_000 {
        let (x, y) = vars!(x, y);
        let mut f = Func::new("f");
        f[(x, y)] = (0..8).fold(x + y, |e, k| e * 3 + k);
        let mut g = Func::new("g");
        g[(x, y)] = f[(x, y)] + f[(x + 1, y)];
        Pipeline::new([&g]).unwrap();
        most = most.max(halide_core::live_nodes());
    }
    assert!(most <= 700_000, "{most} nodes alive");
}

/// The compiler suggests `.into()` where a literal is assigned, and it is there for all that stands in expressions.
#[test]
fn what_stands_in_an_expression_is_assigned_by_into_or_by_define() {
    let (x, c) = vars!(x, c);
    let r = RDom::new([(0, 10)]);
    let gain = Param::<f32>::new("gain");
    let (mut by_into, mut by_define) = (Func::new("hist"), Func::new("hist"));
    by_into[(x, c)] = 0u32.into();
    by_define.define((x, c), 0u32);
    by_into[(r.x, 1)] = 7u32.into();
    by_define.define((r.x, 1), 7u32);
    let text = |f: &Func| Pipeline::new([f]).unwrap().to_string();
    assert_eq!(text(&by_into), text(&by_define));
    assert_eq!(by_define.updates(), 1);
    let all: [Expr; 16] = [
        1i8.into(),
        1i16.into(),
        1i32.into(),
        1i64.into(),
        1u8.into(),
        1u16.into(),
        1u32.into(),
        1u64.into(),
        1f32.into(),
        1f64.into(),
        true.into(),
        x.into(),
        r.x.into(),
        (&r).into(),
        gain.into(),
        (&x.expr()).into(),
    ];
    let types = [I8, I16, I32, I64, U8, U16, U32, U64, F32, F64, Bool, I32, I32, I32, F32, I32];
    assert_eq!(all.map(|e| e.ty()), types.map(Some));
    let mut own = Func::new("own");
    own.define(x, 1);
    own.define(r.x, own[r.x] + own[0]);
    assert!(Pipeline::new([&own]).is_ok(), "a value may read the Func");
    let mut late = Func::new("late");
    late.define(x, own[x] + by_define[(x, 0, 0)]);
    let errors = Pipeline::new([&late]).unwrap_err().to_string();
    assert!(errors.contains("define.rs:"), "places are those of the caller: {errors}");
}
