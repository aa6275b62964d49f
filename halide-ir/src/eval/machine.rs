//! Runs compiled statements: control flow, storage, checks and counts.

use super::code::{Instr, Reg};
use super::compile::{Body, Code, Compiled, Loop};
use super::error::{Check, EvalError};
use super::kernel::{Block, Copies, copies_at_start};
use super::race::{Clash, Races};
use super::storage::{NoRoom, Storage};
use super::watch::{Event, Watch};
use super::{BufferStats, EvalStats, Options};
use crate::buffer_info::BufferRole;
use crate::hash::Set;
use crate::print;
use crate::program::Program;
use crate::sym::Sym;
use crate::sym::{BufId, LoopId, TaskId};
use crate::tuning::MOST_HOLES;
use crate::visit::deep;
use halide_core::externs::ExternDef;
use halide_core::ids::{FuncId, IdVec};
use halide_core::interp::PrintSink;
use halide_core::limits::{Limits, OverCap};
use halide_core::value::Scalar;

/// A reason for which code stops early.
pub(super) enum Stop {
    /// A hole was met; run again and track holes.
    Retry,
    Error(Box<EvalError>),
}

impl From<Box<EvalError>> for Stop {
    fn from(e: Box<EvalError>) -> Stop {
        Stop::Error(e)
    }
}

/// The storage of each buffer that has some at the moment.
pub(super) type Memory = IdVec<BufId, Option<Storage>>;

pub(super) type Outcome = Result<(), Box<EvalError>>;

/// The state of a run.
pub(super) struct Machine<'a> {
    pub(super) program: &'a Program,
    pub(super) compiled: &'a Compiled,
    pub(super) regs: Vec<u64>,
    /// For each register the hole that it depends on; 0 is none. Valid for what is bound, and while tracking.
    pub(super) holes: Vec<u32>,
    /// The description of each hole; number 0 is no hole.
    hole_texts: Vec<String>,
    /// The number of bound lanes that depend on holes; unless it is 0, all code tracks.
    pub(super) live_holes: usize,
    pub(super) memory: Memory,
    /// Buffers whose memory was given back before the end of their allocation.
    freed: Set<BufId>,
    pub(super) races: Option<Races>,
    stats: EvalStats,
    bytes: u64,
    /// The block of a kernel that runs.
    pub(super) block: Option<Box<Block>>,
    pub(super) copies: IdVec<BufId, Copies>,
    /// Allocations so far, and of each buffer that a kernel allocated, which one it was.
    pub(super) begun: u64,
    pub(super) inside: IdVec<BufId, Option<u64>>,
    /// Takes the lines that are printed.
    pub(super) print: Option<&'a PrintSink>,
    /// The closures that the program calls.
    pub(super) callees: &'a [ExternDef],
    /// The values of the program's parameters.
    pub(super) params: &'a [Scalar],
    /// The limits of the run.
    pub(super) limits: &'a Limits,
    /// Bytes of memory that the run has.
    taken: u64,
    /// Is told of every step.
    pub(super) watch: Option<Watch<'a>>,
}

/// The iterations of a loop that is to run.
struct Iterations<'a> {
    id: LoopId,
    min: i64,
    extent: i64,
    /// Asked before each.
    condition: Option<&'a (Code, Reg)>,
    /// The register of its variable.
    var: Reg,
    /// True if they run on threads.
    parallel: bool,
}

impl<'a> Machine<'a> {
    pub(super) fn new(
        program: &'a Program,
        compiled: &'a Compiled,
        memory: Memory,
        (params, options): (&'a [Scalar], &Options<'a>),
        limits: &'a Limits,
    ) -> Self {
        let taken = memory.iter().flatten().map(Storage::taken).sum();
        let buffers = program.buffers.iter().map(|_| BufferStats::default()).collect();
        let mut races = compiled.parallel.then(|| Races::new(program.buffers.len()));
        for (id, storage) in memory.enumerate() {
            let is_input = matches!(program.buffers[id].role, BufferRole::Input(_));
            if let (Some(r), Some(s), false) = (&mut races, storage, is_input) {
                r.fresh(id, s.len());
            }
        }
        Machine {
            program,
            compiled,
            regs: compiled.regs.clone(),
            holes: vec![0; compiled.regs.len()],
            hole_texts: vec![String::new()],
            live_holes: 0,
            memory,
            freed: Set::default(),
            races,
            stats: EvalStats {
                buffers,
                counters: vec![0; program.counters.len()],
                iterations: program.loops.iter().map(|_| 0).collect(),
                peak_bytes: 0,
                operations: 0,
                code: compiled.size,
            },
            bytes: 0,
            block: None,
            copies: copies_at_start(program),
            begun: 0,
            inside: program.buffers.iter().map(|_| None).collect(),
            print: options.print,
            callees: options.callees,
            params,
            limits,
            taken,
            watch: None,
        }
    }

