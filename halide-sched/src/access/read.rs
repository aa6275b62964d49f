//! Index expressions as polynomials.

use super::atoms::{Atom, Choice, Moment, Terms};
use super::data::Elements;
use super::hoist::Hoisted;
use super::mono::AtomId;
use super::poly::{Poly, Span, Sums};
use crate::tuning::{MOST_NAMES, MOST_PICKS, MOST_READ_NODES, MOST_READ_ROUNDS};
use halide_core::ops::{BinOp, UnOp};
use halide_ir::hash::{Map, Set};
use halide_ir::visit::{any_node, deep};
use halide_ir::{DimField, Elem, Expr, ExprKind, Sym, build};

/// The binding of a symbol.
#[derive(Clone, Debug)]
pub(crate) enum Definition {
    /// By a `Let`.
    Let(Expr),
    /// As the variable of a loop from a minimum, of some extent. It has a value in non-empty loops only.
    Loop(Expr, Expr),
}

/// The bindings of all symbols of a program, in the order in which they were met.
#[derive(Default, Debug)]
pub(crate) struct Definitions {
    table: Map<Sym, (Definition, u32)>,
}

impl Definitions {
    /// Records a binding.
    pub(crate) fn bind(&mut self, sym: Sym, definition: Definition) {
        let level = self.len() + 1;
        self.table.insert(sym, (definition, level));
    }
    /// The number of bindings so far.
    pub(crate) fn len(&self) -> u32 {
        self.table.len() as u32
    }
    /// The binding of `sym`; `None` for what the caller gives.
    pub(crate) fn get(&self, sym: Sym) -> Option<&Definition> {
        self.table.get(&sym).map(|(d, _)| d)
    }
    /// The value that a choice has a name for, if `e` is that name; else `e`.
    pub(crate) fn named<'e>(&'e self, e: &'e Expr) -> &'e Expr {
        match e.kind() {
            ExprKind::Sym(s) => match self.get(*s) {
                Some(Definition::Let(value)) if matches!(value.kind(), ExprKind::Select(..)) => value,
                _ => e,
            },
            _ => e,
        }
    }
    /// The number of the binding of `sym`; 0 for what the caller gives.
    pub(crate) fn level(&self, sym: Sym) -> u32 {
        self.table.get(&sym).map_or(0, |(_, level)| *level)
    }
}

/// The number of a vector and the polynomial of the lane that is looked at.
pub(crate) type LaneOf<'p> = (u32, Poly<'p>);

