//! Runs kernels: blocks one after the other, and in each block phase after phase, thread after thread.
//!
//! Every mistake that a device would not report is an error here. Between two barriers, whatever phases they are in,
//! threads of a block may run at the same time, and code of the block is run by all of them; what is shared is looked
//! at word by word, since its rows may overlap. Of a buffer with a copy on each side, host code must not touch what a
//! kernel has written before an `OnHost`, nor a kernel what the host has changed before a `ChangedOnHost`.

use super::code::Reg;
use super::compile::{Code, Loop};
use super::error::{Check, EvalError};
use super::lanes::LanesOfBlock;
use super::machine::{Machine, Outcome};
use super::race::Races;
use crate::buffer_info::BufferRole;
use crate::buffer_info::{Residency, Side};
use crate::hash::{Map, Set};
use crate::kernel::{KernelBuffer, Writes};
use crate::print;
use crate::program::{Program, Stage};
use crate::sym::Sym;
use crate::sym::{BufId, KernelId};
use halide_core::ids::IdVec;

/// The block that runs at the moment.
pub(super) struct Block {
    threads: [u32; 3],
    /// The thread that runs.
    pub(super) position: [i64; 3],
    pub(super) lanes: LanesOfBlock,
    /// The strand of the block, and the time between two barriers that it is in.
    strand: u32,
    epoch: u32,
    /// The strands of threads in this epoch.
    strands: Map<[i64; 3], u32>,
    /// The first word, and the words of an element, of each row of shared memory.
    rows: Map<BufId, (usize, usize)>,
    /// The allocation that wrote each word last.
    owners: Vec<Option<(BufId, u64)>>,
    /// The buffers that it stores to in whole words.
    whole: Set<BufId>,
}

/// The states of the host's and the device's copy of a buffer.
#[derive(Clone, Copy, Default)]
pub(super) struct Copies {
    /// A kernel wrote it, and the host did not ask for that.
    device_newer: bool,
    /// The host wrote it, and did not say so.
    host_changed: bool,
}

/// The copies of every buffer at the start: an input may have been written by an earlier run's kernels.
pub(super) fn copies_at_start(program: &Program) -> IdVec<BufId, Copies> {
    let input = |role| matches!(role, BufferRole::Input(_));
    let one = |info: &crate::BufferInfo| Copies {
        device_newer: info.side == Side::Both && input(info.role),
        host_changed: false,
    };
    program.buffers.iter().map(one).collect()
}

