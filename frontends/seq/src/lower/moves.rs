//! Primitives that read or store at data: gather, indexing, scatter and filter.

use super::close::together;
use super::images::zero;
use super::size::Size;
use super::stage::Role;
use super::state::{Depths, Domain, Element, Leaf, Lower, Pull, Result, Sym};
use crate::span::Span;
use crate::types::Type;
use crate::walk::{Value, apply_value};
use halide::prelude::{Expr, ExprMethods, IntoExpr, RDom, cast_to, clamp, max, select};
use halide_core::types::ScalarType::{Bool, I32, I64};
use std::rc::Rc;

impl Lower {
    /// The element at an index, which is checked.
    pub(crate) fn element_at(
        &mut self,
        of: &Rc<Pull>,
        index: &Leaf,
        position: Option<&Leaf>,
        primitive: &'static str,
        span: Span,
    ) -> Result<Sym> {
        let most = self.most(of, span)?;
        let place = self.place((&of.domain, most), index, position, primitive, span);
        (of.element)(self, &place)
    }

    /// The position of the element at an index, which is checked.
    fn place(
        &self,
        (domain, most): (&Domain, Expr),
        index: &Leaf,
        position: Option<&Leaf>,
        primitive: &'static str,
        span: Span,
    ) -> Leaf {
        let (begin, count) = (self.ends(domain).0, self.count(domain));
        // An Int is a coordinate as it is; others are one of those that both they and Long have.
        let (wide, narrow) = match index.ty {
            I32 => (index.expr, index.expr),
            _ => (cast_to(I64, index.expr), cast_to(I32, index.expr)),
        };
        let of_type = wide.ty().unwrap_or(I32);
        let fits = wide.ge(zero(of_type)) & wide.lt(cast_to(of_type, count.expr));
        let text = format!("{span}: `{primitive}` has index");
        let leaves = [Some(index), Some(&count), position].into_iter().flatten().collect::<Vec<_>>();
        let value = Leaf { weight: index.weight + 2, ..Leaf::computed(narrow, I32, &leaves) };
        let checked = match position {
            Some(position) => {
                let at = (text, index.expr, "at position", position.expr, "where there are", count.expr, "elements");
                self.required(fits, value, at)
            }
            None => self.required(fits, value, (text, index.expr, "where there are", count.expr, "elements")),
        };
        let expr = match domain {
            Domain::Rows { .. } => begin.expr + checked.expr,
            _ => checked.expr,
        };
        // Where the code does not count, the index may be any, and in an empty sequence no index is one.
        let expr = clamp(expr, 0, max(most - 1, 0));
        Leaf { expr, depths: checked.depths.with(begin.depths), ..checked }
    }

    pub(crate) fn gather(&mut self, arguments: &[Value<Sym>], span: Span) -> Result<Sym> {
        let (of, index) = (self.pull(&arguments[0], span)?, self.pull(&arguments[1], span)?);
        let of = match &of.domain {
            // Every element may be read many times.
            Domain::Flat(_) | Domain::Counted { .. } if of.depths == Depths::NONE && self.operators == 0 => {
                self.stored(&of, "source", span)?
            }
            _ => of,
        };
        let domain = index.domain.clone();
        let depths = of.depths.with(index.depths);
        let is_counted = self.guards.is_empty();
        let element: Element = Rc::new(move |lower, position| {
            let Sym::Scalar(place) = (index.element)(lower, position)? else { return lower.confuse(span) };
            if let Some(place) = place.input.filter(|_| is_counted).and_then(|_| lower.promised(&of, &place)) {
                return (of.element)(lower, &place);
            }
            let begin = lower.ends(&index.domain).0;
            let local = Leaf::computed(position.expr - begin.expr, I32, &[position, &begin]);
            lower.element_at(&of, &place, Some(&local), "gather", span)
        });
        Ok(Sym::Seq(Rc::new(Pull { domain, depths, element })))
    }

