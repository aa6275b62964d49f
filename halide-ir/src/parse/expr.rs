//! Expressions from text.

use super::error::ParseError;
use super::lexer::{Token, Word};
use super::{Parsed, Parser, number_of};
use crate::any_lane::any_lane;
use crate::build;
use crate::expr::{Expr, ExprKind, Type};
use crate::sym::{BufId, LoopId, Scope, Sym};
use crate::typing::{parse_type, type_of};
use crate::words::{BINARY_CALLS, COMPARISON, EDGES, FIELDS, INFIX, INTRINSICS, MATH, PREFIX, UNARY_CALLS, item};
use halide_core::ids::{FuncId, ParamId};
use halide_core::ops::{BinOp, UnOp};
use halide_core::types::ScalarType;
use halide_core::value::Scalar;
use std::str::FromStr;

impl Parser {
    /// A whole expression.
    pub(super) fn expr(&mut self) -> Parsed<Expr> {
        let outer = std::mem::take(&mut self.locals);
        let e = self.infix(0);
        self.locals = outer;
        e
    }

    /// Operators that bind at least as strongly as `least`.
    fn infix(&mut self, least: u8) -> Parsed<Expr> {
        self.inside_expr(|p| {
            let mut left = p.prefix()?;
            let mut limit = u8::MAX;
            while let Some((op, strength)) = p.operator().filter(|(_, s)| *s >= least && *s <= limit) {
                p.take();
                let right = p.infix(strength + 1)?;
                left = p.binary(op, left, right)?;
                limit = if strength == COMPARISON { strength - 1 } else { strength };
            }
            Ok(left)
        })
    }

    fn operator(&self) -> Option<(BinOp, u8)> {
        let Token::Punct(text) = self.peek() else {
            return None;
        };
        INFIX.iter().find(|(t, ..)| t == text).map(|(_, op, strength)| (*op, *strength))
    }

    fn binary(&mut self, op: BinOp, a: Expr, b: Expr) -> Parsed<Expr> {
        let (a, b) = matched(a, b);
        let ty = a.ty();
        self.node(ExprKind::Binary(op, a, b), ty)
    }

    fn prefix(&mut self) -> Parsed<Expr> {
        let op = match self.peek() {
            Token::Punct("-") if matches!(self.peek_at(1), Token::Number { .. }) => {
                self.take();
                return self.literal("-");
            }
            Token::Punct("-") => UnOp::Neg,
            Token::Punct("!") => UnOp::Not,
            _ => return self.primary(),
        };
        self.take();
        let a = self.infix(PREFIX)?;
        self.node(ExprKind::Unary(op, a.clone()), a.ty())
    }

    fn primary(&mut self) -> Parsed<Expr> {
        match self.peek().clone() {
            Token::Number { .. } => self.literal(""),
            Token::Local(n) => match self.locals.get(n).cloned() {
                Some(e) => {
                    self.take();
                    Ok(e)
                }
                None => self.error(format!("`${n}` is not defined before")),
            },
            Token::Punct("(") => {
                self.take();
                let e = self.infix(0)?;
                self.need(")")?;
                Ok(e)
            }
            Token::Word(w) => {
                self.take();
                match w.id.as_str() {
                    "true" if w.name.is_none() => Ok(build::boolean(true)),
                    "false" if w.name.is_none() => Ok(build::boolean(false)),
                    _ => match number_of(&w.id, "b") {
                        Some(n) => self.access(BufId(n)),
                        None if w.name.is_none() && self.at("(") => self.call(&w.id),
                        None => self.symbol(&w),
                    },
                }
            }
            _ => self.expected("an expression"),
        }
    }

    /// A constant behind its sign.
    fn literal(&mut self, sign: &str) -> Parsed<Expr> {
        let Token::Number { digits, suffix } = self.peek().clone() else {
            return self.expected("a number");
        };
        let text = format!("{sign}{digits}");
        let value = match ScalarType::parse(&suffix) {
            None if suffix.is_empty() => text.parse().ok().map(build::int),
            None | Some(ScalarType::Bool) => return self.error(format!("`{suffix}` is no type of a number")),
            Some(ty) => scalar(&text, ty).map(build::constant),
        };
        match value {
            Some(e) => {
                self.take();
                Ok(e)
            }
            None => self.error(format!("{text} does not fit its type")),
        }
    }

