//! Whole programs from text.

use super::lexer::Token;
use super::{Parsed, Parser};
use crate::buffer_info::Side;
use crate::buffer_info::{BufferInfo, BufferRole, Memory, Stream};
use crate::callee::Callee;
use crate::expr::Type;
use crate::fault::Fault;
use crate::kernel::{Kernel, KernelBuffer, Shared, Writes};
use crate::lanes::Held;
use crate::program::Program;
use crate::stmt::Task;
use crate::sym::{BufId, KernelId, LoopId, Sym, TaskId};
use crate::words::{FIELDS, MEMORIES, SIDES, STAGES, STREAMS, WRITES, item};
use halide_core::ids::{FuncId, Id, ImageId, ParamId};
use halide_core::pipeline::Piece;

impl Parser {
    pub(super) fn program(&mut self) -> Parsed<Program> {
        self.need_word("program")?;
        let stage = self.in_table(&STAGES, "a stage")?;
        let mut p = Program::empty(stage);
        loop {
            let word = self.keyword().unwrap_or("").to_string();
            if word.starts_with("task") {
                self.task_row(&mut p)?;
                continue;
            }
            if word.starts_with("kernel") {
                self.kernel_row(&mut p)?;
                continue;
            }
            if !matches!(
                word.as_str(),
                "param"
                    | "buffer"
                    | "image"
                    | "func"
                    | "loop"
                    | "fault"
                    | "print"
                    | "callee"
                    | "counter"
                    | "temps"
                    | "body"
            ) {
                return self.expected("a row of a table or `body`");
            }
            self.take();
            match word.as_str() {
                "param" => self.param_row(&mut p)?,
                "buffer" => self.buffer_row(&mut p)?,
                "image" => {
                    self.row_id::<ImageId>("i", p.image_buffers.len())?;
                    self.need("=")?;
                    p.image_buffers.push(BufId(self.id("b")?));
                }
                "func" => {
                    self.row_id::<FuncId>("f", p.func_buffers.len())?;
                    self.need("=")?;
                    p.func_buffers.push(self.listed("(", ")", |p| Ok(BufId(p.id("b")?)))?);
                }
                "loop" => {
                    p.loops.push(self.named_row::<LoopId>("L", p.loops.len())?.into());
                }
                "fault" => {
                    self.row_id::<crate::FaultId>("fault", p.faults.len())?;
                    self.need("=")?;
                    p.faults.push(self.fault()?);
                }
                "print" => {
                    self.row_id::<crate::PrintId>("print", p.prints.len())?;
                    self.need("=")?;
                    p.prints.push(self.listed("(", ")", Parser::piece)?);
                }
                "callee" => {
                    self.row_id::<crate::CalleeId>("callee", p.callees.len())?;
                    self.need("=")?;
                    let name = self.string()?;
                    let buffers = self.listed("(", ")", |p| Ok(BufId(p.id("b")?)))?;
                    self.need_word("results")?;
                    let results = self.whole()?;
                    let updates = self.eat_word("updates");
                    self.need_word("params")?;
                    let params = self.listed("(", ")", |p| Ok(ParamId(p.id("p")?)))?;
                    p.callees.push(Callee { name, buffers, results, updates, params });
                }
                "counter" => p.counters.push(self.string()?),
                "temps" => p.next_temp = self.whole()?,
                _ => {
                    p.body = self.body()?;
                    return Ok(p);
                }
            }
        }
    }

