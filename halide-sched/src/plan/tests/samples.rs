//! Small frozen pipelines, made by hand.

use halide_core::error::Location;
use halide_core::ids::{ExprId, FuncId, Id, ImageId, ParamId, RDomId, VarId};
use halide_core::ops::BinOp;
use halide_core::pipeline::*;
use halide_core::types::{F32, I32, ScalarType, U16};
use halide_core::value::Scalar;

const AT: Location = Location { file: "sample", line: 1, column: 1 };

/// Makes the tables of a pipeline.
#[derive(Default)]
pub(super) struct Tables {
    data: PipelineData,
}

impl Tables {
    pub(super) fn node(&mut self, kind: Kind, ty: ScalarType) -> ExprId {
        let node = Node { kind, ty };
        let known = self.data.exprs.enumerate().find(|(_, n)| **n == node).map(|(id, _)| id);
        known.unwrap_or_else(|| self.data.exprs.push(node))
    }
    pub(super) fn int(&mut self, value: i32) -> ExprId {
        self.node(Kind::Const(Scalar::int(I32, value.into())), I32)
    }
    pub(super) fn constant(&mut self, ty: ScalarType, value: i32) -> ExprId {
        self.node(Kind::Const(Scalar::int(ty, value.into())), ty)
    }
    /// A pure variable, by name.
    pub(super) fn var(&mut self, name: &str) -> ExprId {
        let id = self.var_id(name);
        self.node(Kind::Var(id), I32)
    }
    fn var_id(&mut self, name: &str) -> VarId {
        match self.data.vars.iter().position(|v| v == name) {
            Some(i) => VarId::new(i),
            None => self.data.vars.push(name.to_string()),
        }
    }
    pub(super) fn bin(&mut self, op: BinOp, a: ExprId, b: ExprId) -> ExprId {
        let ty = if op.is_comparison() { ScalarType::Bool } else { self.data.exprs[a].ty };
        self.node(Kind::Binary(op, a, b), ty)
    }
    pub(super) fn add(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.bin(BinOp::Add, a, b)
    }
    /// `e + by`.
    pub(super) fn plus(&mut self, e: ExprId, by: i32) -> ExprId {
        let by = self.int(by);
        if by == self.int(0) { e } else { self.add(e, by) }
    }
    pub(super) fn call(&mut self, func: FuncId, args: &[ExprId]) -> ExprId {
        self.call_element(func, 0, args)
    }
    pub(super) fn call_element(&mut self, func: FuncId, element: u8, args: &[ExprId]) -> ExprId {
        let ty = self.data.funcs[func].types[element as usize];
        self.node(Kind::Call { func, element, args: args.to_vec() }, ty)
    }
    pub(super) fn image(&mut self, name: &str, ty: ScalarType, dims: usize) -> ImageId {
        self.data.images.push(ImageDef {
            name: name.to_string(),
            ty,
            dims,
            values: Default::default(),
            coordinates: Vec::new(),
            at: AT,
        })
    }
    pub(super) fn pixel(&mut self, image: ImageId, args: &[ExprId]) -> ExprId {
        let ty = self.data.images[image].ty;
        self.node(Kind::Image { image, args: args.to_vec() }, ty)
    }
    pub(super) fn param(&mut self, name: &str, ty: ScalarType) -> ParamId {
        self.data.params.push(ParamDef { name: name.to_string(), ty, default: None, min: None, max: None, at: AT })
    }
    /// A domain of constant or computed extents, from 0; its variables are called `r.x`, `r.y`, ...
    pub(super) fn rdom(&mut self, name: &str, extents: &[ExprId]) -> RDomId {
        let zero = self.int(0);
        let dim = |(i, &extent): (usize, &ExprId)| {
            let name = format!("{name}.{}", ["x", "y", "z", "w"][i]);
            RVarDef { said: name.clone(), name, min: zero, extent }
        };
        let dims = extents.iter().enumerate().map(dim).collect();
        self.data.rdoms.push(RDomDef { name: name.to_string(), dims, predicate: None })
    }
    pub(super) fn rvar(&mut self, rdom: RDomId, dim: u8) -> ExprId {
        self.node(Kind::RVar { rdom, dim }, I32)
    }
    /// A Func with a pure definition; Funcs are added producers first.
    pub(super) fn func(&mut self, name: &str, args: &[&str], values: &[ExprId]) -> FuncId {
        let vars: Vec<VarId> = args.iter().map(|a| self.var_id(a)).collect();
        let coordinates = vars.iter().map(|&v| self.node(Kind::Var(v), I32)).collect();
        let types = values.iter().map(|&v| self.data.exprs[v].ty).collect();
        let stages = vec![StageDef { args: coordinates, values: values.to_vec(), rdom: None, at: AT }];
        let (name, said) = (name.to_string(), name.to_string());
        let func = self.data.funcs.push(FuncDef { name, said, args: vars, types, stages, at: AT });
        self.data.order.push(func);
        func
    }
    pub(super) fn update(&mut self, func: FuncId, args: &[ExprId], values: &[ExprId], rdom: Option<RDomId>) {
        let stage = StageDef { args: args.to_vec(), values: values.to_vec(), rdom, at: AT };
        self.data.funcs[func].stages.push(stage);
    }
    pub(super) fn pipeline(mut self, outputs: &[FuncId]) -> Pipeline {
        self.data.outputs = outputs.to_vec();
        Pipeline::from_data(self.data)
    }
}