impl Machine<'_> {
    pub(super) fn dispatch(
        &mut self,
        kernel: KernelId,
        code: &Code,
        grid: &[Reg],
        captures: &[(Reg, Reg, u16)],
    ) -> Outcome {
        let tracked = self.eval(&code.instrs)?;
        let extents =
            grid.iter().map(|&n| self.certain(tracked, n, "an extent of a grid")).collect::<Result<Vec<_>, _>>()?;
        let holes = self.hand_over(captures);
        let name = &self.program.kernels[kernel].name;
        self.blocks(kernel, &extents).map_err(|e| e.inside(|| format!("kernel {name}")))?;
        self.live_holes -= holes;
        Ok(())
    }

    /// Runs all blocks of the dimensions of `extents`, those of the others being set.
    fn blocks(&mut self, kernel: KernelId, extents: &[i64]) -> Outcome {
        let compiled = &self.compiled.kernels[kernel];
        let Some((&extent, inner)) = extents.split_last() else {
            return self.block(kernel);
        };
        let (var, id) = compiled.vars[inner.len()];
        let instance = self.races.as_mut().map(Races::begin_loop);
        for value in 0..extent {
            self.go_on()?;
            self.regs[var as usize] = value as u64;
            let outer = self.races.as_mut().zip(instance).map(|(r, i)| r.begin_iteration(i));
            let place = |m: &Self| format!("{} = {value}", print::sym_in(Sym::Loop(id), m.program));
            self.blocks(kernel, inner).map_err(|e| e.inside(|| place(self)))?;
            if let (Some(r), Some(outer)) = (&mut self.races, outer) {
                r.end_iteration(outer);
            }
        }
        Ok(())
    }

    fn block(&mut self, kernel: KernelId) -> Outcome {
        let row = &self.program.kernels[kernel];
        let words = |buf: BufId| self.program.buffers[buf].elem.bytes().div_ceil(4);
        let strand = self.races.as_mut().map_or(0, |r| {
            r.fresh_words(row.shared_words as usize);
            r.current()
        });
        self.block = Some(Box::new(Block {
            threads: row.threads,
            position: [0; 3],
            lanes: LanesOfBlock::new(row.lanes.as_deref().unwrap_or_default(), row.threads[0]),
            strand,
            epoch: 0,
            strands: Map::default(),
            rows: row.shared.iter().map(|r| (r.buf, (r.first_word as usize, words(r.buf)))).collect(),
            owners: vec![None; row.shared_words as usize],
            whole: row.buffers.iter().filter(|b| self.is_whole(b)).map(|b| b.buf).collect(),
        }));
        self.barrier();
        self.run(&self.compiled.kernels[kernel].body)?;
        self.block = None;
        if let Some(r) = &mut self.races {
            r.end_iteration(strand);
        }
        Ok(())
    }

    /// Begins a new epoch: later accesses of threads are not at the same time as earlier ones.
    pub(super) fn barrier(&mut self) {
        if let (Some(block), Some(races)) = (&mut self.block, &mut self.races) {
            block.epoch = races.begin_loop();
            block.strands.clear();
            races.end_iteration(block.strand);
            // Code of the block is run by all threads.
            races.begin_iteration(block.epoch);
        }
    }

    /// A loop over threads, which is dimension `dim` of the block.
    pub(super) fn thread_loop(&mut self, l: &Loop, dim: usize) -> Outcome {
        let tracked = self.eval(&l.code.instrs)?;
        let min = self.certain(tracked, l.min, "the min of a loop")?;
        let extent = self.certain(tracked, l.extent, "the extent of a loop")?;
        let text = |m: &Self| print::sym_in(Sym::Loop(l.id), m.program);
        let threads = self.block.as_ref().and_then(|b| b.threads.get(dim)).map_or(0, |n| i64::from(*n));
        if extent > threads {
            let message = format!("{} needs {extent} of {threads} threads", text(self));
            return Err(EvalError::failed(Check::Malformed, message));
        }
        if let Some(block) = &mut self.block {
            block.lanes.enter();
        }
        for at in 0..extent {
            self.go_on()?;
            self.regs[l.var as usize] = (min + at) as u64;
            let all = self.enter_thread(dim, at);
            self.run(&l.body).map_err(|e| e.inside(|| format!("{} = {}", text(self), min + at)))?;
            if let (Some(r), Some(all)) = (&mut self.races, all) {
                r.end_iteration(all);
            }
        }
        if let Some(block) = &mut self.block {
            block.lanes.leave();
            block.position.get_mut(dim).into_iter().for_each(|at| *at = 0);
        }
        Ok(())
    }

    /// Makes the strand of a thread current, once its whole position is known; the result is the one to return to.
    fn enter_thread(&mut self, dim: usize, at: i64) -> Option<u32> {
        let (block, races) = (self.block.as_mut()?, self.races.as_mut()?);
        *block.position.get_mut(dim)? = at;
        if dim > 0 {
            return None;
        }
        let all = races.current();
        match block.strands.get(&block.position) {
            Some(&strand) => races.end_iteration(strand),
            None => {
                races.end_iteration(block.strand);
                races.begin_iteration(block.epoch);
                block.strands.insert(block.position, races.current());
            }
        }
        Some(all)
    }

    pub(super) fn reside(&mut self, buf: BufId, what: Residency) {
        let copies = &mut self.copies[buf];
        match what {
            Residency::OnHost => copies.device_newer = false,
            Residency::ChangedOnHost | Residency::OnDevice => copies.host_changed = false,
        }
    }

    /// Returns true if a kernel wrote a buffer and the host has not asked for the contents yet.
    pub(super) fn is_newer_on_device(&self, buf: BufId) -> bool {
        self.copies[buf].device_newer
    }
    /// A device's kernel wrote a buffer.
    pub(super) fn written_on_device(&mut self, buf: BufId) {
        self.copies[buf].device_newer = true;
    }

    /// An allocation begins: neither copy holds anything, and if it is shared memory, it has words of its own.
    pub(super) fn begin(&mut self, buf: BufId) {
        self.copies[buf] = Copies::default();
        if let Some(block) = &mut self.block {
            block.lanes.begin(buf);
        }
        self.begun += 1;
        self.inside[buf] = self.block.is_some().then_some(self.begun);
    }

    /// Checks that the side that runs sees the newest copy, and notes what it does to it.
    pub(super) fn side(&mut self, buf: BufId, writes: bool) -> Outcome {
        if self.program.kernels.is_empty() || self.program.stage < Stage::Final || self.inside[buf].is_some() {
            return Ok(());
        }
        let side = self.program.buffers[buf].side;
        let copies = &mut self.copies[buf];
        let wrong = match &self.block {
            Some(_) if side == Side::Host => Some("a kernel uses the host's"),
            Some(_) if copies.host_changed => Some("the host did not say that it changed"),
            None if side == Side::Device => Some("host code uses the device's"),
            None if copies.device_newer => Some("host code does not have what a kernel made of"),
            _ => None,
        };
        match &self.block {
            Some(_) => copies.device_newer |= writes && side == Side::Both,
            None => copies.host_changed |= writes && side == Side::Both,
        }
        match wrong {
            Some(what) => {
                let message = format!("{what} `{}`", self.program.buffers[buf].name);
                Err(EvalError::failed(Check::Copies, message))
            }
            None => Ok(()),
        }
    }

    /// The words of shared memory that an element is in, if it is there.
    pub(super) fn words(&self, buf: BufId, at: usize) -> Option<std::ops::Range<usize>> {
        let (first, each) = self.block.as_ref()?.rows.get(&buf).copied()?;
        Some(first + at * each..first + (at + 1) * each)
    }

    /// Notes that an element of shared memory was written.
    pub(super) fn own(&mut self, buf: BufId, at: usize) {
        let Some(words) = self.words(buf, at) else { return };
        let mark = self.inside[buf].map(|n| (buf, n));
        if let Some(block) = &mut self.block {
            words.for_each(|w| block.owners[w] = mark);
        }
    }

    /// Returns true if the current allocation of `buf` was the last to write an element of shared memory. Elements of
    /// other memory always are its own.
    pub(super) fn is_own(&self, buf: BufId, at: usize) -> bool {
        let (Some(words), Some(block)) = (self.words(buf, at), &self.block) else { return true };
        let mark = self.inside[buf].map(|n| (buf, n));
        block.owners[words].iter().all(|owner| *owner == mark)
    }

    /// Returns true if a kernel stores to a buffer in whole words, given the strides of the caller's buffer.
    fn is_whole(&self, b: &KernelBuffer) -> bool {
        let lanes = (4 / self.program.buffers[b.buf].elem.bytes() as i64).max(1);
        let stride = |s: &Sym| match s {
            Sym::Buffer { buf, dim, field } => self.memory[*buf].as_ref()?.field(*dim as usize, *field),
            _ => None,
        };
        b.writes == Writes::Words && b.word_strides.iter().all(|s| stride(s).is_some_and(|n| n % lanes == 0))
    }

    /// Checks a store of a kernel that is to be of whole words: its indices from the first element of the buffer on.
    pub(super) fn whole_words(&self, buf: BufId, indices: &[i64]) -> Outcome {
        if self.block.as_ref().is_none_or(|b| !b.whole.contains(&buf)) {
            return Ok(());
        }
        let info = &self.program.buffers[buf];
        let lanes = (4 / info.elem.bytes()).max(1);
        let whole = indices.chunks(lanes).all(|word| {
            let first = word[0];
            first.rem_euclid(lanes as i64) == 0
                && word.len() == lanes
                && word.iter().enumerate().all(|(i, &at)| at == first + i as i64)
        });
        if whole {
            return Ok(());
        }
        let message = format!("a store to `{}` at {indices:?} is not of whole words", info.name);
        Err(EvalError::failed(Check::Malformed, message))
    }
}
