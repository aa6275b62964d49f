//! General registers that a loop needs.

use super::super::inst::Body;
use super::super::simple_loop::SimpleLoop;
use regalloc2::{RegClass, VReg};

/// The lives of registers in a loop. The loop's instructions and ends of blocks are counted from 1.
pub(super) struct Pressure {
    /// The definition and the last use of each register; 0 where there is none.
    lives: Vec<(usize, usize)>,
    /// The registers that have one of them.
    met: Vec<VReg>,
}

impl Pressure {
    pub(super) fn new(body: &Body) -> Pressure {
        Pressure { lives: vec![(0, 0); body.registers], met: Vec::new() }
    }
    /// The registers that a loop reads and does not define, the parameters of its head, and the most results of its
    /// instructions that are live at a time.
    pub(super) fn of(&mut self, body: &Body, l: &SimpleLoop) -> usize {
        self.lives.resize(body.registers, (0, 0));
        let end = self.note_all(body, l);
        let mut outside = 0;
        // The change in the number of live results at each instruction.
        let mut changes = vec![0i64; end + 2];
        for register in self.met.drain(..) {
            match std::mem::take(&mut self.lives[register.vreg()]) {
                (0, 0) => {}
                (0, _) => outside += 1,
                (from, to) => {
                    changes[from] += 1;
                    changes[to.max(from) + 1] -= 1;
                }
            }
        }
        let (mut live, mut most) = (0, 0);
        for change in changes {
            live += change;
            most = most.max(live);
        }
        outside + most as usize
    }
    /// Notes the definitions and uses of a loop; returns the number of the last one.
    fn note_all(&mut self, body: &Body, l: &SimpleLoop) -> usize {
        let mut at = 0;
        for (block, _) in &l.blocks {
            let block = &body.blocks[block.0];
            for inst in &block.insts {
                at += 1;
                inst.used(&mut |v| self.note(v).1 = at);
                inst.results().for_each(|v| self.note(v).0 = at);
            }
            at += 1;
            // A parameter of the head is used wherever it is: it is not defined by an instruction.
            block.params.iter().for_each(|v| self.note(*v).1 = at);
            if let Some(end) = &block.end {
                end.used(&mut |v| self.note(v).1 = at);
            }
        }
        at
    }
    /// The life of a general register; a life that nobody looks at, of others.
    fn note(&mut self, register: VReg) -> &mut (usize, usize) {
        if register.class() == RegClass::Int {
            self.met.push(register);
        }
        &mut self.lives[register.vreg()]
    }
}