    /// The index as a position, where the indices and what they read are buffers of the call: then the buffer is
    /// checked once, and that is remembered with its memory.
    fn promised(&self, of: &Rc<Pull>, index: &Leaf) -> Option<Leaf> {
        let (Domain::Flat(Size::Extent(table)), Some(indices), I32) = (&of.domain, index.input, index.ty) else {
            return None;
        };
        let (table, indices) = (&self.inputs.images[*table], &self.inputs.images[indices]);
        indices.promise_coordinates(table, 0);
        Some(index.clone())
    }

    pub(crate) fn scatter(&mut self, arguments: &[Value<Sym>], span: Span) -> Result<Sym> {
        let [from, index, to] = [0, 1, 2].map(|i| self.pull(&arguments[i], span));
        let (from, index, to) = (from?, index?, to?);
        if matches!(to.domain, Domain::Rows { .. }) {
            return self.unsupported(span, "a scatter into rows of a ragged sequence");
        }
        let pair = self.zip(&[Value::Data(Sym::Seq(from)), Value::Data(Sym::Seq(index))], span)?;
        let Sym::Seq(pair) = pair else { return self.confuse(span) };
        self.check_no_operator(span)?;
        let depth = self.depth;
        let leaves = self.under(&to.domain, span, |lower, position| (to.element)(lower, &position))?;
        let Some(initial) = leaves.leaves() else { return self.unsupported(span, "a scatter of sequences") };
        let name = self.fresh_domain();
        let most = self.most(&pair, span)?;
        let r = RDom::named(&name, [(0.expr(), most)]);
        let at = Leaf::reduction(r.x.expr());
        let Sym::Tuple(moved) = (pair.element)(self, &at)? else { return self.confuse(span) };
        let (Some(values), [_, Sym::Scalar(index)]) = (moved[0].leaves(), &moved[..]) else {
            return self.confuse(span);
        };
        self.limit(&r, &pair);
        let begin = self.ends(&pair.domain).0;
        let local = Leaf::computed(at.expr - begin.expr, I32, &[&begin]);
        let room = self.most(&to, span)?;
        let place = self.place((&to.domain, room), index, Some(&local), "scatter", span);
        let all = initial.iter().chain(&values).chain([&place]);
        let own = Depths::one(depth).with(pair.domain.depths());
        let depths = all.fold(own, |all, leaf| all.with(leaf.depths)).coordinates();
        let mut definition = self.declare("scatter", depths);
        let at = self.at_vars(&definition.dims);
        definition.func.define(at.clone(), together(&initial));
        let mut target = at;
        let dim = definition.dims.iter().position(|&dim| dim == depth).unwrap_or(0);
        target[dim] = place.expr;
        // An update is one over a domain whose variable it names.
        if !place.is_reduced() && !values.iter().any(Leaf::is_reduced) {
            target[dim] = select(r.x.ge(0), target[dim], 0);
        }
        definition.func.define(target, together(&values));
        self.stage(&definition, Role::Scatter, vec![vec![format!("{name}.x")]]);
        let types: Vec<_> = initial.iter().map(|leaf| leaf.ty).collect();
        let stored = self.finish(definition, &types, depths);
        let element = leaves.with_leaves(&mut stored.into_iter());
        let element = self.close(&element, depth, span)?;
        let depths = depths.without(depth);
        Ok(Sym::Seq(Rc::new(Pull { domain: to.domain.clone(), depths, element })))
    }

    /// Restricts a reduction domain to the positions of a sequence.
    pub(crate) fn limit(&self, r: &RDom, pull: &Pull) {
        let (begin, end) = self.ends(&pull.domain);
        match &pull.domain {
            Domain::Flat(_) => {}
            Domain::Counted { .. } => r.where_(r.x.lt(end.expr)),
            Domain::Rows { .. } => r.where_(r.x.ge(begin.expr) & r.x.lt(end.expr)),
        }
    }

    /// A name for a reduction domain.
    pub(crate) fn fresh_domain(&mut self) -> String {
        let hint = self.hint.take();
        let name = self.fresh_name("r");
        self.hint = hint;
        name
    }

