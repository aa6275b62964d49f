//! The inequalities that say that a flat index is inside of its buffer.
//!
//! With strides `s1, s2` an index `x + y * s1 + z * s2` is told apart into coordinates, each of which has its own
//! limits: that is linear where the whole is not, holds for strides of either sign, and keeps an access out of what
//! lies between the rows of a view. A stride that is asserted to be a constant has the multiples of it. Where the
//! strides cannot be told apart, the index as a whole is compared with the memory.

use super::atoms::Terms;
use super::mono::AtomId;
use super::poly::Poly;
use super::read::{Definition, Reader};
use halide_ir::hash::Map;
use halide_ir::visit::{deep, for_each_node};
use halide_ir::{BufId, BufferInfo, DimField, Expr, ExprKind, Sym, build};
use std::rc::Rc;

/// The symbols that are looked for are names of strides; a definition may mention each some times removed.
#[derive(Default)]
pub(crate) struct Extents<'p> {
    /// Number of elements of each allocation, as the program says it.
    counts: Map<BufId, Expr>,
    /// The condition without which an allocation is empty.
    conditions: Map<BufId, Expr>,
    /// The same as a monomial over strides, where it is one.
    strides: Map<BufId, Option<(Poly<'p>, Vec<AtomId>)>>,
    /// The symbols in the definition of each.
    mentions: Map<Sym, Rc<[Sym]>>,
    /// Symbols of which a definition leads to a stride of a buffer, or not.
    leading: Map<(BufId, Sym), bool>,
    /// Leaves that are constants in the branches that are open, with their values.
    constants: Vec<(AtomId, i128)>,
}

/// An access of one element, or of one in each lane.
pub(crate) struct Access<'a, 'p> {
    /// The buffer of the element.
    pub(crate) buf: BufId,
    /// The row of the buffer.
    pub(crate) info: &'a BufferInfo,
    /// The number of elements from the first.
    pub(crate) index: Poly<'p>,
}

impl<'p> Extents<'p> {
    /// Enters an allocation. Copies of a loop may allocate one buffer with other sizes.
    pub(crate) fn allocate(&mut self, buf: BufId, count: &Expr) {
        let old = self.counts.insert(buf, count.clone());
        if old.as_ref() != Some(count) {
            if old.is_some() {
                self.strides.remove(&buf);
                self.leading.retain(|(of, _), _| *of != buf);
                self.conditions.remove(&buf);
            }
            if let ExprKind::Select(cond, _, none) = count.kind()
                && build::as_int(none) == Some(0)
            {
                self.conditions.insert(buf, cond.clone());
            }
        }
    }
    /// The condition without which an allocation is empty. [`Extents::inequalities`] takes it for granted.
    pub(crate) fn condition(&self, buf: BufId) -> Option<&Expr> {
        self.conditions.get(&buf)
    }
    /// The number of elements of an allocation.
    pub(crate) fn count(&self, buf: BufId) -> Option<&Expr> {
        self.counts.get(&buf)
    }

    /// Notes which leaves the conditions of a branch, all at least 0, leave but one value, until
    /// [`Extents::forget_constants`]. Accesses in the branch are told apart by them.
    pub(crate) fn assume_constants(&mut self, conditions: &[Poly<'p>]) {
        let end = |p: &Poly<'p>| match p.atoms() {
            [atom] => p.coefficient(*atom).filter(|k| k.abs() == 1).map(|k| (*atom, k, p.constant_term())),
            _ => None,
        };
        let ends: Vec<_> = conditions.iter().filter_map(end).collect();
        for (atom, k, c) in ends.iter().filter(|end| end.1 == 1) {
            if ends.contains(&(*atom, -k, -c)) {
                self.constants.push((*atom, -c));
            }
        }
    }
    /// The number of leaves that are constants.
    pub(crate) fn constants(&self) -> usize {
        self.constants.len()
    }
    /// Forgets all but the first `len` leaves that are constants.
    pub(crate) fn forget_constants(&mut self, len: usize) {
        self.constants.truncate(len);
    }

    /// The value of `p`, if assertions and branches leave but one.
    fn constant(&self, reader: &Reader<'p>, p: &Poly<'p>) -> Option<i128> {
        let (low, high) = reader.terms.span_of(p);
        let by_branch = || match p.atoms() {
            [atom] if p.len() == 1 && p.coefficient(*atom) == Some(1) && p.constant_term() == 0 => {
                self.constants.iter().find(|(known, _)| known == atom).map(|(_, value)| *value)
            }
            _ => None,
        };
        low.filter(|_| low == high).or_else(by_branch)
    }