    /// The counts of the run and the memory, if every output has values without holes.
    pub(super) fn finish(mut self) -> Result<(EvalStats, Memory), Box<EvalError>> {
        for (id, info) in self.program.buffers.enumerate() {
            let Some(storage) = self.memory[id].as_ref().filter(|_| matches!(info.role, BufferRole::Output(_))) else {
                continue;
            };
            if let Some((at, hole)) = storage.first_garbage() {
                let place = storage.place(at);
                let message = format!("`{}`{place} depends on {}", info.name, self.hole_text(hole));
                return Err(EvalError::failed(Check::Uninitialised, message));
            }
            self.stats.buffers[id].unwritten = storage.unwritten();
        }
        Ok((self.stats, self.memory))
    }

    pub(super) fn run(&mut self, body: &Body) -> Outcome {
        deep(|| self.one(body))
    }

    fn one(&mut self, body: &Body) -> Outcome {
        match body {
            Body::Block(list) => list.iter().try_for_each(|s| self.run(s)),
            Body::Let { code, bound, body } => self.let_in(code, bound, body),
            Body::For(l) => match l.thread {
                Some(dim) if self.block.is_some() => self.thread_loop(l, dim),
                _ => self.for_loop(l),
            },
            Body::If { code, cond, then, otherwise } => {
                let taken = self.known(code, *cond, "a condition")? != 0;
                self.run(if taken { then } else { otherwise })
            }
            Body::Assert { code, cond, fault, args } => self.assert(code, *cond, *fault, args),
            Body::Print { code, when, line, args } => self.print(code, *when, *line, args),
            Body::Produce { func, body } => {
                self.tell(|| Event::Produce { func: *func });
                self.run(body).map_err(|e| e.inside(|| self.func_text(*func)))?;
                self.tell(|| Event::Produced { func: *func });
                Ok(())
            }
            Body::Atomic { func, body } => {
                let outer = self.races.as_mut().map(|r| r.begin_step(*func));
                self.run(body)?;
                if let (Some(r), Some(outer)) = (&mut self.races, outer) {
                    r.end_step(outer);
                }
                Ok(())
            }
            Body::Realize { func, bufs, code, bounds, body } => self.realize(*func, bufs, code, bounds, body),
            Body::Provide { code, args, values, mask, lanes } => self.provide(code, args, values, *mask, *lanes),
            Body::Alloc { buf, code, count, constant, body } => self.alloc(*buf, code, *count, *constant, body),
            Body::Store { code, buf, index, value, mask, lanes } => {
                self.store(code, *buf, *index, *value, *mask, *lanes)
            }
            Body::Call { callee, code, args, scratch } => self.call(*callee, code, args, *scratch),
            Body::Free { buf } => self.free(*buf),
            Body::Count { counter, code, amount } => {
                let amount = self.known(code, *amount, "the amount of a count")?;
                let total = &mut self.stats.counters[*counter];
                *total = total.wrapping_add(amount);
                Ok(())
            }
            Body::Launch { task, code, min, extent, captures } => self.launch(*task, code, *min, *extent, captures),
            Body::Reside { buf, what } => {
                self.reside(*buf, *what);
                Ok(())
            }
            Body::Barrier => {
                self.barrier();
                Ok(())
            }
            Body::Dispatch { kernel, code, grid, captures } => self.dispatch(*kernel, code, grid, captures),
        }
    }

