//! Checks inside of a nest. A check is made before the kernel is called if the code around knows what it asks, and
//! whether the nest ever comes to it: then nothing bad happens before it, and it says the same.
//!
//! Any other check leaves the kernel with the number of its fault in the words of the call; the caller ends the run.
//! Loads behind it do not move in front of it.

use super::super::interface::{Capture, Check, Emitted, refuse};
use super::super::machine::{Arg, End, View};
use super::kernel::Emit;
use super::levels::stored;
use halide_ir::code_place::CodePart;
use halide_ir::{Expr, Fault, FaultId, Stmt, build, visit};
use iced_x86::Code;

/// The most numbers that a fault inside of a kernel speaks of.
const MOST_NUMBERS: usize = 6;
/// The words of a fault: its number and 1, how many numbers there are, and these.
const WORDS: usize = 2 + MOST_NUMBERS;

impl Emit<'_> {
    /// Statements one after the other: what follows a check that is made here runs if it holds.
    pub(super) fn block(&mut self, list: &[Stmt]) -> Emitted<()> {
        for (i, s) in list.iter().enumerate() {
            match s {
                Stmt::Assert { cond, fault, args } if !self.check_outside(cond, *fault, args) => {
                    return visit::deep(|| self.check_inside(cond, *fault, args, &list[i + 1..]));
                }
                Stmt::Assert { .. } => {}
                other => self.stmt(other)?,
            }
        }
        Ok(())
    }

    /// Notes a check that is made before the kernel is called; false if it cannot be.
    fn check_outside(&mut self, cond: &Expr, fault: FaultId, args: &[Expr]) -> bool {
        let Some(reached) = self.heap.reached().into_iter().collect::<Option<Vec<Expr>>>() else { return false };
        let outside: Option<Vec<Expr>> = args.iter().map(|a| self.heap.outside(a)).collect();
        let (Some(cond), Some(args)) = (self.heap.outside(cond), outside) else { return false };
        let when = reached.into_iter().filter(|c| build::as_bool(c) != Some(true)).reduce(build::and);
        self.checks.push(Check { when, cond, fault, args });
        true
    }

    fn check_inside(&mut self, cond: &Expr, fault: FaultId, args: &[Expr], rest: &[Stmt]) -> Emitted<()> {
        // Memory of the nest is obtained before all of it: a size must not be taken for what a check forbids.
        let of_sizes = match self.program.faults[fault] {
            Fault::OutOfMemory { .. } => return refuse("a check of a size that is only known inside"),
            Fault::Unproved | Fault::Access { .. } => false,
            _ => true,
        };
        if args.len() > MOST_NUMBERS {
            return refuse(format!("a check of what is only known inside, which tells {} numbers", args.len()));
        }
        let word = self.capture(Capture::Failed, WORDS);
        let exit = self.exit();
        let (condition, left, right) = self.for_purpose(CodePart::Check, |e| e.test(cond))?;
        let (holds, fails, join) = (self.body.block(), self.body.block(), self.body.block());
        let from = self.levels[self.innermost()].block;
        self.body.blocks[from.0].end = Some(End::Branch { condition, left, right, yes: holds, no: fails });

        self.open_branch(fails);
        let around = self.begin_check();
        for (i, number) in [i64::from(fault.0) + 1, args.len() as i64].into_iter().enumerate() {
            let mem = self.word(word + i);
            self.push(Code::Mov_rm64_imm32, vec![Arg::Mem(mem), Arg::Imm(number)]);
        }
        for (i, arg) in args.iter().enumerate() {
            let (number, mem) = (self.scalar(arg)?, self.word(word + 2 + i));
            self.push(Code::Mov_rm64_r64, vec![Arg::Mem(mem), Arg::Use(number, View::G64)]);
        }
        self.end_place(around);
        let last = self.close();
        self.body.blocks[last.0].end = Some(End::Jump(exit, Vec::new()));

        let bufs = stored(&rest.iter().collect::<Vec<_>>());
        let changed = |b| bufs.contains(&b);
        let before = self.slots.values(changed);
        let level = self.innermost();
        self.slots.set(changed, &before, level);
        self.open_branch(holds);
        if of_sizes {
            self.heap.enter(cond.clone());
        }
        self.block(rest)?;
        if of_sizes {
            self.heap.leave();
        }
        let values = self.slots.values(changed);
        let last = self.close();
        self.body.blocks[last.0].end = Some(End::Jump(join, values));
        self.joined(join, &before, &bufs);
        Ok(())
    }
}