    /// Parses the access behind a buffer: the type of its elements, then coordinates or a linear index.
    fn access(&mut self, buf: BufId) -> Parsed<Expr> {
        let known = self.elems.get(buf.0 as usize).map(|t| Type::data(*t));
        let Some(elem) = self.annotation().or(known) else {
            return self.error(format!("the type of {buf:?} is not known; write `{buf:?}:u16`"));
        };
        if self.at("(") {
            let args = self.listed("(", ")", |p| p.infix(0))?;
            let lanes = args.iter().map(Expr::lanes).max().unwrap_or(1);
            let args = args.into_iter().map(|a| widened(a, lanes)).collect();
            return self.node(ExprKind::Read { buf, args }, elem.with_lanes(lanes));
        }
        let (index, mask) = self.linear()?;
        let ty = elem.with_lanes(index.lanes());
        self.node(ExprKind::Load { buf, index, mask }, ty)
    }

    /// `[index where mask]`.
    fn linear(&mut self) -> Parsed<(Expr, Option<Expr>)> {
        self.need("[")?;
        let index = self.infix(0)?;
        let mask = if self.eat_word("where") { Some(self.infix(0)?) } else { None };
        self.need("]")?;
        Ok(match mask {
            None => (index, None),
            Some(m) => {
                let (index, m) = matched(index, m);
                (index, Some(m))
            }
        })
    }

    /// `:type`, if it is next.
    fn annotation(&mut self) -> Option<Type> {
        let ty = match (self.peek(), self.peek_at(1)) {
            (Token::Punct(":"), Token::Word(Word { name: None, id, at: None })) => parse_type(id)?,
            _ => return None,
        };
        self.take();
        self.take();
        Some(ty)
    }

    fn symbol(&mut self, w: &Word) -> Parsed<Expr> {
        if let (Some(n), None) = (number_of(&w.id, "p"), &w.at) {
            let known = self.params.get(n as usize).map(|t| Type::data(*t));
            return match self.annotation().or(known) {
                Some(ty) => self.node(ExprKind::Param(ParamId(n)), ty),
                None => self.error(format!("the type of p{n} is not known; write `p{n}:f32`")),
            };
        }
        let Some(s) = sym_of(w) else {
            return self.error(format!("`{}` is neither a symbol nor a function", w.id));
        };
        let known = match s {
            Sym::Temp(n) => self.temps.get(&n).copied(),
            _ => None,
        };
        let ty = self.annotation().or(known).unwrap_or(Type::INDEX);
        self.node(ExprKind::Sym(s), ty)
    }

    /// A symbol that is bound or captured.
    pub(super) fn bound_sym(&mut self) -> Parsed<Sym> {
        let w = self.word()?;
        match sym_of(&w) {
            Some(s) => Ok(s),
            None => self.error(format!("`{}` is no symbol", w.id)),
        }
    }

    fn call(&mut self, name: &str) -> Parsed<Expr> {
        match name {
            "with" => return self.with_locals(),
            "bits" => return self.bits(),
            "ramp" => return self.ramp(),
            "shuffle" => return self.shuffle(),
            "any_lane" => {
                let [mask] = self.operands::<1>(name)?;
                return Ok(any_lane(&mask));
            }
            "saturating" | "reinterpret" => return self.typed_call(name),
            _ => {}
        }
        if let Some(ty) = parse_type(name) {
            let a = self.operands::<1>(name)?;
            return self.node(ExprKind::Cast(a[0].clone()), ty);
        }
        if let Some(lanes) = number_of(name, "x") {
            let [a] = self.operands::<1>(name)?;
            let lanes = u16::try_from(lanes).unwrap_or(0);
            let ty = a.ty().with_lanes(lanes);
            return self.node(ExprKind::Broadcast(a), ty);
        }
        if let Some(op) = item(&UNARY_CALLS, name) {
            let [a] = self.operands::<1>(name)?;
            let ty = a.ty();
            return self.node(ExprKind::Unary(op, a), ty);
        }
        if let Some(op) = item(&BINARY_CALLS, name) {
            let [a, b] = self.operands::<2>(name)?;
            return self.binary(op, a, b);
        }
        match name {
            "likely" => {
                let [a] = self.operands::<1>(name)?;
                let ty = a.ty();
                self.node(ExprKind::Likely(a), ty)
            }
            "select" => {
                let [c, a, b] = self.operands::<3>(name)?;
                let lanes = c.lanes().max(a.lanes()).max(b.lanes());
                let [c, a, b] = [c, a, b].map(|e| widened(e, lanes));
                let ty = a.ty();
                self.node(ExprKind::Select(c, a, b), ty)
            }
            _ => self.function(name),
        }
    }