    /// Runs code; the result says whether holes were tracked.
    pub(super) fn eval(&mut self, code: &[Instr]) -> Result<bool, Box<EvalError>> {
        self.stats.operations += code.len() as u64;
        if self.live_holes == 0 {
            match self.exec_watched::<false>(code) {
                Ok(()) => return Ok(false),
                Err(Stop::Error(e)) => return Err(e),
                Err(Stop::Retry) => {}
            }
        }
        match self.exec_watched::<true>(code) {
            Ok(()) => Ok(true),
            Err(Stop::Error(e)) => Err(e),
            Err(Stop::Retry) => Err(EvalError::failed(Check::Malformed, "tracked code asks to be tracked")),
        }
    }

    /// The value of a register that must not depend on a hole.
    pub(super) fn known(&mut self, code: &Code, reg: Reg, what: &str) -> Result<i64, Box<EvalError>> {
        let tracked = self.eval(&code.instrs)?;
        self.certain(tracked, reg, what)
    }

    pub(super) fn certain(&self, tracked: bool, reg: Reg, what: &str) -> Result<i64, Box<EvalError>> {
        match self.holes[reg as usize] {
            hole if tracked && hole != 0 => {
                Err(EvalError::failed(Check::Uninitialised, format!("{what} depends on {}", self.hole_text(hole))))
            }
            _ => Ok(self.regs[reg as usize] as i64),
        }
    }

    fn let_in(&mut self, code: &Code, bound: &[(Reg, u16)], body: &Body) -> Outcome {
        let holes = self.enter_let(code, bound)?;
        self.run(body)?;
        self.leave_let(bound, holes);
        Ok(())
    }
    fn for_loop(&mut self, l: &Loop) -> Outcome {
        let (min, extent) = self.range(&l.code, l.min, l.extent)?;
        let text = |m: &Self| print::sym_in(Sym::Loop(l.id), m.program);
        let condition = l.condition.as_ref();
        self.iterate(&Iterations { id: l.id, min, extent, condition, var: l.var, parallel: l.parallel }, &l.body, &text)
    }

    /// Returns true if a loop goes on.
    pub(super) fn holds(&mut self, condition: Option<&(Code, Reg)>) -> Result<bool, Box<EvalError>> {
        condition.map_or(Ok(true), |(code, value)| Ok(self.known(code, *value, "the condition of a loop")? != 0))
    }

    fn iterate(&mut self, all: &Iterations<'_>, body: &Body, text: &dyn Fn(&Self) -> String) -> Outcome {
        let &Iterations { id, min, extent, condition, var, parallel } = all;
        let end = min.checked_add(extent.max(0)).ok_or_else(|| {
            EvalError::failed(Check::IndexOverflow, format!("{} from {min} extent {extent}", text(self)))
        })?;
        let instance = self.races.as_mut().filter(|_| parallel).map(Races::begin_loop);
        for value in min..end {
            self.go_on()?;
            if !self.holds(condition)? {
                break;
            }
            self.stats.iterations[id] = self.stats.iterations[id].saturating_add(1);
            self.regs[var as usize] = value as u64;
            let outer = self.races.as_mut().zip(instance).map(|(r, i)| r.begin_iteration(i));
            self.tell_loop(|| Event::Iterate { id, parallel, value });
            self.run(body).map_err(|e| e.inside(|| format!("{} = {value}", text(self))))?;
            if let (Some(r), Some(outer)) = (&mut self.races, outer) {
                r.end_iteration(outer);
            }
            self.tell_loop(|| Event::Iterated);
        }
        Ok(())
    }

    fn launch(&mut self, task: TaskId, code: &Code, min: Reg, extent: Reg, captures: &[(Reg, Reg, u16)]) -> Outcome {
        let (min, extent) = self.range(code, min, extent)?;
        let holes = self.hand_over(captures);
        let id = self.program.tasks[task].id;
        let compiled = &self.compiled.tasks[task];
        let all = Iterations { id, min, extent, condition: None, var: compiled.var, parallel: true };
        self.iterate(&all, &compiled.body, &|_| format!("{task:?}"))?;
        self.live_holes -= holes;
        Ok(())
    }

    /// Copies what a task or kernel captures; the result is how many lanes are holes.
    pub(super) fn hand_over(&mut self, captures: &[(Reg, Reg, u16)]) -> usize {
        let mut holes = 0;
        for &(from, to, lanes) in captures {
            for lane in 0..lanes as usize {
                let (from, to) = (from as usize + lane, to as usize + lane);
                self.regs[to] = self.regs[from];
                self.holes[to] = self.holes[from];
                holes += (self.holes[from] != 0) as usize;
            }
        }
        self.live_holes += holes;
        holes
    }

