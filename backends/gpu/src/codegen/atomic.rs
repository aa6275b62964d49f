//! Steps that are atomic.
//!
//! A step that adds to an integer of 32 bits or sets or clears bits of one is an atomic operation, and so are minima
//! and maxima of unsigned ones. Any other step on an element of up to 32 bits computes a new word from the one that is
//! there and exchanges the two if nobody came between, else tries again: some thread always gets through, so all end.
//! Where a step would change nothing, the word is left alone. Lanes follow each other. A step of several elements would
//! need a lock, and threads that run in step with each other could wait for one for ever.

use super::builder::{Builder, V};
use super::places::Place;
use super::state::{Emitted, Gen, Stop};
use super::types::Reg;
use halide_core::ops::BinOp;
use halide_core::types::ScalarType;
use halide_ir::hash::Set;
use halide_ir::visit::{deep, for_each_child, for_each_stmt, uses};
use halide_ir::{BufId, Expr, Kernel, Step, Stmt, Sym, Writes};
use naga::BinaryOperator::{And, Equal, ExclusiveOr, InclusiveOr, ShiftLeft, ShiftRight};
use naga::{AtomicFunction, Block, Expression, PredeclaredType, Statement};

/// The alternative that error messages propose.
const HELP: &str = "do the reduction in parts, by rfactor";

/// Returns true if a kernel changes the shared memory of a workgroup in atomic steps.
pub(super) fn shared(kernel: &Kernel) -> bool {
    fn walk(s: &Stmt, into: &mut Set<BufId>) {
        if let Stmt::Atomic { body, .. } = s {
            stored(body, into);
        }
        for_each_stmt(s, |inner| walk(inner, into));
    }
    let mut all = Set::default();
    walk(&kernel.body, &mut all);
    kernel.shared.iter().any(|row| all.contains(&row.buf))
}

fn stored(s: &Stmt, into: &mut Set<BufId>) {
    if let Stmt::Store { buf, .. } = s {
        into.insert(*buf);
    }
    for_each_stmt(s, |inner| stored(inner, into));
}

/// The location of an element in memory.
struct Target {
    ty: ScalarType,
    /// Its word.
    pointer: V,
    /// The shift of the element in its word, if it shares that with others.
    shift: Option<V>,
    /// True if the word holds the bits of a register, not those of an element.
    register: bool,
}

impl Gen<'_> {
    /// `Stmt::Atomic`.
    pub(super) fn atomic(&mut self, body: &Stmt) -> Emitted<()> {
        let mut bufs = Set::default();
        stored(body, &mut bufs);
        for &buf in &bufs {
            if let Place::Registers(_) | Place::Array(_) = self.place(buf)? {
                // Nobody else sees them.
                return self.stmt(body);
            }
        }
        self.steps += 1;
        // No name of a program is that high.
        let old = Sym::Temp(u32::MAX - self.steps);
        let step = Step::of(body, old).map_err(|why| Stop::Unsupported(format!("an atomic step that {why}"), HELP))?;
        let (place, ty) = (self.place(step.buf)?, self.elem(step.buf)?);
        if ty.bytes() > 4 {
            return Err(Stop::Unsupported(format!("an atomic step on elements of {ty}, which have two words"), HELP));
        }
        if !self.in_phase {
            return Err(Stop::Malformed(format!("{:?} is stored to outside of loops over threads", step.buf)));
        }
        // Others may have stored since.
        self.memo.stored(step.buf);
        self.names(&step.bindings)?;
        let origin = if let Place::Buffer { offset, .. } = place { Some(offset) } else { None };
        let at = self.elements(origin, &step.index)?;
        let mask = step.mask.as_ref().map(|m| self.eval(m)).transpose()?;
        for (lane, element) in self.each_element(at, step.index.lanes()).into_iter().enumerate() {
            let mut made = Ok(());
            self.guarded(mask.as_ref().map(|m| m[lane]), |g| {
                made = g.target(step.buf, &place, ty, element).and_then(|target| g.change(&target, &step, old, lane));
            });
            made?;
        }
        self.memo.stored(step.buf);
        Ok(())
    }

    fn target(&mut self, buf: BufId, place: &Place, ty: ScalarType, element: V) -> Emitted<Target> {
        let (array, word, shift, register) = match place {
            Place::Buffer { array, writes: Writes::Pieces, .. } if ty.bytes() < 4 => {
                let (word, shift) = self.code.word_and_shift(ty.bytes() as u32, element);
                (*array, word, Some(shift), false)
            }
            Place::Buffer { array, writes: Writes::Pieces, .. } => (*array, element, None, false),
            Place::Shared { array, first_word } => {
                (*array, self.code.plus(element, i64::from(*first_word)), None, true)
            }
            _ => return Err(Stop::Malformed(format!("{buf:?} is not listed as changed in atomic steps"))),
        };
        let array = self.code.place_of_global(array);
        Ok(Target { ty, pointer: self.code.element(array, word), shift, register })
    }

    /// The step of one lane.
    fn change(&mut self, target: &Target, step: &Step, old: Sym, lane: usize) -> Emitted<()> {
        let operation = step.operation(old);
        if let Some((fun, operand)) = operation.and_then(|(op, e)| function(op, target).map(|fun| (fun, e))) {
            let operand = self.eval(operand)?[lane];
            let bits = self.code.bits_of(target, operand);
            let value = match (&target.shift, fun) {
                // The other bits of the word stay.
                (Some(shift), AtomicFunction::And) => {
                    let others = self.code.others(target.ty, *shift);
                    self.code.op(InclusiveOr, bits, others)
                }
                _ => bits,
            };
            self.code.push_stmt(Statement::Atomic { pointer: target.pointer, fun, value, result: None });
            return Ok(());
        }
        self.beforehand(&step.value, old)?;
        self.open();
        let held = self.code.load(target.pointer);
        let was = self.code.element_of(target, held);
        self.code.name(was, || "old".to_string());
        self.symbols.insert(old, Gen::splat(was, step.value.lanes()));
        let new = self.eval(&step.value)?[lane];
        let new = self.code.settled(Reg::of_type(target.ty), new);
        let mut word = self.code.bits_of(target, new);
        if let Some(shift) = target.shift {
            let others = self.code.others(target.ty, shift);
            let others = self.code.op(And, held, others);
            word = self.code.op(InclusiveOr, word, others);
        }
        let same = self.code.op(Equal, word, held);
        self.code.stop_if(same);
        let exchanged = self.code.exchange(target.pointer, held, word);
        self.code.stop_if(exchanged);
        let body = self.close();
        self.code.push_stmt(Statement::Loop { body, continuing: Block::new(), break_if: None });
        Ok(())
    }

    /// Computes the parts of `e` that do not depend on `old`, which need not be computed again with every try.
    fn beforehand(&mut self, e: &Expr, old: Sym) -> Emitted<()> {
        if !uses(e, old) {
            return self.eval(e).map(|_| ());
        }
        let mut made = Ok(());
        for_each_child(e, |child| {
            if made.is_ok() {
                made = deep(|| self.beforehand(child, old));
            }
        });
        made
    }
}

