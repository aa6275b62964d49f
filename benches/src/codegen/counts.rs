//! Counts of the instructions of a loop, by what they do to memory and to lanes.

use super::flow::Flow;
use super::loops::Loop;
use super::operation::{Kind, Operation, Place, Reader};
use serde_json::{Value, json};
use std::ops::AddAssign;

/// Bytes of the smallest vector register.
const VECTOR_BYTES: usize = 16;

/// The instructions of a loop, those of all of its blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// All instructions.
    pub instructions: u64,
    /// Reads of buffers.
    pub loads: u64,
    /// Writes to buffers.
    pub stores: u64,
    /// Reads of constants behind the code.
    pub constants: u64,
    /// Operands relative to the stack or the frame pointer, read or written.
    pub stack_operands: u64,
    /// Stack operands of vector width.
    pub stack_vectors: u64,
    /// Stack operands that are arrays of the frame and no spilled value, as far as the code generator says.
    pub frame_data: u64,
    /// Writes of general registers to the stack.
    pub general_stores: u64,
    /// Loads with an address for each lane.
    pub gathers: u64,
    /// Products with a sum.
    pub multiply_adds: u64,
    /// Arithmetic on all lanes of vectors, those among them.
    pub vector_arithmetic: u64,
    /// The width in bits of the widest vector of which all lanes are worked on; 0 of none.
    pub bits: u64,
}

impl Counts {
    /// The counts of a loop in a function whose lowest bytes of stack, so many, hold spilled values.
    pub fn of_loop(flow: &Flow, l: &Loop, spill_bytes: Option<u64>) -> Counts {
        let mut reader = Reader::default();
        let mut counts = Counts::default();
        let instructions = l.blocks.iter().flat_map(|&block| &flow.blocks[block].instructions);
        instructions.for_each(|instruction| counts.add(&reader.read(instruction), spill_bytes));
        counts
    }

    fn add(&mut self, operation: &Operation, spill_bytes: Option<u64>) {
        self.instructions += 1;
        self.multiply_adds += u64::from(operation.is_multiply_add);
        self.vector_arithmetic += u64::from(operation.is_packed && is_arithmetic(operation.kind));
        if operation.is_packed {
            self.bits = self.bits.max(operation.bits as u64);
        }
        let Some(access) = operation.access else { return };
        match access.place {
            Place::Stack => {
                self.stack_operands += 1;
                self.stack_vectors += u64::from(access.bytes >= VECTOR_BYTES);
                let is_data = |spills| access.slot.is_none_or(|slot| slot >= spills);
                self.frame_data += u64::from(spill_bytes.is_some_and(is_data));
                self.general_stores += u64::from(access.writes && !operation.is_lanes);
            }
            Place::Constant => self.constants += u64::from(access.reads),
            Place::Data => {
                self.loads += u64::from(access.reads);
                self.stores += u64::from(access.writes);
            }
        }
        self.gathers += u64::from(access.reads && access.lanes > 1);
    }

    /// Operands of the stack in 100 instructions.
    pub fn stack_percent(&self) -> f64 {
        100.0 * self.stack_operands as f64 / self.instructions.max(1) as f64
    }
    /// The counts by name.
    pub fn json(&self) -> Value {
        json!({
            "instructions": self.instructions, "loads": self.loads, "stores": self.stores,
            "constants": self.constants, "stack_operands": self.stack_operands, "stack_vectors": self.stack_vectors,
            "frame_data": self.frame_data, "general_stores": self.general_stores, "gathers": self.gathers,
            "multiply_adds": self.multiply_adds, "vector_arithmetic": self.vector_arithmetic, "bits": self.bits,
        })
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Counts) {
        self.instructions += other.instructions;
        self.loads += other.loads;
        self.stores += other.stores;
        self.constants += other.constants;
        self.stack_operands += other.stack_operands;
        self.stack_vectors += other.stack_vectors;
        self.frame_data += other.frame_data;
        self.general_stores += other.general_stores;
        self.gathers += other.gathers;
        self.multiply_adds += other.multiply_adds;
        self.vector_arithmetic += other.vector_arithmetic;
        self.bits = self.bits.max(other.bits);
    }
}

/// Returns true for kinds that compute lanes from lanes; moves, permutations and masks do not.
fn is_arithmetic(kind: Kind) -> bool {
    use Kind::*;
    let floats = matches!(
        kind,
        Multiply | FloatAdd | FloatCompare | Convert | LongMultiply | Divide32 | Divide64 | Root32 | Root64
    );
    floats || matches!(kind, IntMultiply | IntAdd | IntCompare | Logic | Shift | MaskCompare)
}
