//! Reductions and scans.

use super::close::{Definition, together};
use super::images::zero;
use super::size::Size;
use super::stage::{Order, Role};
use super::state::{Depths, Domain, Element, Leaf, Lower, Pull, Result, Sym};
use crate::primitive::Primitive;
use crate::span::Span;
use crate::types::Type;
use crate::walk::{Value, apply_value};
use halide::prelude::{Expr, ExprMethods, IntoExpr, RDom, clamp, max, select};
use halide_core::ops::BinOp;
use halide_core::types::ScalarType::{self, I32};
use std::rc::Rc;

/// The orders in which a reduction by `function` may run.
fn order(function: &Value<Sym>, ty: ScalarType) -> Order {
    use BinOp::*;
    match function {
        Value::Primitive(Primitive::Binary(Add | Mul)) if ty.is_float() => Order::Relaxed,
        Value::Primitive(Primitive::Binary(Add | Mul | Min | Max | BitAnd | BitOr | BitXor)) => Order::Free,
        _ => Order::Fixed,
    }
}

/// An element that names the variable of its domain: an update is over a domain that it names, and a sum of constants
/// would be one constant.
fn named(element: &Sym, r: &RDom) -> Sym {
    let Some(mut leaves) = element.leaves() else { return element.clone() };
    if let Some(first) = leaves.first_mut().filter(|first| !first.is_reduced()) {
        let at = Leaf::reduction(r.x.expr());
        let expr = select(r.x.ge(0), first.expr, zero(first.ty));
        *first = Leaf::computed(expr, first.ty, &[first, &at]);
    }
    element.with_leaves(&mut leaves.into_iter())
}

impl Lower {
    /// The scalars of the operator's value at `values`.
    fn combine(&mut self, function: &Value<Sym>, values: [&Sym; 2], result: &Type, span: Span) -> Result<Vec<Leaf>> {
        self.operators += 1;
        let arguments = values.map(|value| Value::Data(value.clone())).to_vec();
        let value = apply_value(self, function, arguments, result, span);
        self.operators -= 1;
        match value?.leaves() {
            Some(leaves) => Ok(leaves),
            None => self.unsupported(span, "a reduction to sequences"),
        }
    }

    pub(crate) fn reduce(&mut self, arguments: &[Value<Sym>], result: &Type, span: Span) -> Result<Sym> {
        let (pull, Value::Data(prefix)) = (self.pull(&arguments[1], span)?, &arguments[2]) else {
            return self.confuse(span);
        };
        self.check_no_operator(span)?;
        let Some(initial) = prefix.leaves() else { return self.unsupported(span, "a reduction to sequences") };
        let name = self.fresh_domain();
        let most = self.most(&pull, span)?;
        let r = RDom::named(&name, [(0.expr(), most)]);
        self.limit(&r, &pull);
        let at = Leaf::reduction(r.x.expr());
        let element = named(&(pull.element)(self, &at)?, &r);
        // What the operator depends on is known once it was applied.
        let trial = self.combine(&arguments[0], [prefix, &element], result, span)?;
        let depths = pull.depths.with(pull.domain.depths());
        let all = initial.iter().chain(&trial);
        let depths = all.fold(depths, |all, leaf| all.with(leaf.depths)).coordinates();
        let mut definition = self.declare("reduce", depths);
        let here = self.at_vars(&definition.dims);
        definition.func.define(here.clone(), together(&initial));
        let types: Vec<ScalarType> = initial.iter().map(|leaf| leaf.ty).collect();
        let before = self.values(&definition.func, &here, &types);
        let before = prefix.with_leaves(&mut before.into_iter());
        let mut after = self.combine(&arguments[0], [&before, &element], result, span)?;
        if let (false, Some(old)) = (after.iter().any(Leaf::is_reduced), before.leaves()) {
            after[0].expr = select(r.x.ge(0), after[0].expr, old[0].expr);
        }
        definition.func.define(here, together(&after));
        let order = if types.len() == 1 { order(&arguments[0], types[0]) } else { Order::Fixed };
        let role = Role::Fold { order, is_whole: matches!(pull.domain, Domain::Flat(_)) };
        self.stage(&definition, role, vec![vec![format!("{name}.x")]]);
        let stored = self.finish(definition, &types, depths);
        Ok(prefix.with_leaves(&mut stored.into_iter()))
    }

