//! Places of calls of random numbers, and the hash that tells them apart.

use super::address::address;
use crate::arena::Expr;
use crate::func::FuncBody;
use std::collections::HashMap;
use std::rc::Rc;

/// The numbers by which calls are told apart.
#[derive(Default)]
pub(super) struct Places {
    /// The hash that the numbers of each Func are made from, and the number of its calls so far.
    funcs: HashMap<usize, (u32, u32)>,
    /// The number of Funcs of each name.
    names: HashMap<String, u32>,
    calls: HashMap<(usize, (u32, u32)), u32>,
}

impl Places {
    /// The number of call `e` in `func`: from the Func's name, and the order in which calls are met.
    pub(super) fn number(&mut self, func: &Rc<FuncBody>, e: Expr) -> u32 {
        let key = (address(func), e.key());
        if let Some(&known) = self.calls.get(&key) {
            return known;
        }
        let names = &mut self.names;
        let (base, count) = self.funcs.entry(address(func)).or_insert_with(|| {
            let same = names.entry(func.name.clone()).or_insert(0);
            *same += 1;
            let hash = func.name.bytes().fold(*same, |hash, byte| mixed(hash ^ u32::from(byte)));
            (hash, 0)
        });
        *count += 1;
        let number = mixed(*base ^ *count);
        self.calls.insert(key, number);
        number
    }
}

/// Rounds of multiply and shift that spread every bit of a number over all. The multipliers are those that Wellons
/// ("hash-prospector", 2018) found to have the least bias.
pub(super) const ROUNDS: [(i128, u32); 2] = [(16, 0x7feb_352d), (15, 0x846c_a68b)];
pub(super) const LAST_SHIFT: i128 = 16;

fn mixed(bits: u32) -> u32 {
    let spread = ROUNDS.iter().fold(bits, |h, (shift, by)| (h ^ (h >> shift)).wrapping_mul(*by));
    spread ^ (spread >> LAST_SHIFT)
}
