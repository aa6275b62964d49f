//! Building a function of a shader: values, and the statements that they stand between.
//!
//! naga keeps the expressions of a function in one list and says by `Emit` statements where each is evaluated: in the
//! block that was open when it was made, in the order in which they were made. So an `Emit` is due before every other
//! statement, for what was made since the last one, and must leave out what is not evaluated anywhere (literals,
//! variables, arguments) and what a statement defines (the result of a call).

use super::types::Reg;
use halide_backend::Interval;
use halide_core::types::ScalarType;
use halide_core::value::Scalar;
use naga::{
    ArraySize, BinaryOperator, Block, Expression, Function, GlobalVariable, Handle, Literal, LocalVariable,
    MathFunction, Module, Span, Statement, Type, TypeInner, UnaryOperator,
};
use std::collections::{HashMap, HashSet};
use std::num::NonZeroU32;

/// A value of a function.
pub(super) type V = Handle<Expression>;

/// The span of what is at no place (see `code_places`).
pub(super) const NOWHERE: Span = Span::UNDEFINED;

/// The module that functions are built for, and which of its functions exist.
#[derive(Default)]
pub(super) struct Shader {
    pub(super) module: Module,
    pub(super) helpers: HashMap<String, Handle<Function>>,
}

impl Shader {
    pub(super) fn ty(&mut self, inner: TypeInner) -> Handle<Type> {
        self.module.types.insert(Type { name: None, inner }, NOWHERE)
    }
    pub(super) fn reg(&mut self, reg: Reg) -> Handle<Type> {
        self.ty(TypeInner::Scalar(reg.scalar()))
    }
    /// An array of `len` registers, or one as long as its buffer.
    pub(super) fn array(&mut self, base: Handle<Type>, width: u32, len: Option<NonZeroU32>) -> Handle<Type> {
        let size = len.map_or(ArraySize::Dynamic, ArraySize::Constant);
        self.ty(TypeInner::Array { base, size, stride: width })
    }
}

/// The keys of values that are made once per block.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Key {
    /// A value, hidden.
    Barrier(V),
    /// A value, hidden in another way.
    SecondBarrier(V),
    /// A constant that the driver does not know, by its bits.
    Bits(Reg, u64),
}

/// A function that is being built.
pub(super) struct Builder<'s> {
    pub(super) shader: &'s mut Shader,
    pub(super) function: Function,
    /// The open blocks, innermost last.
    blocks: Vec<Block>,
    /// The first expression that no `Emit` has yet.
    unemitted: usize,
    /// The place of statements that are added, as a span.
    span: Span,
    literals: HashMap<(Reg, u64), V>,
    variables: HashMap<Handle<LocalVariable>, V>,
    globals: HashMap<Handle<GlobalVariable>, V>,
    /// Values that are made once per block, see [`super::contraction_barrier`]; one table for each open block.
    pub(super) made: Vec<HashMap<Key, V>>,
    /// Results of float operations, which a driver may fuse with others.
    pub(super) raw: HashSet<V>,
    /// The ranges of integers of up to 32 bits, where more is known than their types say, see [`super::int`].
    pub(super) known: HashMap<V, Interval>,
    /// Truths that depend on comparisons of floats.
    pub(super) float_truths: HashSet<V>,
    /// A word of zero bits of which the driver does not know that it is zero.
    pub(super) zero: V,
}

impl<'s> Builder<'s> {
    /// An empty function. `zero` gives the opaque zero, before everything else.
    pub(super) fn new(
        shader: &'s mut Shader,
        function: Function,
        zero: impl FnOnce(&mut Builder<'s>) -> V,
    ) -> Builder<'s> {
        let mut function = function;
        // Replaced below by what `zero` gives, which needs a `Builder` to be made in.
        let placeholder = function.expressions.append(Expression::Literal(Literal::U32(0)), NOWHERE);
        let unemitted = function.expressions.len();
        let mut code = Builder {
            shader,
            function,
            blocks: vec![Block::new()],
            unemitted,
            span: NOWHERE,
            literals: HashMap::from([((Reg::U32, 0), placeholder)]),
            variables: HashMap::new(),
            globals: HashMap::new(),
            made: vec![HashMap::new()],
            raw: HashSet::new(),
            known: HashMap::new(),
            float_truths: HashSet::new(),
            zero: placeholder,
        };
        code.zero = zero(&mut code);
        code
    }
    /// The finished function.
    pub(super) fn finish(mut self) -> Function {
        self.flush();
        self.function.body = self.blocks.pop().unwrap_or_default();
        self.function
    }