    fn realize(&mut self, func: FuncId, bufs: &[BufId], code: &Code, bounds: &[(Reg, Reg)], body: &Body) -> Outcome {
        let tracked = self.eval(&code.instrs)?;
        let mut region = Vec::with_capacity(bounds.len());
        for &(min, extent) in bounds {
            let min = self.certain(tracked, min, "the min of a realization")?;
            region.push((min, self.certain(tracked, extent, "the extent of a realization")?));
        }
        for &buf in bufs {
            let info = &self.program.buffers[buf];
            let storage = Storage::realized(info.elem, &region, &info.fold, &|bytes| self.room(bytes));
            self.allocate(buf, storage)?;
        }
        self.tell(|| Event::Allocate { func, region });
        self.run(body)?;
        bufs.iter().for_each(|&b| self.release(b));
        self.tell(|| Event::Free { func });
        Ok(())
    }

    fn alloc(&mut self, buf: BufId, code: &Code, count: Reg, constant: Option<u64>, body: &Body) -> Outcome {
        let count = self.count(buf, code, count, constant)?;
        let storage = Storage::linear(self.program.buffers[buf].elem, count, &|bytes| self.room(bytes));
        self.allocate(buf, storage)?;
        self.run(body)?;
        self.release(buf);
        Ok(())
    }
    pub(super) fn allocate(&mut self, buf: BufId, storage: Result<Storage, NoRoom>) -> Outcome {
        let name = &self.program.buffers[buf].name;
        let storage = storage.map_err(|e| Box::new(e.of(buf)))?;
        if self.memory[buf].is_some() || self.freed.contains(&buf) {
            return Err(EvalError::failed(Check::Malformed, format!("`{name}` is allocated inside its allocation")));
        }
        let stats = &mut self.stats.buffers[buf];
        stats.allocations += 1;
        stats.peak_elements = stats.peak_elements.max(storage.len() as u64);
        self.bytes += storage.bytes();
        self.taken += storage.taken();
        self.stats.peak_bytes = self.stats.peak_bytes.max(self.bytes);
        if let Some(r) = &mut self.races {
            r.fresh(buf, storage.len());
        }
        self.memory[buf] = Some(storage);
        self.begin(buf);
        Ok(())
    }

    /// Ends the storage of a buffer, if there is some.
    pub(super) fn release(&mut self, buf: BufId) {
        self.freed.remove(&buf);
        if let Some(storage) = self.memory[buf].take() {
            self.bytes -= storage.bytes();
            self.taken -= storage.taken();
        }
    }

    /// Checks that so many bytes more are within the cap.
    pub(super) fn room(&self, bytes: u64) -> Result<(), OverCap> {
        self.limits.check(bytes, self.taken, || 0)
    }

    /// Ends the run where it was told to.
    pub(super) fn go_on(&self) -> Outcome {
        self.limits.stopped().map_or(Ok(()), |stop| Err(Box::new(EvalError::Stopped(stop))))
    }

    /// Counts a store and checks that it races with nothing; the same value may be written by all.
    pub(super) fn note_write(&mut self, buf: BufId, at: usize, value: Reg) -> Outcome {
        self.stats.buffers[buf].stores += 1;
        self.side(buf, true)?;
        if let Some(touched) = self.touch_held(buf, at, true) {
            return touched;
        }
        if self.races.is_none() {
            return Ok(());
        }
        let own = self.is_own(buf, at);
        let held = self.memory[buf].as_ref().and_then(|s| s.bits(at)).filter(|_| own);
        let same = held == Some(self.regs[value as usize]);
        let words = self.words(buf, at);
        self.own(buf, at);
        let in_step = self.in_step_of(buf);
        let Some(races) = &mut self.races else { return Ok(()) };
        let clash = match words {
            Some(words) => words.fold(None, |clash, w| races.write_word(w, in_step, same).or(clash)),
            None => races.write(buf, at, in_step, same),
        };
        match clash {
            Some(Clash::Always) => Err(self.race(buf, at, "writes")),
            Some(Clash::IfDifferent) if !same => Err(self.race(buf, at, "writes")),
            _ => Ok(()),
        }
    }