    /// A function of floats, or an integer idiom.
    fn function(&mut self, name: &str) -> Parsed<Expr> {
        let (math, idiom) = (item(&MATH, name), item(&INTRINSICS, name));
        if math.is_none() && idiom.is_none() {
            return self.error(format!("there is no function `{name}`"));
        }
        let args = self.listed("(", ")", |p| p.infix(0))?;
        let lanes = args.iter().map(Expr::lanes).max().unwrap_or(1);
        let args: Vec<Expr> = args.into_iter().map(|a| widened(a, lanes)).collect();
        let ty = args.first().map_or(Type::INDEX, Expr::ty);
        match (math, idiom) {
            (Some(f), _) => self.node(ExprKind::Math(f, args.into()), ty),
            (_, Some(op)) => self.node(ExprKind::Intrinsic(op, args.into()), ty),
            _ => self.error(format!("there is no function `{name}`")),
        }
    }

    /// Exactly `N` operands in parentheses.
    fn operands<const N: usize>(&mut self, name: &str) -> Parsed<[Expr; N]> {
        let args = self.listed("(", ")", |p| p.infix(0))?;
        match args.try_into() {
            Ok(args) => Ok(args),
            Err(args) => self.error(format!("`{name}` takes {N} operands and gets {}", args.len())),
        }
    }

    /// `with($0 = part, $1 = part, whole)`.
    fn with_locals(&mut self) -> Parsed<Expr> {
        self.need("(")?;
        while let (Token::Local(n), Token::Punct("=")) = (self.peek().clone(), self.peek_at(1)) {
            if n != self.locals.len() {
                return self.expected(&format!("`${}`", self.locals.len()));
            }
            self.take();
            self.take();
            let part = self.infix(0)?;
            self.locals.push(part);
            self.need(",")?;
        }
        let e = self.infix(0)?;
        self.need(")")?;
        Ok(e)
    }

    /// `bits(f32, 0x7fc00000)`.
    fn bits(&mut self) -> Parsed<Expr> {
        self.need("(")?;
        let ty = self.data_type()?;
        self.need(",")?;
        let bits = match self.peek() {
            Token::Number { digits, suffix } if suffix.is_empty() => match digits.strip_prefix("0x") {
                Some(hex) => u64::from_str_radix(hex, 16).ok(),
                None => digits.parse().ok(),
            },
            _ => None,
        };
        match bits.map(|b| (b, Scalar::from_bits(ty, b))).filter(|(b, v)| v.bits() == *b) {
            Some((_, v)) => {
                self.take();
                self.need(")")?;
                Ok(build::constant(v))
            }
            None => self.expected(&format!("the bits of a {ty}")),
        }
    }

    /// The name of a scalar data type.
    pub(super) fn data_type(&mut self) -> Parsed<ScalarType> {
        match self.keyword().and_then(ScalarType::parse) {
            Some(ty) => {
                self.take();
                Ok(ty)
            }
            None => self.expected("a type"),
        }
    }

    /// The name of any type.
    pub(super) fn any_type(&mut self) -> Parsed<Type> {
        match self.keyword().and_then(parse_type) {
            Some(ty) => {
                self.take();
                Ok(ty)
            }
            None => self.expected("a type"),
        }
    }

    fn ramp(&mut self) -> Parsed<Expr> {
        self.need("(")?;
        let base = self.infix(0)?;
        self.need(",")?;
        let stride = self.infix(0)?;
        self.need(",")?;
        let lanes = self.whole()?;
        self.need(")")?;
        self.node(ExprKind::Ramp { base, stride }, Type::INDEX.with_lanes(lanes))
    }