/// Translates expressions, and remembers.
pub(crate) struct Reader<'p> {
    /// The atoms.
    pub(crate) terms: Terms<'p>,
    /// The bindings.
    pub(crate) defs: Definitions,
    pub(super) elements: Elements<'p>,
    polys: Map<(Expr, u32, Moment), Poly<'p>>,
    /// Counts expressions that were read.
    pub(crate) visits: u64,
    /// The moment of what is read.
    moment: Moment,
    /// Names that were asked about, each with true if it stands for what the program may store to.
    changing: Map<Sym, bool>,
    pub(super) ranges: Map<Expr, Span>,
    pub(super) float_ranges: Map<Expr, Option<super::floats::FloatSpan>>,
    pub(super) expansions: Map<AtomId, Poly<'p>>,
    /// The values of names in terms of what is no name.
    pub(super) resolutions: Map<AtomId, Option<Poly<'p>>>,
    /// Divisors that are at least 1 wherever they are defined.
    pub(crate) divisors: Set<Poly<'p>>,
    /// The lane that is looked at, by the number of lanes.
    lanes: Map<u16, LaneOf<'p>>,
    /// Destinations of inequalities without their constants, from the frame of a number.
    pub(super) hoists: Map<(Poly<'p>, &'p [Poly<'p>], u32), &'p [Hoisted<'p>]>,
    /// The same of accesses, by frame and lane.
    pub(super) moved: Map<(Poly<'p>, &'p [Poly<'p>], u32, u32), &'p [Hoisted<'p>]>,
    /// Atoms without a name, for each name.
    pub(super) renamed: Map<AtomId, Map<AtomId, Poly<'p>>>,
    /// The ranges of loop variables, by numbers, with the ends that atoms have over them.
    pub(super) ranges_met: Map<(AtomId, Poly<'p>, Poly<'p>), u32>,
    pub(super) ends_met: Map<(AtomId, u32, bool), Option<Poly<'p>>>,
    /// The values of names, and the ends of loop variables.
    values: Map<AtomId, Option<Poly<'p>>>,
    ranges_of_loops: Map<AtomId, Option<(Poly<'p>, Poly<'p>)>>,
    /// Names that were asked about, each with true if it leads to memory.
    pub(super) reading: Map<Sym, bool>,
}

impl<'p> Reader<'p> {
    /// The level of what is in memory, and known where it is read only.
    pub(crate) const IN_MEMORY: u32 = u32::MAX - 1;

    /// A reader of the expressions over `defs`.
    pub(crate) fn new(defs: Definitions, elements: Elements<'p>, sums: &'p Sums<'p>) -> Reader<'p> {
        Reader {
            terms: Terms::new(sums),
            defs,
            elements,
            polys: Map::default(),
            visits: 0,
            moment: None,
            changing: Map::default(),
            ranges: Map::default(),
            float_ranges: Map::default(),
            expansions: Map::default(),
            resolutions: Map::default(),
            divisors: Set::default(),
            lanes: Map::default(),
            hoists: Map::default(),
            moved: Map::default(),
            reading: Map::default(),
            renamed: Map::default(),
            ranges_met: Map::default(),
            ends_met: Map::default(),
            values: Map::default(),
            ranges_of_loops: Map::default(),
        }
    }

    /// Takes for granted that `p` is at least 0 wherever something is looked at from now on; false if that says nothing
    /// new.
    pub(crate) fn refine(&mut self, p: &Poly<'p>) -> bool {
        self.terms.narrow(p)
    }
    /// Forgets what was read: it may have a shorter form since intervals were narrowed.
    pub(crate) fn forget_forms(&mut self) {
        self.polys.clear();
        self.values.clear();
        self.expansions.clear();
        self.resolutions.clear();
        self.ranges_of_loops.clear();
    }

    /// The value of a scalar.
    pub(crate) fn scalar(&mut self, e: &Expr) -> Poly<'p> {
        self.read(e, &(0, Poly::default()))
    }

    /// The value of one lane of `e`, and that lane; the lane is any of those that `e` has. It has one number for all
    /// vectors of as many lanes: accesses are looked at one by one.
    pub(crate) fn lane(&mut self, e: &Expr) -> (LaneOf<'p>, Poly<'p>) {
        if e.lanes() == 1 {
            return ((0, Poly::default()), self.scalar(e));
        }
        let lane = match self.lanes.get(&e.lanes()) {
            Some(known) => *known,
            None => {
                let made = self.terms.lane(e.lanes());
                self.lanes.insert(e.lanes(), made);
                made
            }
        };
        let value = self.read(e, &lane);
        (lane, value)
    }

    /// The value of lane `lane` of `e`.
    pub(super) fn read(&mut self, e: &Expr, lane: &LaneOf<'p>) -> Poly<'p> {
        let key = (e.clone(), if e.lanes() == 1 { 0 } else { lane.0 }, self.moment);
        if let Some(known) = self.polys.get(&key) {
            return *known;
        }
        self.visits += 1;
        let made = deep(|| self.node(e, lane));
        self.polys.insert(key, made);
        made
    }

    fn node(&mut self, e: &Expr, lane: &LaneOf<'p>) -> Poly<'p> {
        match e.kind() {
            ExprKind::Int(v) => Poly::constant((*v).into()),
            ExprKind::Sym(s) => self.symbol(e, *s, lane),
            ExprKind::Likely(a) | ExprKind::Broadcast(a) => self.read(a, lane),
            ExprKind::Binary(op, a, b) => self.binary(e, *op, a, b, lane),
            ExprKind::Select(_, a, b) => {
                let list = vec![self.read(a, lane), self.read(b, lane)];
                self.terms.either(list, (e.clone(), lane.0, self.moment_of(e)))
            }
            ExprKind::Ramp { base, stride } => {
                let (base, stride) = (self.scalar(base), self.scalar(stride));
                base.add_scaled(&stride.times(&lane.1), 1)
            }
            ExprKind::Shuffle(vectors, lanes) => self.shuffle((e.clone(), lane.0, self.moment_of(e)), vectors, lanes),
            ExprKind::Cast(a) => self.cast(e, a, lane),
            _ => self.opaque(e, lane, (None, None)),
        }
    }

    fn symbol(&mut self, e: &Expr, s: Sym, lane: &LaneOf<'p>) -> Poly<'p> {
        if e.lanes() > 1 {
            return match self.defs.get(s).cloned() {
                Some(Definition::Let(value)) => self.at_binding(s, &value, |reader| reader.read(&value, lane)),
                _ => self.opaque(e, lane, (None, None)),
            };
        }
        let span = match self.defs.get(s).cloned() {
            Some(Definition::Let(value)) => {
                let value = self.at_binding(s, &value, |reader| reader.scalar(&value));
                // A name for a constant or another name is that.
                if value.as_constant().is_some() {
                    return value;
                }
                self.terms.span_of(&value)
            }
            Some(Definition::Loop(min, extent)) => {
                let last = build::offset(build::add(min.clone(), extent), -1);
                let (min, last) = (self.scalar(&min), self.scalar(&last));
                (self.terms.span_of(&min).0, self.terms.span_of(&last).1)
            }
            None => given(s),
        };
        let level = self.defs.level(s);
        self.terms.leaf(Atom::Sym(s), span, level)
    }

    fn binary(&mut self, e: &Expr, op: BinOp, a: &Expr, b: &Expr, lane: &LaneOf<'p>) -> Poly<'p> {
        let (x, y) = (self.read(a, lane), self.read(b, lane));
        match (op, y.as_constant()) {
            (BinOp::Add, _) => x.add_scaled(&y, 1),
            (BinOp::Sub, _) => x.minus(&y),
            (BinOp::Mul, _) => x.times(&y),
            (BinOp::Min, _) => self.terms.min(x, y),
            (BinOp::Max, _) => self.terms.max(x, y),
            (BinOp::Div, Some(k)) if k > 0 => self.terms.div(x, k),
            (BinOp::Mod, Some(k)) if k > 0 => self.terms.rem(x, k),
            (BinOp::Div, None) if self.divisors.contains(&y) => self.terms.quotient(x, y),
            (BinOp::Mod, None) if self.divisors.contains(&y) => self.terms.remainder(x, y),
            _ => self.opaque(e, lane, (None, None)),
        }
    }

    /// Any of the lanes that a shuffle picks.
    fn shuffle(&mut self, choice: Choice, vectors: &[Expr], lanes: &[u16]) -> Poly<'p> {
        let mut picks: Vec<u16> = lanes.to_vec();
        picks.sort_unstable();
        picks.dedup();
        let mut list = Vec::new();
        let mut first = 0;
        for v in vectors {
            let own: Vec<u16> = picks.iter().filter(|p| (first..first + v.lanes()).contains(*p)).copied().collect();
            if v.lanes() > 1 && own.len() == usize::from(v.lanes()) || own.len() > MOST_PICKS {
                let lane = self.terms.lane(v.lanes());
                list.push(self.read(v, &lane));
            } else {
                for pick in own {
                    let (vector, _) = self.terms.lane(v.lanes());
                    list.push(self.read(v, &(vector, Poly::constant((pick - first).into()))));
                }
            }
            first += v.lanes();
        }
        self.terms.either(list, choice)
    }

    /// A conversion of data to an index.
    fn cast(&mut self, e: &Expr, a: &Expr, lane: &LaneOf<'p>) -> Poly<'p> {
        // An index that was data in between is the same, where its range fits the type.
        if let (ExprKind::Cast(inner), Elem::Data(ty)) = (a.kind(), a.ty().elem)
            && inner.ty().is_index()
        {
            let inner = self.read(inner, lane);
            if let ((Some(low), Some(high)), Some(least), Some(most)) =
                (self.terms.span_of(&inner), ty.int_min(), ty.int_max())
                && least <= low
                && high <= most
            {
                return inner;
            }
        }
        let span = self.range(a);
        if e.lanes() > 1 {
            return self.opaque(e, lane, span);
        }
        let e = self.without_names(e);
        match e.kind() {
            ExprKind::Cast(data) if !self.reads(data) => self.data(data),
            _ => self.opaque(&e, lane, span),
        }
    }

    /// A scalar of data as an index: arithmetic that does not leave its type is that of indices.
    fn data(&mut self, e: &Expr) -> Poly<'p> {
        let made = match e.kind() {
            ExprKind::Const(v) if !v.ty().is_float() => Some(Poly::constant(v.as_i128())),
            ExprKind::Likely(a) => Some(self.data(a)),
            ExprKind::Unary(UnOp::Neg, a) if self.stays(e) => Some(deep(|| self.data(a)).scaled(-1)),
            ExprKind::Binary(op @ (BinOp::Min | BinOp::Max | BinOp::Add | BinOp::Sub), a, b) if self.stays(e) => {
                let (x, y) = (deep(|| self.data(a)), deep(|| self.data(b)));
                Some(match op {
                    BinOp::Min => self.terms.min(x, y),
                    BinOp::Max => self.terms.max(x, y),
                    BinOp::Add => x.add_scaled(&y, 1),
                    _ => x.minus(&y),
                })
            }
            // Indices are made of integers only, and a bool is none.
            ExprKind::Cast(a) if a.ty().scalar().is_some_and(|ty| ty.is_int()) && self.stays(e) => {
                Some(deep(|| self.data(a)))
            }
            _ => None,
        };
        made.unwrap_or_else(|| {
            let span = self.range(e);
            self.opaque(&build::to_index(e.clone()), &LaneOf::default(), span)
        })
    }

    /// The scalar `e` with names of other data replaced by what they stand for: of two that are equal, one is enough.
    fn without_names(&self, e: &Expr) -> Expr {
        let mut e = e.clone();
        for _ in 0..MOST_READ_ROUNDS {
            let next = halide_ir::visit::substitute(&e, &|s| match self.defs.get(s) {
                Some(Definition::Let(value)) if value.lanes() == 1 && value.ty().scalar().is_some() => {
                    (!self.level_of_expr(value).eq(&Self::IN_MEMORY)).then(|| value.clone())
                }
                _ => None,
            });
            let mut nodes = 0;
            halide_ir::visit::for_each_node(&next, &mut |_| nodes += 1);
            if nodes > MOST_READ_NODES || next == e {
                break;
            }
            e = next;
        }
        e
    }

    /// A scalar that is not looked into.
    pub(super) fn scalar_opaque(&mut self, e: &Expr) -> Poly<'p> {
        self.opaque(e, &LaneOf::default(), (None, None))
    }

    fn opaque(&mut self, e: &Expr, lane: &LaneOf<'p>, span: Span) -> Poly<'p> {
        let level = self.level_of_expr(e);
        let (vector, level) = if e.lanes() == 1 { (None, level) } else { (Some(lane.0), u32::MAX) };
        self.terms.leaf(Atom::Opaque(e.clone(), vector, self.moment_of(e)), span, level)
    }

    /// The latest binding that `e` depends on; [`Reader::IN_MEMORY`] if it reads, also by names.
    pub(crate) fn level_of_expr(&self, e: &Expr) -> u32 {
        let mut level = 0;
        halide_ir::visit::for_each_node(e, &mut |n| {
            if let ExprKind::Sym(s) = n.kind() {
                level = level.max(self.defs.level(*s));
            }
            // What is in memory may change: it is known where it stands only.
            if matches!(n.kind(), ExprKind::Load { .. }) {
                level = Self::IN_MEMORY;
            }
        });
        level
    }

    /// Calls `read`, which reads `value`, as of the moment at which it is bound to `s`.
    pub(super) fn at_binding<T>(&mut self, s: Sym, value: &Expr, read: impl FnOnce(&mut Self) -> T) -> T {
        let changes = match self.changing.get(&s) {
            Some(known) => *known,
            None => self.changes(value),
        };
        if !matches!(self.defs.get(s), Some(Definition::Loop(..))) {
            self.changing.insert(s, changes);
        }
        let outer = self.moment;
        self.moment = if changes { Some(s) } else { outer };
        let result = read(self);
        self.moment = outer;
        result
    }

    /// The moment of `e`, which is read now; `None` also if it is the same at any.
    fn moment_of(&self, e: &Expr) -> Moment {
        self.moment.filter(|_| self.changes(e))
    }

    /// Returns true if `e` reads memory that the program stores to.
    pub(crate) fn changes(&self, e: &Expr) -> bool {
        any_node(e, |n| matches!(n.kind(), ExprKind::Load { buf, .. } if self.elements.is_stored(*buf)))
    }

    /// Returns true if `p` depends on memory that the program stores to, as of no moment in particular.
    pub(crate) fn is_momentary(&self, p: &Poly<'p>) -> bool {
        let any = |p: &Poly<'p>| self.is_momentary(p);
        self.terms.level_of(p) >= Self::IN_MEMORY
            && p.atoms().iter().copied().any(|atom| match self.terms.atom(atom) {
                Atom::Opaque(e, _, None) => self.changes(e),
                Atom::Sym(_) | Atom::Lane(_) | Atom::Opaque(..) => false,
                Atom::Min(x, y) | Atom::Quotient(x, y) | Atom::Remainder(x, y) => any(x) || any(y),
                Atom::Either(list, _) => list.iter().any(any),
                Atom::Div(x, _) | Atom::Mod(x, _) => any(x),
            })
    }

    /// The definition of the symbol that `atom` is, if a `Let` binds it.
    pub(crate) fn value_of(&mut self, atom: AtomId) -> Option<Poly<'p>> {
        let Atom::Sym(s) = *self.terms.atom(atom) else { return None };
        if let Some(known) = self.values.get(&atom) {
            return *known;
        }
        let value = match self.defs.get(s).cloned() {
            Some(Definition::Let(value)) => Some(self.at_binding(s, &value, |reader| reader.scalar(&value))),
            _ => None,
        };
        self.values.insert(atom, value);
        value
    }

    /// Returns true if `p` is made of symbols, lanes and constants alone: it has one value where these are bound.
    pub(crate) fn is_plain(&self, p: &Poly<'p>) -> bool {
        let all = |p: &Poly<'p>| self.is_plain(p);
        let plain = p.atoms().iter().copied().all(|atom| match self.terms.atom(atom) {
            Atom::Sym(_) | Atom::Lane(_) => true,
            Atom::Opaque(..) | Atom::Either(..) => false,
            Atom::Min(x, y) | Atom::Quotient(x, y) | Atom::Remainder(x, y) => all(x) && all(y),
            Atom::Div(x, _) | Atom::Mod(x, _) => all(x),
        });
        plain && !p.is_broken()
    }

    /// `p` with all names that are bound at `level` or behind it replaced by their values; `None` if one of these is no
    /// [plain](Reader::is_plain) value. Variables of loops stay.
    pub(crate) fn seen_from(&mut self, p: &Poly<'p>, level: u32) -> Option<Poly<'p>> {
        let mut p = *p;
        for _ in 0..MOST_NAMES {
            let mut leaves = Vec::new();
            self.terms.collect_symbols(&p, &mut leaves);
            leaves.retain(|a| self.terms.level(*a) >= level);
            let Some((atom, value)) = leaves.into_iter().find_map(|a| Some((a, self.value_of(a)?))) else {
                return self.is_plain(&p).then_some(p);
            };
            p = self.terms.replaced(&p, atom, &value, &mut Map::default());
            if p.is_broken() {
                return None;
            }
        }
        None
    }

    /// First and last value of the loop whose variable `atom` is.
    pub(crate) fn loop_of(&mut self, atom: AtomId) -> Option<(Poly<'p>, Poly<'p>)> {
        let Atom::Sym(s) = *self.terms.atom(atom) else { return None };
        if let Some(known) = self.ranges_of_loops.get(&atom) {
            return *known;
        }
        let range = match self.defs.get(s).cloned() {
            Some(Definition::Loop(min, extent)) => {
                let first = self.at_binding(s, &min, |reader| reader.scalar(&min));
                let extent = self.at_binding(s, &extent, |reader| reader.scalar(&extent));
                let (first, extent) = (self.expanded(&first), self.expanded(&extent));
                let last = first.add_scaled(&extent, 1).offset(-1);
                Some((first, last))
            }
            _ => None,
        };
        self.ranges_of_loops.insert(atom, range);
        range
    }
}

/// The interval of a property of the caller's buffers. Buffers are not empty, and coordinates are `i32`.
fn given(s: Sym) -> Span {
    match s {
        Sym::Buffer { field: DimField::Min, .. } => (Some(i32::MIN.into()), Some(i32::MAX.into())),
        Sym::Buffer { field: DimField::Extent, .. } => (Some(1), Some(1 << 32)),
        _ => (None, None),
    }
}