    /// Goes on at the place of a number, which is the span of its statements.
    pub(super) fn set_place(&mut self, number: u32) {
        let span = Span::new(number, number);
        if span != self.span {
            self.flush();
            self.span = span;
        }
    }
    /// Says that what was made until now is evaluated here.
    fn flush(&mut self) {
        if self.function.expressions.len() > self.unemitted {
            let range = self.function.expressions.range_from(self.unemitted);
            self.push(Statement::Emit(range));
        }
        self.unemitted = self.function.expressions.len();
    }
    fn push(&mut self, statement: Statement) {
        if let Some(block) = self.blocks.last_mut() {
            block.push(statement, self.span);
        }
    }

    /// An expression that is evaluated here.
    pub(super) fn value(&mut self, e: Expression) -> V {
        self.function.expressions.append(e, NOWHERE)
    }
    /// An expression that is not evaluated anywhere, or by a statement.
    pub(super) fn unevaluated(&mut self, e: Expression) -> V {
        self.flush();
        let v = self.function.expressions.append(e, NOWHERE);
        self.unemitted = self.function.expressions.len();
        v
    }
    /// A statement.
    pub(super) fn push_stmt(&mut self, s: Statement) {
        self.flush();
        self.push(s);
    }
    /// Opens a block within the one at hand.
    pub(super) fn open(&mut self) {
        self.flush();
        self.blocks.push(Block::new());
        self.made.push(HashMap::new());
    }
    /// Ends the innermost block: what was made in it is not visible any more.
    pub(super) fn close(&mut self) -> Block {
        self.flush();
        self.made.pop();
        self.blocks.pop().unwrap_or_default()
    }

    /// A literal by its bits: of a Bool, an integer, or a float that is finite.
    fn literal(&mut self, reg: Reg, bits: u64) -> V {
        if let Some(&known) = self.literals.get(&(reg, bits)) {
            return known;
        }
        let literal = match reg {
            Reg::Bool => Literal::Bool(bits != 0),
            Reg::I32 => Literal::I32(bits as i32),
            Reg::U32 => Literal::U32(bits as u32),
            Reg::I64 => Literal::I64(bits as i64),
            Reg::U64 => Literal::U64(bits),
            Reg::F32 => Literal::F32(f32::from_bits(bits as u32)),
            Reg::F64 => Literal::F64(f64::from_bits(bits)),
        };
        let v = self.unevaluated(Expression::Literal(literal));
        self.literals.insert((reg, bits), v);
        v
    }
    /// An integer of a register type; wraps.
    pub(super) fn int(&mut self, reg: Reg, value: i64) -> V {
        let bits = if reg.bits() == 64 { value as u64 } else { u64::from(value as u32) };
        self.literal(reg, bits)
    }
    pub(super) fn i32(&mut self, value: i32) -> V {
        self.int(Reg::I32, value.into())
    }
    pub(super) fn u32(&mut self, value: u32) -> V {
        self.int(Reg::U32, value.into())
    }
    pub(super) fn bool(&mut self, value: bool) -> V {
        self.literal(Reg::Bool, value.into())
    }
    /// A float that is normal. Others are for [`Builder::constant`].
    pub(super) fn float_literal(&mut self, reg: Reg, bits: u64) -> V {
        self.literal(reg, bits)
    }
    /// A data constant in its register.
    pub(super) fn constant(&mut self, c: Scalar) -> V {
        match c.ty() {
            ScalarType::Bool => self.bool(c.as_bool()),
            ScalarType::F32 => self.float_bits(Reg::F32, c.bits()),
            ScalarType::F64 => self.float_bits(Reg::F64, c.bits()),
            ScalarType::F16 | ScalarType::BF16 => self.u32(c.bits() as u32),
            ty => self.int(Reg::of_type(ty), c.as_i64()),
        }
    }
    /// The literal that `v` is, if it is one.
    pub(super) fn as_literal(&self, v: V) -> Option<Literal> {
        match self.function.expressions[v] {
            Expression::Literal(literal) => Some(literal),
            _ => None,
        }
    }