    pub(super) fn note_read(&mut self, buf: BufId, at: usize) -> Outcome {
        self.side(buf, false)?;
        if let Some(touched) = self.touch_held(buf, at, false) {
            return touched;
        }
        let words = self.words(buf, at);
        let in_step = self.in_step_of(buf);
        let Some(races) = &mut self.races else { return Ok(()) };
        let clash = match words {
            Some(words) => words.filter(|w| races.read_word(*w, in_step)).count() > 0,
            None => races.read(buf, at, in_step),
        };
        if clash {
            return Err(self.race(buf, at, "reads"));
        }
        Ok(())
    }

    /// Returns true if an access of the buffer is part of an atomic step of its own Func: steps of others do not wait
    /// for it.
    fn in_step_of(&self, buf: BufId) -> bool {
        let step = self.races.as_ref().and_then(Races::step);
        step.and_then(|func| self.program.func_buffers.get(func)).is_some_and(|bufs| bufs.contains(&buf))
    }

    /// Gives memory back before its allocation ends.
    fn free(&mut self, buf: BufId) -> Outcome {
        if self.memory[buf].is_none() {
            let message = format!("the memory of `{}` is given back twice", self.program.buffers[buf].name);
            return Err(EvalError::failed(Check::Freed, message));
        }
        if let Some(at) = self.races.as_ref().and_then(|r| r.used_elsewhere(buf)) {
            return Err(self.race(buf, at, "gives back"));
        }
        self.release(buf);
        self.freed.insert(buf);
        Ok(())
    }

    fn race(&self, buf: BufId, at: usize, does: &str) -> Box<EvalError> {
        let place = self.memory[buf].as_ref().map_or(String::new(), |s| s.place(at));
        let who = if self.block.is_some() { "thread" } else { "iteration" };
        let message = format!("one {who} {does} `{}`{place}, which another touches", self.program.buffers[buf].name);
        EvalError::failed(Check::Race, message)
    }

    /// Describes a new hole.
    pub(super) fn new_hole(&mut self, text: impl FnOnce() -> String) -> u32 {
        if self.hole_texts.len() < MOST_HOLES {
            self.hole_texts.push(text());
        }
        (self.hole_texts.len() - 1) as u32
    }

    fn hole_text(&self, hole: u32) -> &str {
        self.hole_texts.get(hole as usize).map_or("?", String::as_str)
    }

    pub(super) fn no_storage(&self, buf: BufId) -> Box<EvalError> {
        let name = &self.program.buffers[buf].name;
        match self.freed.contains(&buf) {
            true => EvalError::failed(Check::Freed, format!("`{name}` is used after its memory was given back")),
            false => EvalError::failed(Check::Malformed, format!("`{name}` is used outside its allocation")),
        }
    }

    pub(super) fn outside(&self, check: Check, buf: BufId, coords: Vec<i64>, dim: usize) -> Box<EvalError> {
        let name = &self.program.buffers[buf].name;
        let (min, extent) = self.memory[buf].as_ref().map_or((0, 0), |s| (s.dims[dim].min, s.dims[dim].extent));
        let coords: Vec<String> = coords.iter().map(i64::to_string).collect();
        let have = if extent > 0 { format!("{min} to {}", min.saturating_add(extent - 1)) } else { "nothing".into() };
        let message = format!("`{name}`({}) is outside in dimension {dim}, which has {have}", coords.join(", "));
        EvalError::failed(check, message)
    }

    pub(super) fn outside_linear(&self, check: Check, buf: BufId, index: i64) -> Box<EvalError> {
        let name = &self.program.buffers[buf].name;
        let (first, last) = self.memory[buf].as_ref().map_or((0, -1), Storage::linear_range);
        if (first..=last).contains(&index) {
            let message = format!("`{name}`[{index}] is between the rows of the buffer");
            return EvalError::failed(Check::BetweenRows, message);
        }
        EvalError::failed(check, format!("`{name}`[{index}] is outside [{first}] to [{last}]"))
    }

    fn func_text(&self, func: FuncId) -> String {
        print::func_in(func, self.program)
    }
}