    /// Polynomials that are all at least 0 if the access is inside of its buffer; `None` if nothing is known of it.
    pub(crate) fn inequalities(&mut self, reader: &mut Reader<'p>, access: Access<'_, 'p>) -> Option<Vec<Poly<'p>>> {
        match access.info.role {
            halide_ir::BufferRole::Internal => self.of_allocation(reader, access.buf, access.index),
            _ => self.of_given(reader, access),
        }
    }

    fn of_allocation(&mut self, reader: &mut Reader<'p>, buf: BufId, index: Poly<'p>) -> Option<Vec<Poly<'p>>> {
        let (count, strides) = match self.strides.get(&buf) {
            Some(known) => known.clone()?,
            None => {
                let count = match (self.counts.get(&buf)?.kind(), self.conditions.get(&buf)) {
                    (ExprKind::Select(_, count, _), Some(_)) => count.clone(),
                    _ => self.counts.get(&buf)?.clone(),
                };
                let made = Some(base(reader, &count));
                self.strides.insert(buf, made.clone());
                made?
            }
        };
        let wanted: Vec<Sym> = strides.iter().filter_map(|a| symbol(reader, *a)).collect();
        let index = if strides.is_empty() { index } else { self.expanded(reader, index, buf, &wanted) };
        let mut list = Vec::new();
        peel(&reader.terms, index, count, strides, &mut list);
        Some(list)
    }

    fn of_given(&mut self, reader: &mut Reader<'p>, access: Access<'_, 'p>) -> Option<Vec<Poly<'p>>> {
        let Access { buf, info, index } = access;
        let field = |dim: usize, field| Sym::Buffer { buf, dim: dim as u16, field };
        let strides: Vec<Sym> =
            (0..info.dims).filter(|d| info.unit_stride != Some(*d)).map(|d| field(d, DimField::Stride)).collect();
        let mut rest = self.expanded(reader, index, buf, &strides);
        let mut list = Vec::new();
        let mut apart = true;
        let mut fixed: Vec<Fixed<'p>> = Vec::new();
        for dim in 0..info.dims {
            let extent = reader.scalar(&build::sym(field(dim, DimField::Extent)));
            if info.unit_stride == Some(dim) {
                fixed.push(Fixed { stride: 1, extent, count: Poly::default() });
                continue;
            }
            let stride = reader.scalar(&build::sym(field(dim, DimField::Stride)));
            let coordinate = match stride.atoms().first() {
                None => Poly::default(),
                Some(&atom) => {
                    let (factor, others) = rest.linear_in(atom)?;
                    apart &= !factor.atoms().iter().any(|a| symbol(reader, *a).is_some_and(|s| strides.contains(&s)));
                    rest = others;
                    factor
                }
            };
            match self.constant(reader, &stride).filter(|k| *k >= 1) {
                Some(stride) => fixed.push(Fixed { stride, extent, count: coordinate }),
                None if stride.atoms().is_empty() => return None,
                None => within(&coordinate, &extent, &mut list),
            }
        }
        // Without coordinates there is one element; with them, each has a stride.
        apart &= self.of_constant_strides(reader, fixed, rest, &mut list).as_constant() == Some(0);
        apart.then_some(list)
    }

    /// Takes coordinates off `rest` by strides that are constant, the largest first: a multiple of a stride belongs to
    /// its dimension. Dimensions without a gap between their rows are one. Returns what is left.
    fn of_constant_strides(
        &mut self,
        reader: &mut Reader<'p>,
        mut fixed: Vec<Fixed<'p>>,
        rest: Poly<'p>,
        list: &mut Vec<Poly<'p>>,
    ) -> Poly<'p> {
        fixed.sort_by_key(|f| f.stride);
        let mut groups: Vec<Fixed<'p>> = Vec::new();
        for f in fixed {
            let dense = |g: &Fixed<'p>| {
                self.constant(reader, &g.extent).filter(|n| g.stride.checked_mul(*n) == Some(f.stride) && f.stride > 1)
            };
            match groups.last_mut().and_then(|g| dense(g).map(|n| (g, n))) {
                Some((g, n)) => {
                    g.count = g.count.add_scaled(&f.count, n);
                    g.extent = f.extent.scaled(n);
                }
                None => groups.push(f),
            }
        }
        let several = groups.iter().any(|g| g.stride > 1);
        let mut rest = if several { reader.resolved(&rest) } else { rest };
        for g in groups.iter().rev() {
            let (multiple, left) = if g.stride == 1 { (rest, Poly::default()) } else { rest.split_multiple(g.stride) };
            within(&g.count.add_scaled(&multiple, 1), &g.extent, list);
            rest = left;
        }
        rest
    }

    /// `p` with every symbol replaced by its definition that leads to one of `wanted`, the strides of `buf`.
    fn expanded(&mut self, reader: &mut Reader<'p>, p: Poly<'p>, buf: BufId, wanted: &[Sym]) -> Poly<'p> {
        let mut p = p;
        // A definition has nothing of what is bound after it.
        let Some(first) = wanted.iter().map(|s| reader.defs.level(*s)).min() else { return p };
        loop {
            let next = p.atoms().iter().find(|a| {
                let s = symbol(reader, **a).filter(|s| !wanted.contains(s));
                s.is_some_and(|s| reader.defs.level(s) > first && self.leads_to(reader, s, buf, wanted))
            });
            let Some(&atom) = next else { return p };
            let Some(value) = reader.value_of(atom) else { return p };
            p = p.substituted(atom, &value);
            if p.is_broken() || p.len() > 200 {
                return p;
            }
        }
    }

    fn leads_to(&mut self, reader: &Reader<'p>, s: Sym, buf: BufId, wanted: &[Sym]) -> bool {
        if let Some(known) = self.leading.get(&(buf, s)) {
            return *known;
        }
        let mentioned = self.mentioned(reader, s);
        let first = wanted.iter().map(|s| reader.defs.level(*s)).min().unwrap_or(0);
        let leads = mentioned.iter().any(|s| {
            let may_lead = reader.defs.level(*s) > first;
            wanted.contains(s) || may_lead && deep(|| self.leads_to(reader, *s, buf, wanted))
        });
        self.leading.insert((buf, s), leads);
        leads
    }

    /// The symbols in the definition of `s`.
    fn mentioned(&mut self, reader: &Reader<'p>, s: Sym) -> Rc<[Sym]> {
        let list = self.mentions.entry(s).or_insert_with(|| {
            let mut found = Vec::new();
            if let Some(Definition::Let(value)) = reader.defs.get(s) {
                for_each_node(value, &mut |n| {
                    if let ExprKind::Sym(t) = n.kind() {
                        found.push(*t);
                    }
                });
            }
            found.into()
        });
        Rc::clone(list)
    }
}

