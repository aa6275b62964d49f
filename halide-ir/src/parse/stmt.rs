//! Statements from text.

use super::lexer::Token;
use super::{Parsed, Parser};
use crate::callee::CallArg;
use crate::expr::Expr;
use crate::stmt::{For, ForKind, Stmt};
use crate::sym::{BufId, CalleeId, FaultId, KernelId, LoopId, PrintId, Sym, TaskId};
use crate::visit::deep;
use crate::words::{CACHES, LOOPS, RESIDENCIES, item};
use halide_core::ids::FuncId;

impl Parser {
    /// Statements up to a closing brace or the end: one alone, or a block. A `let` takes all that follow as its body.
    pub(super) fn list(&mut self) -> Parsed<Stmt> {
        let mut items = self.items()?;
        Ok(if items.len() == 1 { items.remove(0) } else { Stmt::Block(items) })
    }

    fn items(&mut self) -> Parsed<Vec<Stmt>> {
        let mut items = Vec::new();
        while !self.at("}") && *self.peek() != Token::End {
            if self.keyword() == Some("let") {
                items.push(self.let_in()?);
            } else {
                items.push(self.inside_stmt(|p| p.stmt())?);
            }
        }
        Ok(items)
    }

    /// `{ statements }`.
    pub(super) fn body(&mut self) -> Parsed<Stmt> {
        self.need("{")?;
        let s = self.inside_stmt(|p| p.list())?;
        self.need("}")?;
        Ok(s)
    }

    fn let_in(&mut self) -> Parsed<Stmt> {
        let mut bindings = Vec::new();
        while self.eat_word("let") {
            let s = self.bound_sym()?;
            self.need("=")?;
            let value = self.expr()?;
            if let Sym::Temp(n) = s {
                self.temps.insert(n, value.ty());
            }
            bindings.push((s, value));
        }
        let body = self.inside_stmt(|p| p.list())?;
        Ok(Stmt::Let { bindings, body: Box::new(body) })
    }

    fn stmt(&mut self) -> Parsed<Stmt> {
        deep(|| self.one())
    }

    fn one(&mut self) -> Parsed<Stmt> {
        if self.at("{") {
            self.need("{")?;
            let items = self.items()?;
            self.need("}")?;
            return Ok(Stmt::Block(items));
        }
        let word = self.keyword().unwrap_or("").to_string();
        if let Some(kind) = item(&LOOPS, &word) {
            self.take();
            return self.for_loop(kind);
        }
        if let Some(what) = item(&RESIDENCIES, &word) {
            self.take();
            return Ok(Stmt::Reside { buf: BufId(self.id("b")?), what });
        }
        let known = [
            "dispatch", "barrier", "scope", "if", "assert", "print", "produce", "atomic", "realize", "provide",
            "alloc", "free", "prefetch", "call", "count", "launch",
        ];
        if !known.contains(&word.as_str()) {
            return self.store();
        }
        self.take();
        match word.as_str() {
            "dispatch" => {
                let kernel = KernelId(self.id("kernel")?);
                Ok(Stmt::Dispatch { kernel, grid: self.listed("(", ")", Parser::expr)? })
            }
            "barrier" => Ok(Stmt::Barrier),
            "scope" => self.body(),
            "if" => self.if_else(),
            "assert" => self.assert(),
            "print" => {
                let line = PrintId(self.id("print")?);
                let args = self.listed("(", ")", Parser::expr)?;
                self.need_word("when")?;
                Ok(Stmt::Print { line, when: self.expr()?, args })
            }
            "produce" => {
                let func = FuncId(self.id("f")?);
                Ok(Stmt::Produce { func, body: Box::new(self.body()?) })
            }
            "atomic" => {
                let func = FuncId(self.id("f")?);
                Ok(Stmt::Atomic { func, body: Box::new(self.body()?) })
            }
            "realize" => self.realize(),
            "provide" => self.provide(),
            "alloc" => self.alloc(),
            "free" => Ok(Stmt::Free { buf: BufId(self.id("b")?) }),
            "prefetch" => {
                let word = self.keyword().unwrap_or("").to_string();
                let Some(cache) = item(&CACHES, &word) else { return self.expected("near or far") };
                self.take();
                let buf = BufId(self.id("b")?);
                Ok(Stmt::Prefetch { buf, at: self.listed("(", ")", Parser::expr)?, cache })
            }
            "call" => self.call_stmt(),
            "count" => {
                let counter = self.id("c")?;
                self.need("+=")?;
                Ok(Stmt::Count { counter, amount: self.expr()? })
            }
            _ => {
                let task = TaskId(self.id("task")?);
                let (min, extent) = self.range("from")?;
                Ok(Stmt::Launch { task, min, extent })
            }
        }
    }