    /// The values of a Func in its own update.
    pub(crate) fn values(&self, func: &halide::prelude::Func, at: &[Expr], types: &[ScalarType]) -> Vec<Leaf> {
        let value = func.read(at);
        let leaf = |(i, ty): (usize, &ScalarType)| {
            Leaf::computed(if types.len() == 1 { value } else { value.at(i) }, *ty, &[])
        };
        types.iter().enumerate().map(leaf).collect()
    }

    pub(crate) fn scan(
        &mut self,
        arguments: &[Value<Sym>],
        result: &Type,
        is_reversed: bool,
        span: Span,
    ) -> Result<Sym> {
        let (pull, Type::Seq(ty)) = (self.pull(&arguments[1], span)?, result) else { return self.confuse(span) };
        self.check_no_operator(span)?;
        let name = if is_reversed { "rscan" } else { "scan" };
        let scan = Scan { function: &arguments[0], ty, is_reversed, span };
        let Domain::Rows { descriptor, row } = &pull.domain else {
            return self.scan_flat(&scan, name, &pull);
        };
        let Some(row_depth) = row.coordinate else {
            return self.unsupported(span, "a scan of a row that is chosen by data");
        };
        let descriptor = *descriptor;
        let mut rows = self.rows(name, &pull, descriptor, row_depth, span)?;
        let r = self.row_domain(descriptor, 1, span)?;
        let at = Leaf::computed(r.domain.y.expr(), I32, &[]);
        let (begin, end) = self.ends(&Domain::Rows { descriptor, row: at });
        r.domain.where_(r.domain.x.gt(begin.expr) & r.domain.x.lt(end.expr));
        let (from, to) = match is_reversed {
            false => (r.domain.x - 1, r.domain.x.expr()),
            true => (begin.expr + end.expr - r.domain.x, begin.expr + end.expr - 1 - r.domain.x),
        };
        self.step(&scan, &mut rows, [from, to])?;
        rows.domains.push(r.names);
        self.rows_result(rows, &pull, Role::Scan, span)
    }

    /// A scan of a sequence whose positions are all there are.
    fn scan_flat(&mut self, scan: &Scan, name: &str, pull: &Rc<Pull>) -> Result<Sym> {
        let (depth, span) = (self.depth, scan.span);
        let like = self.under(&pull.domain, span, |lower, position| (pull.element)(lower, &position))?;
        let Some(leaves) = like.leaves() else { return self.unsupported(span, "a scan of sequences") };
        let types: Vec<ScalarType> = leaves.iter().map(|leaf| leaf.ty).collect();
        let trial = self.combine(scan.function, [&like, &like], scan.ty, span)?;
        let own = Depths::one(depth).with(pull.domain.depths());
        let depths = leaves.iter().chain(&trial).fold(own, |all, leaf| all.with(leaf.depths));
        let mut definition = self.declare(name, depths);
        definition.func.define(self.at_vars(&definition.dims), together(&leaves));
        let name = self.fresh_domain();
        let (most, end) = (self.most(pull, span)?, self.ends(&pull.domain).1);
        let r = RDom::named(&name, [(1.expr(), most - 1)]);
        // A count is data, which bounds do not know to fit.
        let mut fit: fn(Expr, Expr) -> Expr = |place, _| place;
        if matches!(pull.domain, Domain::Counted { .. }) {
            r.where_(r.x.lt(end.expr));
            fit = |place, most| clamp(place, 0, max(most - 1, 0));
        }
        let (from, to) = match scan.is_reversed {
            false => (r.x - 1, r.x.expr()),
            true => (fit(end.expr - r.x, most), fit(end.expr - 1 - r.x, most)),
        };
        let mut rows = Rows { definition, types, depths, depth, like, domains: Vec::new() };
        self.step(scan, &mut rows, [from, to])?;
        rows.domains.push(vec![format!("{name}.x")]);
        self.rows_result(rows, pull, Role::Scan, span)
    }

    /// The update of a scan: the element at position `to` joins that at `from`.
    fn step(&mut self, scan: &Scan, rows: &mut Rows, [from, to]: [Expr; 2]) -> Result<()> {
        let here = self.at_vars(&rows.definition.dims);
        let dim = rows.definition.dims.iter().position(|&dim| dim == rows.depth).unwrap_or(0);
        let [before, own] = [from, to].map(|position| {
            let mut at = here.clone();
            at[dim] = position;
            let leaves = self.values(&rows.definition.func, &at, &rows.types);
            (rows.like.with_leaves(&mut leaves.into_iter()), at)
        });
        let after = self.combine(scan.function, [&before.0, &own.0], scan.ty, scan.span)?;
        rows.definition.func.define(own.1, together(&after));
        Ok(())
    }