/// Dimensions of one constant stride.
struct Fixed<'p> {
    stride: i128,
    extent: Poly<'p>,
    /// The part of the coordinate that is known already.
    count: Poly<'p>,
}

fn within<'p>(coordinate: &Poly<'p>, extent: &Poly<'p>, list: &mut Vec<Poly<'p>>) {
    list.push(*coordinate);
    list.push(extent.minus(coordinate).offset(-1));
}

/// `count` with names of products replaced by these, and the atoms of the product that it then is.
fn base<'p>(reader: &mut Reader<'p>, count: &Expr) -> (Poly<'p>, Vec<AtomId>) {
    let mut p = reader.scalar(count);
    loop {
        let atoms = p.atoms();
        let product = atoms.iter().find_map(|a| {
            let value = reader.value_of(*a)?;
            (value.len() == 1).then_some((*a, value))
        });
        match product {
            Some((a, value)) => p = p.substituted(a, &value),
            None if p.len() == 1 => {
                let atoms = p.atoms().to_vec();
                return (p, atoms);
            }
            None => return (p, Vec::new()),
        }
    }
}

fn symbol(reader: &Reader<'_>, atom: AtomId) -> Option<Sym> {
    match reader.terms.atom(atom) {
        super::atoms::Atom::Sym(s) => Some(*s),
        _ => None,
    }
}

/// Takes coordinates off `index` below `count`, which is a product of `strides` and a constant, the innermost first. A
/// number that divides the coordinates outside of a stride belongs to it: elements of `k` parts are `k` apart.
fn peel<'p>(terms: &Terms<'p>, index: Poly<'p>, count: Poly<'p>, mut strides: Vec<AtomId>, list: &mut Vec<Poly<'p>>) {
    let (mut index, mut count) = (index, count);
    // One row: a coordinate may be counted from its end.
    while count.terms().first().is_some_and(|(mono, k)| mono.len() > 1 || *k > 1) {
        let often = |a: &AtomId| index.terms().iter().filter(|(mono, _)| mono.contains(*a)).count();
        let Some(at) = (0..strides.len()).filter(|i| often(&strides[*i]) > 0).max_by_key(|i| often(&strides[*i]))
        else {
            break;
        };
        let stride = strides.swap_remove(at);
        let (Some((outer, inner)), Some((fewer, _))) = (index.linear_in(stride), count.linear_in(stride)) else {
            break;
        };
        if inner.terms().iter().any(|(mono, _)| mono.len() > 1) {
            break;
        }
        let parts = fewer.terms().first().map_or(fewer.constant_term(), |(_, k)| (*k).into());
        let parts = outer.common_divisor(parts).max(1);
        list.push(terms.poly(stride).scaled(parts).minus(&inner).offset(-1));
        list.push(inner);
        (index, count) = (outer.divided(parts), fewer.divided(parts));
    }
    list.push(count.minus(&index).offset(-1));
    list.push(index);
}