    fn shuffle(&mut self) -> Parsed<Expr> {
        self.need("(")?;
        let vectors = self.listed("[", "]", |p| p.infix(0))?;
        self.need(",")?;
        let lanes = self.listed("[", "]", |p| p.whole())?;
        self.need(")")?;
        self.node(ExprKind::Shuffle(vectors.into(), lanes.into()), Type::INDEX)
    }

    fn typed_call(&mut self, name: &str) -> Parsed<Expr> {
        self.need("(")?;
        let ty = self.any_type()?;
        self.need(",")?;
        let a = self.infix(0)?;
        self.need(")")?;
        let kind = if name == "saturating" { ExprKind::SaturatingCast(a) } else { ExprKind::Reinterpret(a) };
        self.node(kind, ty)
    }

    /// The node of a kind whose operands have fitting types.
    fn node(&mut self, kind: ExprKind, claimed: Type) -> Parsed<Expr> {
        if claimed.lanes == 0 {
            return self.error("a vector of no lanes");
        }
        match type_of(&kind, claimed) {
            Ok(ty) => Ok(build::remake(kind, ty)),
            Err(why) => self.error(why),
        }
    }
}

/// A scalar in `lanes` lanes; a vector stays what it is.
fn widened(e: Expr, lanes: u16) -> Expr {
    if e.lanes() == 1 { build::broadcast(e, lanes) } else { e }
}

fn matched(a: Expr, b: Expr) -> (Expr, Expr) {
    let lanes = a.lanes().max(b.lanes());
    (widened(a, lanes), widened(b, lanes))
}

/// A number of a type, if it fits.
fn scalar(text: &str, ty: ScalarType) -> Option<Scalar> {
    match ty {
        ScalarType::F64 => text.parse::<f64>().ok().filter(|v| v.is_finite()).map(Scalar::from),
        ScalarType::F32 => text.parse::<f32>().ok().filter(|v| v.is_finite()).map(Scalar::from),
        ScalarType::F16 | ScalarType::BF16 => {
            let v = text.parse::<f32>().ok().filter(|v| v.is_finite())?;
            Some(Scalar::float(ty, v as f64)).filter(|s| s.as_f64().is_finite())
        }
        _ => {
            let v: i128 = text.parse().ok()?;
            Some(Scalar::int(ty, v)).filter(|s| s.as_i128() == v)
        }
    }
}

impl FromStr for Sym {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Sym, ParseError> {
        let mut parser = Parser::new(text)?;
        let word = parser.word()?;
        parser.end()?;
        match sym_of(&word) {
            Some(sym) => Ok(sym),
            None => parser.error(format!("`{text}` is no symbol")),
        }
    }
}

/// The symbol that a word stands for.
fn sym_of(w: &Word) -> Option<Sym> {
    let mut parts = w.id.split('.');
    let first = parts.next()?;
    let rest: Vec<&str> = parts.collect();
    let dim_of = |text: &str| u16::try_from(number_of(text, "d")?).ok();
    match (first.chars().next()?, rest.as_slice(), &w.at) {
        ('L', [], None) => Some(Sym::Loop(LoopId(number_of(first, "L")?))),
        ('t', [], None) => Some(Sym::Temp(number_of(first, "t")?)),
        ('b', [property], None) => {
            let buf = BufId(number_of(first, "b")?);
            let (name, field) = FIELDS.iter().find(|(name, _)| property.starts_with(name))?;
            let dim = u16::try_from(number_of(property, name)?).ok()?;
            Some(Sym::Buffer { buf, dim, field: *field })
        }
        ('f', [stage, dim, edge], Some(at)) => Some(Sym::Bound {
            func: FuncId(number_of(first, "f")?),
            stage: u16::try_from(number_of(stage, "s")?).ok()?,
            dim: dim_of(dim)?,
            edge: item(&EDGES, edge)?,
            at: scope_of(at)?,
        }),
        ('f', [dim, edge], Some(at)) => Some(Sym::Stored {
            func: FuncId(number_of(first, "f")?),
            dim: dim_of(dim)?,
            edge: item(&EDGES, edge)?,
            at: scope_of(at)?,
        }),
        _ => None,
    }
}

fn scope_of(at: &str) -> Option<Scope> {
    if at == "root" { Some(Scope::Root) } else { Some(Scope::Body(LoopId(number_of(at, "L")?))) }
}
