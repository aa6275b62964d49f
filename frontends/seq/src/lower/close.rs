//! Maps' results as functions of positions.

use super::stage::{Role, Stage};
use super::state::{At, Depths, Domain, Element, Leaf, Lower, Pull, Result, Sym};
use crate::span::Span;
use crate::tuning::MOST_INLINED;
use halide::prelude::{Expr, Func};
use halide_core::types::ScalarType;
use std::rc::Rc;

/// A value that can be read at other coordinates.
#[derive(Clone)]
enum Closed {
    Scalar(Leaf),
    Tuple(Vec<Closed>),
    Seq { domain: Domain, depths: Depths, depth: usize, element: Rc<Closed> },
}

/// A Func with variables of depths.
pub(crate) struct Definition {
    pub(crate) func: Func,
    pub(crate) dims: Vec<usize>,
}

impl Definition {
    /// Reads of the Func's values; of an element of a tuple if there are several.
    pub(crate) fn reader(&self, func: &Rc<Func>, element: Option<usize>) -> At {
        let (func, dims) = (func.clone(), self.dims.clone());
        Rc::new(move |coordinates: &[Expr]| {
            let at: Vec<Expr> = dims.iter().map(|&depth| coordinates[depth]).collect();
            let value = func.read(at);
            element.map_or(value, |i| value.at(i))
        })
    }
}

impl Lower {
    /// A Func of the variables of `depths`, without a definition.
    pub(crate) fn declare(&mut self, name: &str, depths: Depths) -> Definition {
        let name = self.fresh_name(name);
        Definition { func: Func::new(name), dims: depths.dims() }
    }

    /// The variables of a Func, as coordinates.
    pub(crate) fn at_vars(&self, dims: &[usize]) -> Vec<Expr> {
        dims.iter().map(|&depth| self.vars[depth]).collect()
    }

    /// Records that a Func is computed as a whole.
    pub(crate) fn stage(&mut self, definition: &Definition, role: Role, domains: Vec<Vec<String>>) {
        let name = definition.func.name().to_string();
        let dims = definition.dims.iter().map(|&depth| super::state::COORDINATES[depth].to_string()).collect();
        self.stages.push(Stage { name, role, dims, domains });
    }

    /// The leaf as what can be read at other coordinates: where it is computed here, a Func of what it depends on.
    pub(crate) fn readable(&mut self, leaf: &Leaf, span: Span) -> Result<Leaf> {
        if leaf.at.is_some() {
            return Ok(leaf.clone());
        }
        self.check_no_operator(span)?;
        let mut definition = self.declare("map", leaf.depths);
        let at = self.at_vars(&definition.dims);
        definition.func.define(at, leaf.expr);
        let is_stored = leaf.weight > MOST_INLINED && definition.dims.len() == 1;
        if is_stored {
            self.stage(&definition, Role::Elements, Vec::new());
        }
        let func = Rc::new(std::mem::replace(&mut definition.func, Func::new("")));
        let mut readable = Leaf::stored(definition.reader(&func, None), &self.vars, leaf.ty, leaf.depths);
        readable.weight = if is_stored { 1 } else { leaf.weight };
        readable.size = leaf.size.clone();
        Ok(readable)
    }

    /// `value`, which a map computed at its position of `depth`, as a function of positions.
    pub(crate) fn close(&mut self, value: &Sym, depth: usize, span: Span) -> Result<Element> {
        let closed = Rc::new(self.closed(value, span)?);
        Ok(Rc::new(move |lower, position| Ok(lower.open(&closed, &[(depth, position.clone())]))))
    }

    fn closed(&mut self, value: &Sym, span: Span) -> Result<Closed> {
        match value {
            Sym::Scalar(leaf) => Ok(Closed::Scalar(self.readable(leaf, span)?)),
            Sym::Tuple(parts) => {
                let parts: Result<_> = parts.iter().map(|part| self.closed(part, span)).collect();
                Ok(Closed::Tuple(parts?))
            }
            Sym::Seq(pull) => {
                let mut domain = pull.domain.clone();
                if let Domain::Counted { count: leaf, .. } | Domain::Rows { row: leaf, .. } = &mut domain {
                    *leaf = self.readable(leaf, span)?;
                }
                let depth = self.depth;
                let element = self.under(&pull.domain, span, |lower, position| {
                    let element = (pull.element)(lower, &position)?;
                    lower.closed(&element, span)
                })?;
                Ok(Closed::Seq { domain, depths: pull.depths, depth, element: Rc::new(element) })
            }
        }
    }

    /// A closed value with positions in the place of the coordinates of depths.
    fn open(&self, closed: &Closed, positions: &[(usize, Leaf)]) -> Sym {
        match closed {
            Closed::Scalar(leaf) => Sym::Scalar(self.move_to(leaf, positions)),
            Closed::Tuple(parts) => Sym::Tuple(parts.iter().map(|part| self.open(part, positions)).collect()),
            Closed::Seq { domain, depths, depth, element } => {
                let domain = self.move_domain(domain, positions);
                let depths = positions.iter().fold(*depths, |all, (depth, position)| {
                    if all.has(*depth) { all.without(*depth).with(position.depths) } else { all }
                });
                let (element, depth, around) = (element.clone(), *depth, positions.to_vec());
                let element: Element = Rc::new(move |lower, position| {
                    let mut positions = around.clone();
                    positions.push((depth, position.clone()));
                    Ok(lower.open(&element, &positions))
                });
                Sym::Seq(Rc::new(Pull { domain, depths, element }))
            }
        }
    }