/// `blur_x` along x and `blur_y` of it along y; parameters `p` (i32), `fast` (bool) and `gain` (f32).
pub(super) fn blur() -> Pipeline {
    let mut t = Tables::default();
    let input = t.image("input", U16, 2);
    t.param("p", I32);
    t.param("fast", ScalarType::Bool);
    t.param("gain", F32);
    let (x, y) = (t.var("x"), t.var("y"));
    let mut sum = t.pixel(input, &[x, y]);
    for i in 1..3 {
        let at = t.plus(x, i);
        let next = t.pixel(input, &[at, y]);
        sum = t.add(sum, next);
    }
    let three = t.constant(U16, 3);
    let value = t.bin(BinOp::Div, sum, three);
    let blur_x = t.func("blur_x", &["x", "y"], &[value]);
    let mut sum = t.call(blur_x, &[x, y]);
    for i in 1..3 {
        let at = t.plus(y, i);
        let next = t.call(blur_x, &[x, at]);
        sum = t.add(sum, next);
    }
    let value = t.bin(BinOp::Div, sum, three);
    let blur_y = t.func("blur_y", &["x", "y"], &[value]);
    t.pipeline(&[blur_y])
}

/// `hist(i) += 1` at pixels over a 640 x 480 domain, its running sum `cdf`, and `out`, which looks up `cdf`.
pub(super) fn histogram() -> Pipeline {
    let mut t = Tables::default();
    let input = t.image("input", U16, 2);
    let (x, y, i) = (t.var("x"), t.var("y"), t.var("i"));
    let zero = t.int(0);
    let hist = t.func("hist", &["i"], &[zero]);
    let (w, h) = (t.int(640), t.int(480));
    let r = t.rdom("r", &[w, h]);
    let (rx, ry) = (t.rvar(r, 0), t.rvar(r, 1));
    let pixel = t.pixel(input, &[rx, ry]);
    let bin = t.node(Kind::Cast(pixel), I32);
    let old = t.call(hist, &[bin]);
    let new = t.plus(old, 1);
    t.update(hist, &[bin], &[new], Some(r));
    let value = t.call(hist, &[i]);
    let cdf = t.func("cdf", &["i"], &[value]);
    let n = t.int(255);
    let s = t.rdom("s", &[n]);
    let sx = t.rvar(s, 0);
    let (at, before) = (t.plus(sx, 1), sx);
    let (a, b) = (t.call(cdf, &[at]), t.call(cdf, &[before]));
    let sum = t.add(a, b);
    t.update(cdf, &[at], &[sum], Some(s));
    let pixel = t.pixel(input, &[x, y]);
    let index = t.node(Kind::Cast(pixel), I32);
    let value = t.call(cdf, &[index]);
    let out = t.func("out", &["x", "y"], &[value]);
    t.pipeline(&[out])
}