    /// `KEYWORD min extent extent`.
    fn range(&mut self, keyword: &str) -> Parsed<(Expr, Expr)> {
        self.need_word(keyword)?;
        let min = self.expr()?;
        self.need_word("extent")?;
        Ok((min, self.expr()?))
    }

    fn for_loop(&mut self, kind: ForKind) -> Parsed<Stmt> {
        let id = LoopId(self.id("L")?);
        let (min, extent) = self.range("from")?;
        let condition = if self.eat_word("while") { Some(self.expr()?) } else { None };
        let body = self.body()?;
        Ok(Stmt::For(Box::new(For { id, kind, min, extent, condition, body })))
    }

    fn if_else(&mut self) -> Parsed<Stmt> {
        let cond = self.expr()?;
        let then = Box::new(self.body()?);
        let otherwise = if self.eat_word("else") { self.body()? } else { Stmt::Block(Vec::new()) };
        Ok(Stmt::If { cond, then, otherwise: Box::new(otherwise) })
    }

    fn assert(&mut self) -> Parsed<Stmt> {
        let cond = self.expr()?;
        self.need_word("else")?;
        let fault = FaultId(self.id("fault")?);
        let args = self.listed("(", ")", Parser::expr)?;
        Ok(Stmt::Assert { cond, fault, args })
    }

    fn realize(&mut self) -> Parsed<Stmt> {
        let func = FuncId(self.id("f")?);
        let mut bounds = Vec::new();
        while self.eat("[") {
            let min = self.expr()?;
            self.need_word("extent")?;
            bounds.push((min, self.expr()?));
            self.need("]")?;
        }
        let when = if self.eat_word("when") { Some(self.expr()?) } else { None };
        Ok(Stmt::Realize { func, bounds, when, body: Box::new(self.body()?) })
    }

    fn provide(&mut self) -> Parsed<Stmt> {
        let func = FuncId(self.id("f")?);
        let args = self.listed("(", ")", Parser::expr)?;
        let mask = if self.eat_word("where") { Some(self.expr()?) } else { None };
        self.need(":")?;
        let mut values = Vec::new();
        // A Func of no stored elements has no list; what follows is then another statement.
        if self.next_is_value() {
            loop {
                let buf = BufId(self.id("b")?);
                self.need("=")?;
                values.push((buf, self.expr()?));
                if !self.eat(",") {
                    break;
                }
            }
        }
        Ok(Stmt::Provide { func, args, values, mask })
    }

    fn call_stmt(&mut self) -> Parsed<Stmt> {
        let callee = CalleeId(self.id("callee")?);
        let mut args = Vec::new();
        while matches!(self.peek(), Token::Word(_)) && matches!(self.peek_at(1), Token::Punct("[")) {
            let (mut bounds, mut memory) = (Vec::new(), Vec::new());
            let buf = BufId(self.id("b")?);
            while self.eat("[") {
                let min = self.expr()?;
                self.need_word("extent")?;
                bounds.push((min, self.expr()?));
                if self.eat_word("in") {
                    let min = self.expr()?;
                    self.need_word("extent")?;
                    let extent = self.expr()?;
                    self.need_word("stride")?;
                    memory.push([min, extent, self.expr()?]);
                }
                self.need("]")?;
            }
            args.push(CallArg { buf, bounds, memory });
        }
        Ok(Stmt::Call { callee, args })
    }

    fn next_is_value(&self) -> bool {
        matches!((self.peek(), self.peek_at(1)), (Token::Word(_), Token::Punct("=")))
    }

    fn alloc(&mut self) -> Parsed<Stmt> {
        let buf = BufId(self.id("b")?);
        self.need("[")?;
        let count = self.expr()?;
        self.need("]")?;
        let constant = if self.eat_word("at_most") { Some(self.whole()?) } else { None };
        Ok(Stmt::Alloc { buf, count, constant, body: Box::new(self.body()?) })
    }

    fn store(&mut self) -> Parsed<Stmt> {
        let buf = match self.id("b") {
            Ok(n) => BufId(n),
            Err(_) => return self.expected("a statement"),
        };
        let (index, mask) = self.store_place()?;
        self.need("=")?;
        Ok(Stmt::Store { buf, index, value: self.expr()?, mask })
    }

    /// `[index where mask]`, each an expression of its own.
    fn store_place(&mut self) -> Parsed<(Expr, Option<Expr>)> {
        self.need("[")?;
        let index = self.expr()?;
        let mask = if self.eat_word("where") { Some(self.expr()?) } else { None };
        self.need("]")?;
        Ok((index, mask))
    }
}