    /// A domain at `positions`.
    fn move_domain(&self, domain: &Domain, positions: &[(usize, Leaf)]) -> Domain {
        let mut domain = domain.clone();
        if let Domain::Counted { count: leaf, .. } | Domain::Rows { row: leaf, .. } = &mut domain {
            *leaf = self.move_to(leaf, positions);
        }
        domain
    }

    /// A leaf that can be read at other coordinates, read at `positions`.
    pub(crate) fn move_to(&self, leaf: &Leaf, positions: &[(usize, Leaf)]) -> Leaf {
        let Some(at) = leaf.at.clone() else { return leaf.clone() };
        let used: Vec<(usize, Leaf)> = positions.iter().filter(|(depth, _)| leaf.depths.has(*depth)).cloned().collect();
        // Read where it is.
        if used.iter().all(|(depth, position)| position.coordinate == Some(*depth)) {
            return leaf.clone();
        }
        if let (Some(_), [(_, position)]) = (leaf.coordinate, &used[..]) {
            return position.clone();
        }
        let mut coordinates = self.vars.clone();
        let mut depths = leaf.depths;
        for (depth, _) in &used {
            depths = depths.without(*depth);
        }
        for (depth, position) in &used {
            coordinates[*depth] = position.expr;
            depths = depths.with(position.depths);
        }
        let expr = at(&coordinates);
        let places: Option<Vec<(usize, At)>> =
            used.iter().map(|(depth, position)| Some((*depth, position.at.clone()?))).collect();
        let moved: Option<At> = places.map(|places| -> At {
            Rc::new(move |coordinates: &[Expr]| {
                let mut moved = coordinates.to_vec();
                for (depth, place) in &places {
                    moved[*depth] = place(coordinates);
                }
                at(&moved)
            })
        });
        let weight = used.iter().fold(leaf.weight, |sum, (_, position)| sum.saturating_add(position.weight));
        let counts = leaf.counts.as_ref().map(|domain| Rc::new(self.move_domain(domain, positions)));
        Leaf {
            expr,
            ty: leaf.ty,
            depths,
            at: moved,
            size: leaf.size.clone(),
            counts,
            weight,
            coordinate: None,
            input: None,
        }
    }

    /// A Func over positions of `pull` that is computed as a whole, and the sequence that reads it.
    pub(crate) fn stored(&mut self, pull: &Rc<Pull>, name: &str, span: Span) -> Result<Rc<Pull>> {
        let depth = self.depth;
        let element = self.under(&pull.domain, span, |lower, position| {
            let element = (pull.element)(lower, &position)?;
            let Some(leaves) = element.leaves() else { return Ok(None) };
            if leaves.iter().all(|leaf| leaf.at.is_some() && leaf.weight <= 1) {
                return Ok(None);
            }
            let depths = leaves.iter().fold(Depths::one(depth), |all, leaf| all.with(leaf.depths));
            let stored = lower.store(name, depths, &leaves, span)?;
            Ok(Some(element.with_leaves(&mut stored.into_iter())))
        })?;
        let Some(element) = element else { return Ok(pull.clone()) };
        let element = self.close(&element, depth, span)?;
        Ok(Rc::new(Pull { element, ..(**pull).clone() }))
    }

    /// Leaves as a Func of the variables of `depths` that is computed as a whole.
    fn store(&mut self, name: &str, depths: Depths, leaves: &[Leaf], span: Span) -> Result<Vec<Leaf>> {
        self.check_no_operator(span)?;
        let mut definition = self.declare(name, depths);
        let at = self.at_vars(&definition.dims);
        definition.func.define(at, together(leaves));
        self.stage(&definition, Role::Elements, Vec::new());
        let types: Vec<ScalarType> = leaves.iter().map(|leaf| leaf.ty).collect();
        Ok(self.finish(definition, &types, depths))
    }

    /// The values of a Func whose definitions are complete.
    pub(crate) fn finish(&mut self, mut definition: Definition, types: &[ScalarType], depths: Depths) -> Vec<Leaf> {
        let func = Rc::new(std::mem::replace(&mut definition.func, Func::new("")));
        let element = |i: usize| (types.len() > 1).then_some(i);
        let leaf =
            |(i, ty): (usize, &ScalarType)| Leaf::stored(definition.reader(&func, element(i)), &self.vars, *ty, depths);
        types.iter().enumerate().map(leaf).collect()
    }
}

/// One value, or a tuple of several.
pub(crate) fn together(leaves: &[Leaf]) -> Expr {
    match leaves {
        [leaf] => leaf.expr,
        _ => halide::prelude::tuple(leaves.iter().map(|leaf| leaf.expr)),
    }
}