    /// The places of elements that are kept by a scan of flags, and the elements moved there.
    pub(crate) fn filter(&mut self, arguments: &[Value<Sym>], span: Span) -> Result<Sym> {
        let pull = self.pull(&arguments[1], span)?;
        let (Domain::Flat(capacity) | Domain::Counted { capacity, .. }, Depths::NONE) = (&pull.domain, pull.depths)
        else {
            return self.unsupported(span, "a filter inside of a map");
        };
        self.check_no_operator(span)?;
        let (capacity, depth) = (capacity.clone(), self.depth);
        let hint = self.hint.take();
        let (flag, initial, like) = self.under(&pull.domain, span, |lower, position| {
            let element = (pull.element)(lower, &position)?;
            let Some(leaves) = element.leaves() else { return lower.unsupported(span, "a filter of sequences") };
            let flag = apply_value(lower, &arguments[0], vec![Value::Data(element.clone())], &Type::BOOL, span)?;
            let Sym::Scalar(flag) = flag else { return lower.confuse(span) };
            let flag = lower.readable(&flag, span)?;
            let end = lower.ends(&pull.domain).1;
            let inside = Leaf::computed(position.expr.lt(end.expr), Bool, &[&position, &end]);
            let kept = Leaf::computed(select(inside.expr & flag.expr, 1, 0), I32, &[&inside, &flag]);
            Ok((lower.readable(&kept, span)?, leaves, element))
        })?;
        if flag.depths.without(depth) != Depths::NONE {
            return self.unsupported(span, "a filter inside of a map");
        }
        // How many are kept before each position, and behind the last.
        let size = self.inputs.size(&capacity);
        let mut places = self.declare("places", Depths::one(depth));
        places.func.define(self.at_vars(&[depth]), 0.expr());
        let name = self.fresh_domain();
        let r = RDom::named(&name, [(0.expr(), size)]);
        let at = Leaf::reduction(r.x.expr());
        let (before, here) = (places.func.read(r.x), self.move_to(&flag, &[(depth, at)]).expr);
        places.func.define(r.x + 1, before + here);
        self.stage(&places, Role::Scan, vec![vec![format!("{name}.x")]]);
        let places = self.finish(places, &[I32], Depths::one(depth)).remove(0);
        let place = |lower: &Lower, at: &Leaf| lower.move_to(&places, &[(depth, at.clone())]);
        let mut count = self.declare("count", Depths::NONE);
        let end = Leaf::computed(size, I32, &[]);
        count.func.define((), place(self, &end).expr);
        self.stage(&count, Role::Elements, Vec::new());
        let count = self.finish(count, &[I32], Depths::NONE).remove(0);
        // Each of them goes to its place.
        let name = self.fresh_domain();
        let r = RDom::named(&name, [(0.expr(), size)]);
        let at = Leaf::reduction(r.x.expr());
        r.where_(self.move_to(&flag, &[(depth, at.clone())]).expr.ne(0));
        let moved = (pull.element)(self, &at)?;
        let Some(values) = moved.leaves() else { return self.confuse(span) };
        self.hint = hint;
        let mut kept = self.declare("filter", Depths::one(depth));
        let zeros: Vec<Leaf> = initial.iter().map(|leaf| Leaf::constant(zero(leaf.ty), leaf.ty, None)).collect();
        kept.func.define(self.at_vars(&[depth]), together(&zeros));
        let target = clamp(place(self, &at).expr, 0, size - 1);
        kept.func.define(target, together(&values));
        self.stage(&kept, Role::Scatter, vec![vec![format!("{name}.x")]]);
        let types: Vec<_> = initial.iter().map(|leaf| leaf.ty).collect();
        let stored = self.finish(kept, &types, Depths::one(depth));
        let element = self.close(&like.with_leaves(&mut stored.into_iter()), depth, span)?;
        self.filters += 1;
        let domain = Domain::Counted { capacity, count, filter: self.filters };
        Ok(Sym::Seq(Rc::new(Pull { domain, depths: Depths::NONE, element })))
    }
}
