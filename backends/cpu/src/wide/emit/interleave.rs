//! Interleaved vectors, whose lanes take turns, `a0 b0 a1 b1 ...`: what lies so in memory is loaded as it is.

use super::super::interface::Emitted;
use super::super::machine::{Arg, View};
use super::dot::Small;
use super::kernel::Emit;
use super::places::Place;
use super::value::{Parts, broadcast_op};
use crate::shared::lane::Lane;
use halide_core::types::ScalarType;
use halide_core::value::Scalar;
use halide_ir::{BufId, Expr, ExprKind, build};
use halide_solve::simplify::Linear;
use regalloc2::VReg;

impl Emit<'_> {
    /// The lanes of vectors of `lanes` lanes, as elements of `ty`, taking turns.
    pub(super) fn interleave_side(&self, side: &[Small], ty: ScalarType, lanes: u16) -> Expr {
        let vectors: Vec<Expr> = side
            .iter()
            .map(|s| match s {
                Small::Constant(v) => build::broadcast(build::constant(Scalar::int(ty, i128::from(*v))), lanes),
                Small::Lanes(e) => build::cast_data(ty, e.clone()),
            })
            .collect();
        let turns = vectors.len() as u16;
        if let Some(ones) = broadcast_of(&vectors) {
            let picks = (0..turns * lanes).map(|i| i % turns).collect();
            let source = match self.one_load(&ones, 1) {
                Some(load) => vec![load],
                None => ones,
            };
            return build::shuffle(source, picks);
        }
        if let Some(load) = self.one_load(&vectors, i64::from(turns)) {
            return load;
        }
        let take_turns = |of: &dyn Fn(u16, u16) -> u16| -> Vec<u16> {
            (0..lanes).flat_map(|lane| (0..turns).map(move |turn| (turn, lane))).map(|(t, l)| of(t, l)).collect()
        };
        if let Some((sources, picks)) = of_one_source(&vectors) {
            let all = take_turns(&|turn, lane| picks[turn as usize][lane as usize]);
            let lengths: Vec<u16> = sources.iter().map(Expr::lanes).collect();
            let even = lengths.iter().all(|n| *n == lengths[0]);
            return match self.one_after_the_other(sources).filter(|_| even) {
                Some(load) => build::shuffle(vec![load], all),
                None => build::shuffle(sources.to_vec(), all),
            };
        }
        let all = take_turns(&|turn, lane| turn * lanes + lane);
        build::shuffle(vectors, all)
    }

    /// Loads, of which lane by lane each reads the element behind that of the one before, and all lanes are `apart`
    /// elements apart: as one.
    fn one_load(&self, loads: &[Expr], apart: i64) -> Option<Expr> {
        let mut firsts = Vec::new();
        for e in loads {
            let (buf, index) = self.load_in_memory(e)?;
            let first = match index.kind() {
                ExprKind::Ramp { base, stride } if build::as_int(stride) == Some(apart) => base,
                _ if index.lanes() == 1 => &index,
                _ => return None,
            };
            firsts.push((buf, first.clone()));
        }
        self.adjacent(&firsts, 1)?;
        let (buf, first) = firsts.swap_remove(0);
        let lanes = loads.iter().map(Expr::lanes).sum();
        Some(build::load(buf, loads[0].ty().scalar()?, build::ramp(first, build::int(1), lanes), None))
    }
    /// Dense loads of as many lanes each that lie one after the other, as one.
    fn one_after_the_other(&self, loads: &[Expr]) -> Option<Expr> {
        let mut firsts = Vec::new();
        for e in loads {
            let (buf, index) = self.load_in_memory(e)?;
            let ExprKind::Ramp { base, stride } = index.kind() else { return None };
            build::as_int(stride).filter(|s| *s == 1)?;
            firsts.push((buf, base.clone()));
        }
        self.adjacent(&firsts, i64::from(loads[0].lanes()))?;
        let (buf, first) = firsts.swap_remove(0);
        let lanes = loads.iter().map(Expr::lanes).sum();
        Some(build::load(buf, loads[0].ty().scalar()?, build::ramp(first, build::int(1), lanes), None))
    }
    /// Returns `Some` if each place is `step` elements behind the one before, in one buffer.
    fn adjacent(&self, places: &[(BufId, Expr)], step: i64) -> Option<()> {
        let follows = |pair: &[(BufId, Expr)]| {
            let distance = Linear::of(&build::sub(pair[1].1.clone(), pair[0].1.clone()));
            pair[0].0 == pair[1].0 && distance.terms.is_empty() && distance.constant == step
        };
        places.windows(2).all(follows).then_some(())
    }
    /// The buffer and the index of a load that has no mask, and is of memory.
    fn load_in_memory(&self, e: &Expr) -> Option<(BufId, Expr)> {
        let named = match e.kind() {
            ExprKind::Sym(s) => &self.small_names.get(s)?.0,
            _ => e,
        };
        let ExprKind::Load { buf, index, mask: None } = named.kind() else { return None };
        let in_registers = matches!(self.slots.places.get(buf), Some(Place::Registers));
        (!in_registers).then(|| (*buf, index.clone()))
    }

    /// A shuffle whose lanes are the same few again and again: they are broadcast as one wider lane.
    pub(super) fn repeated(&mut self, vectors: &[Expr], picks: &[u16]) -> Emitted<Option<Parts>> {
        let Some(elem) = vectors.first().map(|v| v.ty().elem) else { return Ok(None) };
        let lane = Lane::of_elem(elem);
        let repeats = |n: usize| picks.len() > n && picks.iter().enumerate().all(|(i, p)| *p == picks[i % n]);
        let wide = |n: usize| match n * lane.bytes() {
            2 => Some(Lane::I16),
            4 => Some(Lane::I32),
            8 => Some(Lane::I64),
            _ => None,
        };
        let Some((n, wide)) = [2, 4, 8].into_iter().find_map(|n| Some((n, wide(n).filter(|_| repeats(n))?))) else {
            return Ok(None);
        };
        let (view, count) = self.shape(lane, picks.len());
        let one = match self.broadcast_dense(vectors, &picks[..n], wide, view)? {
            Some(one) => one,
            None => {
                let few = self.lanes(&build::shuffle(vectors.to_vec(), picks[..n].to_vec()))?;
                self.broadcast_lowest(wide, few.regs[0], view)?
            }
        };
        Ok(Some(Parts { lane, view, regs: vec![one; count].into() }))
    }
    /// The first elements of a dense load, from memory into every lane of their size.
    fn broadcast_dense(&mut self, vectors: &[Expr], picks: &[u16], wide: Lane, view: View) -> Emitted<Option<VReg>> {
        let [load] = vectors else { return Ok(None) };
        let in_order = picks.iter().enumerate().all(|(i, p)| *p as usize == i);
        let Some((buf, index)) = self.load_in_memory(load) else { return Ok(None) };
        let linear = self.linear(&index);
        if !in_order || !linear.is_affine() || linear.step != 1 || self.memo.get(load).is_some() {
            return Ok(None);
        }
        let (place, elem) = self.place_of(buf)?;
        if matches!(place, Place::Registers) || Some(elem) != load.ty().scalar() {
            return Ok(None);
        }
        let mem = self.address(place, elem.bytes(), &linear)?;
        Ok(Some(self.op(broadcast_op(wide), view, &[Arg::Mem(mem)])?))
    }
    /// A shuffle of constants.
    pub(super) fn constant_shuffle(&mut self, vectors: &[Expr], picks: &[u16]) -> Emitted<Option<Parts>> {
        let mut lanes = Vec::new();
        for v in vectors {
            let one = match v.kind() {
                ExprKind::Broadcast(one) => one,
                _ => v,
            };
            let Some(value) = build::as_const(one) else { return Ok(None) };
            lanes.extend(vec![value; v.lanes() as usize]);
        }
        let lane = Lane::of_elem(vectors[0].ty().elem);
        let (view, count) = self.shape(lane, picks.len());
        let bytes = picks.iter().flat_map(|p| lanes[*p as usize].bits().to_le_bytes().into_iter().take(lane.bytes()));
        let mut bytes: Vec<u8> = bytes.collect();
        bytes.resize(count * view.bytes(), 0);
        let regs = bytes.chunks(view.bytes()).map(|b| self.pattern(b.to_vec(), view));
        let regs = regs.collect::<Emitted<Vec<_>>>()?;
        Ok(Some(Parts { lane, view, regs: regs.into() }))
    }
}

/// The scalars of which all vectors are broadcasts.
fn broadcast_of(vectors: &[Expr]) -> Option<Vec<Expr>> {
    let one = |v: &Expr| match v.kind() {
        ExprKind::Broadcast(one) => Some(one.clone()),
        _ => None,
    };
    vectors.iter().map(one).collect()
}

/// The vectors that all are shuffles of, and what each picks.
fn of_one_source(vectors: &[Expr]) -> Option<(&[Expr], Vec<&[u16]>)> {
    let first = match vectors.first()?.kind() {
        ExprKind::Shuffle(sources, _) => sources,
        _ => return None,
    };
    let mut picks = Vec::new();
    for v in vectors {
        let ExprKind::Shuffle(sources, p) = v.kind() else { return None };
        if sources != first {
            return None;
        }
        picks.push(&p[..]);
    }
    Some((first, picks))
}