    /// A reduction domain over the positions of the rows of a descriptor from `first` on, `x`, and all rows, `y`.
    fn row_domain(&mut self, descriptor: usize, first: i32, span: Span) -> Result<RowDomain> {
        let name = self.fresh_domain();
        let Some(elements) = self.inputs.elements_of(descriptor) else { return self.confuse(span) };
        let rows = Size::binary(BinOp::Sub, Size::Extent(descriptor), Size::Constant(1));
        let [elements, rows] = [elements, rows].map(|size| self.inputs.size(&size));
        let ranges = [(first.expr(), elements - first), (0.expr(), rows)];
        let names = ["x", "y"].map(|dim| format!("{name}.{dim}")).to_vec();
        Ok(RowDomain { domain: RDom::named(&name, ranges), names })
    }

    /// The elements of all rows of a descriptor in one Func over their positions.
    ///
    /// Rows do not overlap, so a position says the row: elements that need that are stored row by row.
    pub(crate) fn rows(
        &mut self,
        name: &str,
        pull: &Rc<Pull>,
        descriptor: usize,
        row_depth: usize,
        span: Span,
    ) -> Result<Rows> {
        let depth = self.depth;
        let (like, leaves) = self.under(&pull.domain, span, |lower, position| {
            let element = (pull.element)(lower, &position)?;
            let Some(leaves) = element.leaves() else { return lower.unsupported(span, "rows of rows in a map") };
            let leaves: Result<Vec<Leaf>> = leaves.iter().map(|leaf| lower.readable(leaf, span)).collect();
            Ok((element, leaves?))
        })?;
        let types: Vec<ScalarType> = leaves.iter().map(|leaf| leaf.ty).collect();
        let all = leaves.iter().fold(Depths::one(depth), |all, leaf| all.with(leaf.depths));
        let depths = all.without(row_depth);
        let mut definition = self.declare(name, depths);
        let here = self.at_vars(&definition.dims);
        let mut domains = Vec::new();
        if !all.has(row_depth) {
            definition.func.define(here, together(&leaves));
            return Ok(Rows { definition, types, depths, depth, like, domains });
        }
        let zeros: Vec<Leaf> = types.iter().map(|ty| Leaf::constant(zero(*ty), *ty, None)).collect();
        definition.func.define(here.clone(), together(&zeros));
        let RowDomain { domain: r, names } = self.row_domain(descriptor, 0, span)?;
        let [position, row] = [r.x, r.y].map(|v| Leaf { weight: 0, ..Leaf::computed(v.expr(), I32, &[]) });
        let (begin, end) = self.ends(&Domain::Rows { descriptor, row: row.clone() });
        r.where_(r.x.ge(begin.expr) & r.x.lt(end.expr));
        let places = [(row_depth, row), (depth, position)];
        let moved: Vec<Leaf> = leaves.iter().map(|leaf| self.move_to(leaf, &places)).collect();
        let mut target = here;
        let dim = definition.dims.iter().position(|&dim| dim == depth).unwrap_or(0);
        target[dim] = r.x.expr();
        definition.func.define(target, together(&moved));
        domains.push(names);
        Ok(Rows { definition, types, depths, depth, like, domains })
    }

    /// The sequence that reads a Func over positions.
    fn rows_result(&mut self, rows: Rows, pull: &Rc<Pull>, role: Role, span: Span) -> Result<Sym> {
        let Rows { definition, types, depths, depth, like, domains } = rows;
        self.stage(&definition, role, domains);
        let stored = self.finish(definition, &types, depths);
        let element: Element = self.close(&like.with_leaves(&mut stored.into_iter()), depth, span)?;
        let depths = depths.without(depth).with(pull.domain.depths());
        Ok(Sym::Seq(Rc::new(Pull { domain: pull.domain.clone(), depths, element })))
    }
}

/// One scan.
struct Scan<'a> {
    function: &'a Value<Sym>,
    ty: &'a Type,
    is_reversed: bool,
    span: Span,
}

/// A reduction domain over rows, with the names of its variables.
pub(crate) struct RowDomain {
    pub(crate) domain: RDom,
    pub(crate) names: Vec<String>,
}

/// A Func over positions, under construction.
pub(crate) struct Rows {
    pub(crate) definition: Definition,
    pub(crate) types: Vec<ScalarType>,
    pub(crate) depths: Depths,
    /// The depth of its position.
    pub(crate) depth: usize,
    /// A value of its elements' form.
    pub(crate) like: Sym,
    pub(crate) domains: Vec<Vec<String>>,
}