/// The atomic operation on the words of `target` that is `op` on its elements.
fn function(op: BinOp, target: &Target) -> Option<AtomicFunction> {
    let whole = matches!(target.ty, ScalarType::I32 | ScalarType::U32);
    match op {
        _ if target.ty.is_float() => None,
        BinOp::BitAnd => Some(AtomicFunction::And),
        BinOp::BitOr => Some(AtomicFunction::InclusiveOr),
        BinOp::BitXor => Some(AtomicFunction::ExclusiveOr),
        BinOp::Add if whole => Some(AtomicFunction::Add),
        BinOp::Sub if whole => Some(AtomicFunction::Subtract),
        BinOp::Min if target.ty == ScalarType::U32 => Some(AtomicFunction::Min),
        BinOp::Max if target.ty == ScalarType::U32 => Some(AtomicFunction::Max),
        _ => None,
    }
}

impl Builder<'_> {
    /// The bits of an element at their place in the word, and zeros beside them.
    fn bits_of(&mut self, target: &Target, v: V) -> V {
        let bits = match target.register {
            true => self.word_of_register(Reg::of_type(target.ty), v),
            false => self.word_of_value(target.ty, v),
        };
        target.shift.map_or(bits, |shift| self.op(ShiftLeft, bits, shift))
    }
    /// The element in a word.
    fn element_of(&mut self, target: &Target, word: V) -> V {
        match target.shift {
            Some(shift) => {
                let bits = self.op(ShiftRight, word, shift);
                self.small_value(target.ty, bits)
            }
            None if target.register => self.register_of_word(Reg::of_type(target.ty), word),
            None => self.value_of_word(target.ty, word),
        }
    }
    /// The bits of a word that are not those of the element of `ty` at `shift`.
    fn others(&mut self, ty: ScalarType, shift: V) -> V {
        let (own, all) = (self.u32((1 << (8 * ty.bytes())) - 1), self.u32(u32::MAX));
        let own = self.op(ShiftLeft, own, shift);
        self.op(ExclusiveOr, own, all)
    }
    /// Leaves the loop around where the condition holds.
    fn stop_if(&mut self, condition: V) {
        self.open();
        self.push_stmt(Statement::Break);
        let accept = self.close();
        self.push_stmt(Statement::If { condition, accept, reject: Block::new() });
    }
    /// Puts `word` there if `held` is there; gives whether it did. It may not though it could.
    fn exchange(&mut self, pointer: V, held: V, word: V) -> V {
        let outcome = PredeclaredType::AtomicCompareExchangeWeakResult(Reg::U32.scalar());
        let ty = self.shader.module.generate_predeclared_type(outcome);
        let result = self.unevaluated(Expression::AtomicResult { ty, comparison: true });
        let fun = AtomicFunction::Exchange { compare: Some(held) };
        self.push_stmt(Statement::Atomic { pointer, fun, value: word, result: Some(result) });
        self.value(Expression::AccessIndex { base: result, index: 1 })
    }
}