/// `down` halves `input` in both directions, `up` doubles it again, `out` is the difference to `base`, a copy.
pub(super) fn pyramid() -> Pipeline {
    let mut t = Tables::default();
    let input = t.image("input", F32, 2);
    let (x, y) = (t.var("x"), t.var("y"));
    let pixel = t.pixel(input, &[x, y]);
    let base = t.func("base", &["x", "y"], &[pixel]);
    let two = t.int(2);
    let (x2, y2) = (t.bin(BinOp::Mul, x, two), t.bin(BinOp::Mul, y, two));
    let (x3, y3) = (t.plus(x2, 1), t.plus(y2, 1));
    let (a, b) = (t.call(base, &[x2, y2]), t.call(base, &[x3, y3]));
    let sum = t.add(a, b);
    let down = t.func("down", &["x", "y"], &[sum]);
    let (xh, yh) = (t.bin(BinOp::Div, x, two), t.bin(BinOp::Div, y, two));
    let value = t.call(down, &[xh, yh]);
    let up = t.func("up", &["x", "y"], &[value]);
    let (a, b) = (t.call(base, &[x, y]), t.call(up, &[x, y]));
    let value = t.bin(BinOp::Sub, a, b);
    let out = t.func("out", &["x", "y"], &[value]);
    t.pipeline(&[out])
}

/// Updates of many kinds on `f(x, y)` of type `ty`, which is the output: `f(x, y) += r.x * r.y`-like sums over a domain
/// of 8 x `p`, then `f(x, r.x) = f(x, r.x - 1)`-like scans, then `f(2 * r.x + 1, y) = 7`, then `f(r.x + r.y, y) -= 1`.
pub(super) fn updates(ty: ScalarType) -> Pipeline {
    let mut t = Tables::default();
    let p = t.param("p", I32);
    let (x, y) = (t.var("x"), t.var("y"));
    let zero = t.constant(ty, 0);
    let f = t.func("f", &["x", "y"], &[zero]);
    let (eight, p) = (t.int(8), t.node(Kind::Param(p), I32));
    let r = t.rdom("r", &[eight, p]);
    let (rx, ry) = (t.rvar(r, 0), t.rvar(r, 1));
    let product = t.bin(BinOp::Mul, rx, ry);
    let product = t.node(Kind::Cast(product), ty);
    let old = t.call(f, &[x, y]);
    let new = t.add(old, product);
    t.update(f, &[x, y], &[new], Some(r));
    let before = t.plus(rx, -1);
    let old = t.call(f, &[x, before]);
    t.update(f, &[x, rx], &[old], Some(r));
    let (two, seven) = (t.int(2), t.constant(ty, 7));
    let at = t.bin(BinOp::Mul, rx, two);
    let at = t.plus(at, 1);
    t.update(f, &[at, y], &[seven], Some(r));
    let (at, one) = (t.add(rx, ry), t.constant(ty, 1));
    let old = t.call(f, &[at, y]);
    let new = t.bin(BinOp::Sub, old, one);
    t.update(f, &[at, y], &[new], Some(r));
    t.pipeline(&[f])
}

/// `sum(x, y)`, a reduction over 3 x 3 pixels with a pure and an update stage, used by `a` through inlined `half`, and
/// by both stages of `b`; `out` adds `a` and `b`.
pub(super) fn inline_sums() -> Pipeline {
    let mut t = Tables::default();
    let input = t.image("input", I32, 2);
    let (x, y) = (t.var("x"), t.var("y"));
    let zero = t.int(0);
    let sum = t.func("sum", &["x", "y"], &[zero]);
    let three = t.int(3);
    let r = t.rdom("r", &[three, three]);
    let (rx, ry) = (t.rvar(r, 0), t.rvar(r, 1));
    let (px, py) = (t.add(x, rx), t.add(y, ry));
    let pixel = t.pixel(input, &[px, py]);
    let old = t.call(sum, &[x, y]);
    let new = t.add(old, pixel);
    t.update(sum, &[x, y], &[new], Some(r));
    let value = t.call(sum, &[x, y]);
    let halved = t.bin(BinOp::Div, value, three);
    let half = t.func("half", &["x", "y"], &[halved]);
    let value = t.call(half, &[x, y]);
    let a = t.func("a", &["x", "y"], &[value]);
    let value = t.call(sum, &[x, y]);
    let b = t.func("b", &["x", "y"], &[value]);
    let (old, more) = (t.call(b, &[x, y]), t.call(half, &[y, x]));
    let new = t.add(old, more);
    t.update(b, &[x, y], &[new], None);
    let (va, vb) = (t.call(a, &[x, y]), t.call(b, &[x, y]));
    let value = t.add(va, vb);
    let out = t.func("out", &["x", "y"], &[value]);
    t.pipeline(&[out])
}
