//! The control flow of a function: the instructions that can be reached from its first byte, in blocks.

use iced_x86::{Code, Decoder, DecoderOptions, FlowControl, Instruction};
use std::collections::{BTreeMap, BTreeSet};

/// Instructions that run one after the other.
#[derive(Clone, Debug)]
pub struct Block {
    /// The instructions in order.
    pub instructions: Vec<Instruction>,
    /// The blocks that may follow.
    pub next: Vec<usize>,
}

/// A function as blocks in the order of their addresses. The first one is the entry.
#[derive(Clone, Debug)]
pub struct Flow {
    /// The blocks.
    pub blocks: Vec<Block>,
}

impl Flow {
    /// Decodes the code of a function, which begins at its first byte and for which that is address 0. Constants and
    /// padding behind the code are not reached.
    ///
    /// # Errors
    /// In words, where reachable bytes are no instruction, where a jump leaves the function, and where nothing says the
    /// destination of a jump.
    pub fn decode(bytes: &[u8]) -> Result<Flow, String> {
        let (instructions, starts) = reachable(bytes)?;
        let numbers: BTreeMap<u64, usize> = starts.iter().copied().zip(0..).collect();
        let number = |ip: u64| numbers.get(&ip).copied().ok_or_else(|| format!("{ip:#x}: no block begins here"));
        let mut blocks = Vec::with_capacity(starts.len());
        for &start in &starts {
            let mut block = Block { instructions: Vec::new(), next: Vec::new() };
            let mut at = start;
            while let Some(instruction) = instructions.get(&at) {
                block.instructions.push(*instruction);
                let (jump, falls) = successors(instruction)?;
                at = instruction.next_ip();
                let ends = jump.is_some() || !falls || numbers.contains_key(&at);
                if ends {
                    for ip in jump.into_iter().chain(falls.then_some(at)) {
                        block.next.push(number(ip)?);
                    }
                    break;
                }
            }
            blocks.push(block);
        }
        Ok(Flow { blocks })
    }
    /// The blocks that each block may follow.
    pub fn predecessors(&self) -> Vec<Vec<usize>> {
        let mut all = vec![Vec::new(); self.blocks.len()];
        for (from, block) in self.blocks.iter().enumerate() {
            block.next.iter().for_each(|&to| all[to].push(from));
        }
        all
    }
}

/// The reachable instructions by address, and the addresses at which blocks begin.
fn reachable(bytes: &[u8]) -> Result<(BTreeMap<u64, Instruction>, BTreeSet<u64>), String> {
    let mut decoder = Decoder::with_ip(64, bytes, 0, DecoderOptions::NONE);
    let (mut instructions, mut starts, mut todo) = (BTreeMap::new(), BTreeSet::from([0]), vec![0]);
    while let Some(mut at) = todo.pop() {
        while !instructions.contains_key(&at) {
            let position = usize::try_from(at).unwrap_or(usize::MAX);
            decoder.set_position(position).map_err(|_| format!("{at:#x}: outside of the function"))?;
            decoder.set_ip(at);
            let instruction = decoder.decode();
            if instruction.code() == Code::INVALID {
                return Err(format!("{at:#x}: no instruction"));
            }
            instructions.insert(at, instruction);
            let (jump, falls) = successors(&instruction)?;
            let next = instruction.next_ip();
            if let Some(to) = jump {
                starts.insert(to);
                todo.push(to);
                if falls {
                    starts.insert(next);
                }
            }
            if !falls {
                break;
            }
            at = next;
        }
    }
    Ok((instructions, starts))
}

/// The destination of an instruction's jump, and true if the next instruction may follow.
fn successors(instruction: &Instruction) -> Result<(Option<u64>, bool), String> {
    match instruction.flow_control() {
        FlowControl::ConditionalBranch => Ok((Some(instruction.near_branch_target()), true)),
        FlowControl::UnconditionalBranch => Ok((Some(instruction.near_branch_target()), false)),
        FlowControl::IndirectBranch => {
            Err(format!("{:#x}: the destination of a jump is not in the code", instruction.ip()))
        }
        FlowControl::Return | FlowControl::Exception => Ok((None, false)),
        _ => Ok((None, true)),
    }
}
