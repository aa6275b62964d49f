//! Moving lanes: picking them from parts, single lanes in and out.

use super::func::Func;
use super::value::{Parts, Val};
use crate::shared::lane::Lane;
use cranelift_codegen::ir::{ConstantData, InstBuilder, Value, types};
use halide_ir::Expr;

impl Func<'_> {
    /// Parts whose lanes are `picks` of the concatenated `sources`; `sources` hold whole parts.
    pub(super) fn pick(&mut self, lane: Lane, sources: &[Value], picks: &[usize]) -> Parts {
        let per = lane.per_part();
        picks.chunks(per).map(|chunk| self.pick_part(lane, sources, chunk)).collect()
    }
    fn pick_part(&mut self, lane: Lane, sources: &[Value], picks: &[usize]) -> Value {
        let per = lane.per_part();
        // What is in each lane so far: a lane of a source.
        let mut wanted: Vec<Option<(Value, usize)>> = vec![None; per];
        for (slot, pick) in wanted.iter_mut().zip(picks) {
            *slot = Some((sources[pick / per], pick % per));
        }
        loop {
            let mut distinct: Vec<Value> = Vec::new();
            for (v, _) in wanted.iter().flatten() {
                if !distinct.contains(v) {
                    distinct.push(*v);
                }
            }
            let (a, b) = match distinct[..] {
                [] => return sources[0],
                [a] => (a, a),
                [a, b, ..] => (a, b),
            };
            let made = self.shuffle(lane, a, b, &wanted);
            if distinct.len() <= 2 {
                return made;
            }
            // Lanes of these two are in place now; the rest joins them.
            for (i, slot) in wanted.iter_mut().enumerate() {
                if slot.is_some_and(|(v, _)| v == a || v == b) {
                    *slot = Some((made, i));
                }
            }
        }
    }
    /// The lanes of `wanted` that are of `a` or `b`; what is in others means nothing.
    fn shuffle(&mut self, lane: Lane, a: Value, b: Value, wanted: &[Option<(Value, usize)>]) -> Value {
        let in_place = |v: Value| {
            wanted.iter().enumerate().all(|(i, w)| w.is_none_or(|(s, l)| s != a && s != b || s == v && l == i))
        };
        if in_place(a) {
            return a;
        }
        if in_place(b) {
            return b;
        }
        let bytes = lane.bytes();
        let mut mask = Vec::with_capacity(16);
        for (i, slot) in wanted.iter().enumerate() {
            let from = match slot {
                Some((v, l)) if *v == a => *l,
                Some((v, l)) if *v == b => *l + lane.per_part(),
                _ => i,
            };
            mask.extend((0..bytes).map(|k| (from * bytes + k) as u8));
        }
        let made = self.shuffle_bytes(a, b, mask);
        self.bitcast(lane.vector(), made)
    }
    /// Bytes picked from two vectors of any type.
    pub(super) fn shuffle_bytes(&mut self, a: Value, b: Value, mask: Vec<u8>) -> Value {
        let (a, b) = (self.bitcast(types::I8X16, a), self.bitcast(types::I8X16, b));
        let mask = self.b.func.dfg.immediates.push(ConstantData::from(mask));
        self.ins().shuffle(a, b, mask)
    }
    /// Lane `i` as a scalar.
    pub(super) fn lane(&mut self, lane: Lane, parts: &Parts, i: u16) -> Value {
        let (part, at) = (i as usize / lane.per_part(), i as usize % lane.per_part());
        let v = parts[part.min(parts.len() - 1)];
        if self.ty(v).is_vector() { self.ins().extractlane(v, at as u8) } else { v }
    }
    /// Parts whose lanes are these scalars. A single scalar stays one.
    pub(super) fn collect(&mut self, lane: Lane, scalars: &[Value]) -> Parts {
        if let [one] = scalars {
            return Func::single(*one);
        }
        scalars.chunks(lane.per_part()).map(|chunk| self.collect_part(lane, chunk)).collect()
    }
    fn collect_part(&mut self, lane: Lane, scalars: &[Value]) -> Value {
        let first = scalars[0];
        if scalars.iter().all(|s| *s == first) {
            return self.splat(lane.vector(), first);
        }
        let mut v = match lane {
            Lane::I8 | Lane::I16 => {
                let wide = self.ins().uextend(types::I32, first);
                let wide = self.ins().scalar_to_vector(types::I32X4, wide);
                self.bitcast(lane.vector(), wide)
            }
            _ => self.ins().scalar_to_vector(lane.vector(), first),
        };
        for (i, s) in scalars.iter().enumerate().skip(1) {
            v = self.ins().insertlane(v, *s, i as u8);
        }
        v
    }
    /// A scalar in `lanes` lanes.
    pub(super) fn broadcast(&mut self, lane: Lane, v: Value, lanes: u16) -> Parts {
        if lanes == 1 {
            return Func::single(v);
        }
        let splat = self.splat(lane.vector(), v);
        (0..lane.parts(lanes)).map(|_| splat).collect()
    }
    /// `f` of the lanes of `inputs`, one at a time.
    pub(super) fn per_lane(
        &mut self,
        lanes: u16,
        inputs: &[(Lane, &Parts)],
        out: Lane,
        mut f: impl FnMut(&mut Self, &[Value]) -> Value,
    ) -> Parts {
        let results: Vec<Value> = (0..lanes)
            .map(|i| {
                let args: Vec<Value> = inputs.iter().map(|(lane, parts)| self.lane(*lane, parts, i)).collect();
                f(self, &args)
            })
            .collect();
        self.collect(out, &results)
    }

    /// `ExprKind::Shuffle`.
    pub(super) fn shuffle_expr(&mut self, e: &Expr, vectors: &[Expr], picks: &[u16]) -> Val {
        let is_bool = e.ty().is_bool();
        let lane = if is_bool { Lane::I8 } else { Lane::of_elem(e.ty().elem) };
        // Where each lane of the concatenation is among the parts, whose last ones may be filled in part.
        let (mut sources, mut places) = (Vec::new(), Vec::new());
        for v in vectors {
            let first = sources.len() * lane.per_part();
            let parts = match self.eval(v) {
                Val::Mask(..) => self.mask(v, lane),
                Val::Data(parts) if v.lanes() == 1 => {
                    let scalar = if is_bool { self.ins().bmask(types::I8, parts[0]) } else { parts[0] };
                    Func::single(self.splat(lane.vector(), scalar))
                }
                Val::Data(parts) => parts,
            };
            places.extend((0..v.lanes() as usize).map(|i| first + i));
            sources.extend(parts.iter().copied());
        }
        let Some(picks) = picks.iter().map(|p| places.get(*p as usize).copied()).collect::<Option<Vec<_>>>() else {
            self.wrong(format!("a shuffle picks a lane that is not there: {e:?}"));
            return self.zero(e.ty());
        };
        if let [one] = picks[..] {
            let scalar = self.lane(lane, &sources.into(), one as u16);
            let scalar = if is_bool { self.ins().band_imm_u(scalar, 1) } else { scalar };
            return Val::Data(Func::single(scalar));
        }
        let parts = self.pick(lane, &sources, &picks);
        if is_bool { Val::Mask(lane, parts) } else { Val::Data(parts) }
    }
}