    fn in_table<T: Copy>(&mut self, table: &[(&'static str, T)], what: &str) -> Parsed<T> {
        match self.keyword().and_then(|w| item(table, w)) {
            Some(found) => {
                self.take();
                Ok(found)
            }
            None => self.expected(what),
        }
    }

    /// The id of the next row of a table, in order.
    fn row_id<I: Id>(&mut self, prefix: &str, rows: usize) -> Parsed<I> {
        let at = self.next;
        let n = self.id(prefix)?;
        if n as usize != rows {
            self.next = at;
            return self.expected(&format!("`{prefix}{rows}`, the next row"));
        }
        Ok(I::new(rows))
    }

    /// The next row of a table by name and id: its name.
    fn named_row<I: Id>(&mut self, prefix: &str, rows: usize) -> Parsed<String> {
        let name = match self.peek() {
            Token::Word(w) => w.name.clone(),
            _ => None,
        };
        match name {
            Some(name) => {
                self.row_id::<I>(prefix, rows)?;
                Ok(name)
            }
            None => self.expected("a name with an id"),
        }
    }

    fn param_row(&mut self, p: &mut Program) -> Parsed<()> {
        let name = self.named_row::<ParamId>("p", p.params.len())?;
        self.need(":")?;
        let ty = self.data_type()?;
        self.params.push(ty);
        p.params.push((name, ty));
        Ok(())
    }

    fn buffer_row(&mut self, p: &mut Program) -> Parsed<()> {
        let name = self.named_row::<BufId>("b", p.buffers.len())?;
        self.need(":")?;
        let elem = self.data_type()?;
        self.need_word("dims")?;
        let dims: u16 = self.whole()?;
        let dims = dims as usize;
        let role = if self.eat_word("input") {
            BufferRole::Input(ImageId(self.id("i")?))
        } else if self.eat_word("output") {
            BufferRole::Output(self.whole()?)
        } else {
            self.need_word("internal")?;
            BufferRole::Internal
        };
        let mut info = BufferInfo {
            name,
            elem,
            dims,
            role,
            order: (0..dims).collect(),
            align: vec![1; dims],
            fold: vec![None; dims],
            unit_stride: None,
            memory: Memory::Auto,
            keeps: false,
            stream: Stream::Never,
            side: Side::Host,
        };
        if self.eat_word("order") {
            info.order = self.listed("[", "]", |p| p.whole())?;
        }
        if self.eat_word("align") {
            info.align = self.listed("[", "]", |p| p.whole())?;
        }
        if self.eat_word("fold") {
            info.fold = self.listed("[", "]", |p| if p.eat_word("none") { Ok(None) } else { p.whole().map(Some) })?;
        }
        if self.eat_word("unit_stride") {
            info.unit_stride = Some(self.whole()?);
        }
        if self.eat_word("memory") {
            info.memory = self.in_table(&MEMORIES, "a kind of memory")?;
        }
        info.keeps = self.eat_word("keeps");
        if self.eat_word("stream") {
            info.stream = self.in_table(&STREAMS, "which stores pass the caches by")?;
        }
        if self.eat_word("side") {
            info.side = self.in_table(&SIDES, "a side")?;
        }
        p.buffers.push(info);
        self.learn(&p.buffers);
        Ok(())
    }

    fn fault(&mut self) -> Parsed<Fault> {
        let word = self.word()?.id;
        Ok(match word.as_str() {
            "input_too_small" => {
                let (buf, dim) = self.buffer_dim()?;
                Fault::InputTooSmall { buf, dim }
            }
            "output_region" => {
                let (buf, dim) = self.buffer_dim()?;
                Fault::OutputRegion { buf, dim, reason: self.string()? }
            }
            "stride" => {
                let (buf, dim) = self.buffer_dim()?;
                Fault::Stride { buf, dim }
            }
            "rule" => {
                let (buf, dim) = self.buffer_dim()?;
                let field = self.in_table(&FIELDS, "min, extent or stride")?;
                let multiple = self.eat_word("multiple");
                if !multiple {
                    self.need_word("value")?;
                }
                Fault::Rule { buf, dim, field, multiple, at: self.string()? }
            }
            "index_overflow" => {
                let name = self.string()?;
                self.need_word("dim")?;
                Fault::IndexOverflow { name, dim: self.whole()? }
            }
            "out_of_memory" => Fault::OutOfMemory { buf: BufId(self.id("b")?) },
            "promise" => Fault::Promise { what: self.string()? },
            "require" => Fault::Require { what: self.string()? },
            "unproved" => Fault::Unproved,
            "access" => {
                let buf = BufId(self.id("b")?);
                Fault::Access { buf, at: self.string()? }
            }
            "not_this_variant" => Fault::NotThisVariant,
            _ => return self.error(format!("there is no fault `{word}`")),
        })
    }

    fn piece(&mut self) -> Parsed<Piece> {
        if self.eat_word("_") { Ok(Piece::Value) } else { Ok(Piece::Text(self.string()?)) }
    }

    fn buffer_dim(&mut self) -> Parsed<(BufId, usize)> {
        let buf = BufId(self.id("b")?);
        self.need_word("dim")?;
        Ok((buf, self.whole()?))
    }

    fn task_row(&mut self, p: &mut Program) -> Parsed<()> {
        self.row_id::<TaskId>("task", p.tasks.len())?;
        let id = LoopId(self.id("L")?);
        let captures = self.captures()?;
        self.need_word("buffers")?;
        let buffers = self.listed("(", ")", |p| Ok(BufId(p.id("b")?)))?;
        let body = self.body()?;
        p.tasks.push(Task { id, captures, buffers, body });
        Ok(())
    }

    /// `captures (symbol: type, ...)`.
    fn captures(&mut self) -> Parsed<Vec<(Sym, Type)>> {
        self.need_word("captures")?;
        self.listed("(", ")", |p| {
            let s = p.bound_sym()?;
            p.need(":")?;
            let ty = p.any_type()?;
            if let Sym::Temp(n) = s {
                p.temps.insert(n, ty);
            }
            Ok((s, ty))
        })
    }

    fn kernel_row(&mut self, p: &mut Program) -> Parsed<()> {
        self.row_id::<KernelId>("kernel", p.kernels.len())?;
        let name = self.string()?;
        self.need_word("blocks")?;
        let blocks = self.listed("(", ")", |p| Ok(LoopId(p.id("L")?)))?;
        self.need_word("threads")?;
        let at = self.next;
        let threads: Vec<u32> = self.listed("(", ")", |p| p.whole())?;
        let Ok(threads) = <[u32; 3]>::try_from(threads) else {
            self.next = at;
            return self.expected("three numbers of threads");
        };
        let captures = self.captures()?;
        self.need_word("params")?;
        let params = self.listed("(", ")", |p| Ok(ParamId(p.id("p")?)))?;
        self.need_word("buffers")?;
        let buffers = self.listed("(", ")", Parser::kernel_buffer)?;
        self.need_word("shared")?;
        let shared = self.listed("(", ")", |p| {
            let buf = BufId(p.id("b")?);
            p.need_word("at")?;
            let first_word = p.whole()?;
            p.need_word("words")?;
            Ok(Shared { buf, first_word, words: p.whole()? })
        })?;
        self.need_word("words")?;
        let shared_words = self.whole()?;
        let lanes = if self.eat_word("lanes") { Some(self.listed("(", ")", Parser::held)?) } else { None };
        let body = self.body()?;
        p.kernels.push(Kernel { name, blocks, threads, captures, params, buffers, shared, shared_words, lanes, body });
        Ok(())
    }

    /// `b2 run 1 each 4`.
    fn held(&mut self) -> Parsed<Held> {
        let buf = BufId(self.id("b")?);
        self.need_word("run")?;
        let run = self.whole()?;
        self.need_word("each")?;
        Ok(Held { buf, run, each: self.whole()? })
    }

    /// `b2 reads words strides (b2.stride1)`, where all but the buffer may be missing.
    fn kernel_buffer(&mut self) -> Parsed<KernelBuffer> {
        let buf = BufId(self.id("b")?);
        let reads = self.eat_word("reads");
        let writes = match self.keyword().and_then(|w| item(&WRITES, w)) {
            Some(writes) => {
                self.take();
                writes
            }
            None => Writes::None,
        };
        let word_strides =
            if self.eat_word("strides") { self.listed("(", ")", Parser::bound_sym)? } else { Vec::new() };
        Ok(KernelBuffer { buf, reads, writes, word_strides })
    }
}