    /// The value that `v` is a literal of, in the register of `ty`.
    pub(super) fn as_scalar(&self, ty: ScalarType, v: V) -> Option<Scalar> {
        let bits = match self.as_literal(v)? {
            Literal::Bool(b) => b.into(),
            Literal::I32(i) => i as u64,
            Literal::U32(u) => u.into(),
            Literal::I64(i) => i as u64,
            Literal::U64(u) => u,
            Literal::F32(f) => f.to_bits().into(),
            Literal::F64(f) => f.to_bits(),
            _ => return None,
        };
        Some(Scalar::from_bits(ty, bits))
    }
    pub(super) fn is_literal(&self, v: V) -> bool {
        self.as_literal(v).is_some()
    }
    pub(super) fn op(&mut self, op: BinaryOperator, left: V, right: V) -> V {
        self.value(Expression::Binary { op, left, right })
    }
    pub(super) fn unary_op(&mut self, op: UnaryOperator, expr: V) -> V {
        self.value(Expression::Unary { op, expr })
    }
    /// `accept` where the condition is true, else `reject`, of any register type but for floats under a condition on
    /// floats: that is [`Builder::select`].
    pub(super) fn pick(&mut self, condition: V, accept: V, reject: V) -> V {
        match self.as_literal(condition) {
            Some(Literal::Bool(true)) => return accept,
            Some(Literal::Bool(false)) => return reject,
            _ if accept == reject => return accept,
            _ => {}
        }
        self.value(Expression::Select { condition, accept, reject })
    }
    pub(super) fn math_op(&mut self, fun: MathFunction, args: &[V]) -> V {
        let at = |i: usize| args.get(i).copied();
        let arg = at(0).unwrap_or(self.zero);
        self.value(Expression::Math { fun, arg, arg1: at(1), arg2: at(2), arg3: at(3) })
    }
    /// The same bits in a register type of the same width.
    pub(super) fn bits_as(&mut self, to: Reg, v: V) -> V {
        self.value(Expression::As { expr: v, kind: to.scalar().kind, convert: None })
    }
    /// The number in another register type. Integers wrap; floats must be in range of an integer.
    pub(super) fn convert(&mut self, to: Reg, v: V) -> V {
        let scalar = to.scalar();
        self.value(Expression::As { expr: v, kind: scalar.kind, convert: Some(scalar.width) })
    }
    /// 1 where a Bool is true, else 0.
    pub(super) fn bool_as(&mut self, to: Reg, v: V) -> V {
        let (one, zero) = (self.int(to, 1), self.int(to, 0));
        self.pick(v, one, zero)
    }
    /// An integer shifted by a constant below its width, to the right arithmetically if it is signed.
    pub(super) fn shift_left(&mut self, v: V, bits: u32) -> V {
        if bits == 0 {
            return v;
        }
        let bits = self.u32(bits);
        self.op(BinaryOperator::ShiftLeft, v, bits)
    }
    pub(super) fn shift_right(&mut self, v: V, bits: u32) -> V {
        if bits == 0 {
            return v;
        }
        let bits = self.u32(bits);
        self.op(BinaryOperator::ShiftRight, v, bits)
    }

    /// A variable of the function.
    pub(super) fn variable(&mut self, name: &str, ty: Handle<Type>) -> Handle<LocalVariable> {
        let variable = LocalVariable { name: Some(name.to_string()), ty, init: None };
        self.function.local_variables.append(variable, NOWHERE)
    }
    /// Returns a pointer to a variable.
    pub(super) fn place_of(&mut self, variable: Handle<LocalVariable>) -> V {
        if let Some(&known) = self.variables.get(&variable) {
            return known;
        }
        let v = self.unevaluated(Expression::LocalVariable(variable));
        self.variables.insert(variable, v);
        v
    }
    /// Returns a pointer to a buffer or to the memory of a block.
    pub(super) fn place_of_global(&mut self, global: Handle<GlobalVariable>) -> V {
        if let Some(&known) = self.globals.get(&global) {
            return known;
        }
        let v = self.unevaluated(Expression::GlobalVariable(global));
        self.globals.insert(global, v);
        v
    }
    /// Emits a pointer to an element of an array.
    pub(super) fn element(&mut self, array: V, index: V) -> V {
        match self.as_literal(index) {
            Some(Literal::U32(index)) => self.value(Expression::AccessIndex { base: array, index }),
            _ => self.value(Expression::Access { base: array, index }),
        }
    }
    /// Emits a load of the value at a pointer.
    pub(super) fn load(&mut self, pointer: V) -> V {
        self.value(Expression::Load { pointer })
    }
    pub(super) fn store(&mut self, pointer: V, value: V) {
        self.push_stmt(Statement::Store { pointer, value });
    }
    /// Calls a function that gives a value.
    pub(super) fn call(&mut self, function: Handle<Function>, arguments: Vec<V>) -> V {
        let result = self.unevaluated(Expression::CallResult(function));
        self.push_stmt(Statement::Call { function, arguments, result: Some(result) });
        result
    }
    /// A name for a value in the text of the shader.
    pub(super) fn name(&mut self, v: V, name: impl FnOnce() -> String) {
        let unnamed = |e: &Expression| {
            matches!(
                e,
                Expression::Literal(_)
                    | Expression::FunctionArgument(_)
                    | Expression::LocalVariable(_)
                    | Expression::GlobalVariable(_)
            )
        };
        if !unnamed(&self.function.expressions[v]) && !self.function.named_expressions.contains_key(&v) {
            self.function.named_expressions.insert(v, name());
        }
    }
}
