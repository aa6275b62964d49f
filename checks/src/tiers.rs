//! Families of vector instructions that machine code is checked with.

use halide_cpu::Tier;
use halide_skips::{Need, skip};

/// The families that this machine has. The ledger of skips gets the others.
pub(crate) fn tiers() -> impl Iterator<Item = Tier> {
    Tier::ALL.into_iter().filter(|tier| {
        if !tier.available() {
            skip(Need::Cpu(&tier.needs().to_string()), "");
        }
        tier.available()
    })
}
