//! The roofs of a machine: what memory and each cache give, and the operations of each unit.

use halide::machine::Machine;
use halide::types::ScalarType;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// A unit of vectors: operations on floats or on integers of so many bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Unit {
    Integers(u32),
    Floats(u32),
}

impl Unit {
    /// The unit that works on values of a type. Floats of 16 bits are worked on as such of 32.
    pub(super) fn of(ty: ScalarType) -> Unit {
        let bits = ty.bits().max(8);
        if ty.is_float() { Unit::Floats(bits.max(32)) } else { Unit::Integers(bits) }
    }

    fn name(self) -> String {
        match self {
            Unit::Integers(bits) => format!("{bits}-bit integers"),
            Unit::Floats(bits) => format!("{bits}-bit multiply-adds"),
        }
    }

    /// The operations of a core in a cycle: two for each lane of a product and sum; for integers as many vectors as
    /// there are instructions, which is more than a processor has units.
    fn operations(self, machine: &Machine) -> f64 {
        let (bits, rate) = match self {
            Unit::Integers(bits) => (bits, machine.vector.issue),
            Unit::Floats(bits) => (bits, 2.0 * machine.vector.fmas),
        };
        f64::from(machine.vector.bits) / f64::from(bits) * rate
    }
}

/// The roofs for a number of threads.
pub(super) struct Roofs {
    pub(super) threads: u32,
    /// Bytes a nanosecond from memory.
    memory: f64,
    /// The name of each cache, and bytes a nanosecond from it.
    caches: Vec<(String, f64)>,
    /// Operations a nanosecond of each unit.
    units: Vec<(Unit, f64)>,
}

impl Roofs {
    /// The roofs of a machine for `threads` threads that keep `units` busy. Each core has the bandwidth of a cache that
    /// one core was found to have.
    pub(super) fn of(machine: &Machine, threads: u32, units: &BTreeSet<Unit>) -> Roofs {
        let threads = threads.min(machine.cores).max(1);
        let all = f64::from(threads) * machine.ghz;
        let cache =
            |(level, cache): (usize, &halide::machine::Cache)| (format!("L{level}"), cache.bytes_per_cycle * all);
        Roofs {
            threads,
            memory: machine.memory.peak_bandwidth(threads),
            caches: (1..).zip(&machine.caches).map(cache).collect(),
            units: units.iter().map(|unit| (*unit, unit.operations(machine) * all)).collect(),
        }
    }

    /// The name of the roof that a point would meet first: of memory, or of its unit.
    pub(super) fn nearest(&self, intensity: f64, unit: Unit) -> String {
        let operations = self.units.iter().find(|(other, _)| *other == unit).map_or(f64::INFINITY, |(_, gops)| *gops);
        if intensity * self.memory < operations { "memory".to_string() } else { unit.name() }
    }

    /// The roofs as data, those of bandwidths from the outermost inwards.
    pub(super) fn json(&self) -> Value {
        let level = |(name, gbs): (&str, f64)| json!({"name": name, "gbs": gbs});
        let caches = self.caches.iter().rev().map(|(name, gbs)| (name.as_str(), *gbs));
        let levels = std::iter::once(("memory", self.memory)).chain(caches);
        let unit = |(unit, gops): &(Unit, f64)| json!({"name": unit.name(), "gops": gops});
        json!({
            "threads": self.threads,
            "levels": levels.map(level).collect::<Vec<Value>>(),
            "units": self.units.iter().map(unit).collect::<Vec<Value>>(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halide::types::{Bool, F16, F64, U8, U16};

    #[test]
    fn wider_values_have_lower_roofs() {
        let machine = Machine { cores: 4, ghz: 2.0, ..Machine::host() };
        let units = BTreeSet::from([U8, U16, F16, F64].map(Unit::of));
        let roofs = Roofs::of(&machine, 9, &units);
        assert_eq!(roofs.threads, 4, "no more than there are cores");
        let of = |unit: Unit| roofs.units.iter().find(|(other, _)| *other == unit).map(|(_, gops)| *gops);
        assert_eq!(Unit::of(F16), Unit::Floats(32));
        assert_eq!(Unit::of(Bool), Unit::Integers(8));
        assert_eq!(of(Unit::Integers(8)), of(Unit::Integers(16)).map(|gops| 2.0 * gops));
        assert_eq!(of(Unit::Floats(32)), of(Unit::Floats(64)).map(|gops| 2.0 * gops));
        assert_eq!(of(Unit::Integers(64)), None, "no Func has such values");
    }

    #[test]
    fn the_nearest_roof_changes_at_the_ridge() {
        let unit = Unit::of(U16);
        let roofs = Roofs::of(&Machine::host(), 1, &BTreeSet::from([unit]));
        let ridge = roofs.units[0].1 / roofs.memory;
        assert_eq!(roofs.nearest(0.9 * ridge, unit), "memory");
        assert_eq!(roofs.nearest(1.1 * ridge, unit), "16-bit integers");
    }
}
