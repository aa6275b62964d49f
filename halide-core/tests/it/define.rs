//! Building and freezing: what users write becomes what they meant, or every mistake at once.

use halide_core::expr::*;
use halide_core::pipeline::Kind;
use halide_core::types::*;
use halide_core::{Func, ImageParam, Pipeline, RDom, vars};

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
