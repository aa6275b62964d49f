//! A small builder of frozen pipelines, so that these tests depend on nothing but the frozen form.

use crate::buffer::{AnyBuffer, Region};
use crate::error::Location;
use crate::ids::{ExprId, FuncId, ImageId, ParamId, RDomId, VarId};
use crate::interp::{Inputs, RunError, run};
use crate::ops::{BinOp, UnOp};
use crate::pipeline::*;
use crate::types::ScalarType::{self, *};
use crate::value::{Scalar, binary_type, unary_type};

#[derive(Default)]
pub(super) struct Build {
    pub(super) p: PipelineData,
}

impl Build {
    pub(super) fn node(&mut self, kind: Kind, ty: ScalarType) -> ExprId {
        self.p.exprs.push(Node { kind, ty })
    }
    pub(super) fn vars<const N: usize>(&mut self, names: [&str; N]) -> [VarId; N] {
        names.map(|n| self.p.vars.push(n.to_string()))
    }
    pub(super) fn var(&mut self, v: VarId) -> ExprId {
        self.node(Kind::Var(v), I32)
    }
    pub(super) fn lit(&mut self, value: impl Into<Scalar>) -> ExprId {
        let value = value.into();
        self.node(Kind::Const(value), value.ty())
    }
    pub(super) fn un(&mut self, op: UnOp, a: ExprId) -> ExprId {
        let ty = unary_type(op, self.p.exprs[a].ty).unwrap();
        self.node(Kind::Unary(op, a), ty)
    }
    pub(super) fn bin(&mut self, op: BinOp, a: ExprId, b: ExprId) -> ExprId {
        let ty = binary_type(op, self.p.exprs[a].ty).unwrap();
        self.node(Kind::Binary(op, a, b), ty)
    }
    pub(super) fn add(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.bin(BinOp::Add, a, b)
    }
    /// `a + n` of i32.
    pub(super) fn plus(&mut self, a: ExprId, n: i32) -> ExprId {
        let n = self.lit(n);
        self.add(a, n)
    }
    pub(super) fn select(&mut self, c: ExprId, a: ExprId, b: ExprId) -> ExprId {
        let ty = self.p.exprs[a].ty;
        self.node(Kind::Select(c, a, b), ty)
    }
    pub(super) fn cast(&mut self, ty: ScalarType, a: ExprId) -> ExprId {
        self.node(Kind::Cast(a), ty)
    }
    pub(super) fn image(&mut self, name: &str, ty: ScalarType, dims: usize) -> ImageId {
        self.p.images.push(ImageDef {
            name: name.into(),
            ty,
            dims,
            values: Default::default(),
            coordinates: Vec::new(),
            at: Location::caller(),
        })
    }
    pub(super) fn read(&mut self, image: ImageId, args: &[ExprId]) -> ExprId {
        let ty = self.p.images[image].ty;
        self.node(Kind::Image { image, args: args.to_vec() }, ty)
    }
    pub(super) fn image_dim(&mut self, image: ImageId, dim: u8, field: DimField) -> ExprId {
        self.node(Kind::ImageDim { image, dim, field }, I32)
    }
    pub(super) fn param(&mut self, name: &str, ty: ScalarType, default: Option<Scalar>) -> ParamId {
        let (min, max, at) = (None, None, Location::caller());
        self.p.params.push(ParamDef { name: name.into(), ty, default, min, max, at })
    }
    pub(super) fn call(&mut self, func: FuncId, args: &[ExprId]) -> ExprId {
        self.element(func, 0, args)
    }
    pub(super) fn element(&mut self, func: FuncId, element: u8, args: &[ExprId]) -> ExprId {
        let ty = self.p.funcs[func].types[element as usize];
        self.node(Kind::Call { func, element, args: args.to_vec() }, ty)
    }
    pub(super) fn func(&mut self, name: &str, vars: &[VarId], values: &[ExprId]) -> FuncId {
        let types = values.iter().map(|v| self.p.exprs[*v].ty).collect();
        let args = vars.iter().map(|v| self.var(*v)).collect();
        let at = Location::caller();
        let stages = vec![StageDef { args, values: values.to_vec(), rdom: None, at }];
        let id =
            self.p.funcs.push(FuncDef { name: name.into(), said: name.into(), args: vars.to_vec(), types, stages, at });
        self.p.order.push(id);
        id
    }
    pub(super) fn update(&mut self, func: FuncId, rdom: Option<RDomId>, args: &[ExprId], values: &[ExprId]) {
        let stage = StageDef { args: args.to_vec(), values: values.to_vec(), rdom, at: Location::caller() };
        self.p.funcs[func].stages.push(stage);
    }
    /// A domain of constant `(min, extent)` pairs.
    pub(super) fn rdom(&mut self, dims: &[(i32, i32)]) -> RDomId {
        let dims = dims.iter().map(|(min, extent)| (self.lit(*min), self.lit(*extent))).collect::<Vec<_>>();
        self.rdom_of(&dims)
    }
    pub(super) fn rdom_of(&mut self, dims: &[(ExprId, ExprId)]) -> RDomId {
        let name = || "r".to_string();
        let dim = |&(min, extent): &(ExprId, ExprId)| RVarDef { name: name(), said: name(), min, extent };
        let dims = dims.iter().map(dim).collect();
        self.p.rdoms.push(RDomDef { name: "r".into(), dims, predicate: None })
    }
    pub(super) fn rvar(&mut self, rdom: RDomId, dim: u8) -> ExprId {
        self.node(Kind::RVar { rdom, dim }, I32)
    }
    /// Runs with one output.
    pub(super) fn run(
        &mut self,
        output: FuncId,
        inputs: &Inputs,
        spans: &[(i32, i32)],
    ) -> Result<Vec<AnyBuffer>, RunError> {
        self.p.outputs = vec![output];
        run(&self.p, inputs, &[Region::of_spans(spans)])
    }
    /// Checks the first output, which has one dimension, against its values as integers.
    #[track_caller]
    pub(super) fn check(&mut self, output: FuncId, inputs: &Inputs, span: (i32, i32), expected: &[i64]) {
        let out = self.run(output, inputs, &[span]).unwrap_or_else(|e| panic!("{e}"));
        let values: Vec<i64> = out[0].coords().map(|at| out[0].get(at).unwrap().as_i64()).collect();
        assert_eq!(values, expected);
    }
    #[track_caller]
    pub(super) fn check_error(&mut self, output: FuncId, inputs: &Inputs, span: (i32, i32), expected: &str) {
        let error = self.run(output, inputs, &[span]).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
}
