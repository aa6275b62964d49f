//! Machines, nests and random numbers for tests.

use halide_auto::tss::{Array, Loop, Nest, Subscript};
use halide_core::types::ScalarType::{self, F64};
use halide_ir::machine::{Cache, Machine, Memory, Vector};

/// A server's core with vectors of 512 bits.
pub(crate) fn server() -> Machine {
    let cache = |bytes, ways, unified, bytes_per_cycle, latency| Cache {
        bytes,
        line: 64,
        ways,
        unified,
        shared_by: 1,
        bytes_per_cycle,
        latency,
    };
    Machine {
        cores: 2,
        ghz: 3.0,
        caches: vec![
            cache(48 << 10, 12, false, 128.0, 5.0),
            cache(2 << 20, 16, true, 64.0, 15.0),
            cache(32 << 20, 16, true, 24.0, 60.0),
        ],
        memory: Memory {
            bytes_per_ns: vec![(1, 12.0), (2, 22.0)],
            streamed_bytes_per_ns: vec![(1, 10.0), (2, 18.0)],
            mixed_bytes_per_ns: vec![(1, 12.0), (2, 22.0)],
            latency_ns: 100.0,
        },
        vector: Vector { bits: 512, registers: 32, loads: 2.0, stores: 1.0, issue: 4.0, fmas: 2.0 },
    }
}

/// The variables of the first loops.
pub(crate) fn variables<const N: usize>() -> [Subscript; N] {
    std::array::from_fn(Subscript::of_loop)
}

/// The product of square matrices in the order i, k, j.
pub(crate) fn matmul(n: u64, ld: i64) -> Nest {
    let [i, k, j] = variables();
    Nest {
        loops: vec![Loop::parallel("i", n), Loop::reduction("k", n), Loop::independent("j", n)],
        arrays: vec![
            Array::read("a", F64, ld, &[&i, &k]),
            Array::read("b", F64, ld, &[&k, &j]),
            Array::update("c", F64, ld, &[&i, &j]),
        ],
        slants: Vec::new(),
    }
}

/// Random numbers by xorshift.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number from `low` to `high`.
    pub(crate) fn from(&mut self, low: u64, high: u64) -> u64 {
        low + (self.next() >> 11) % (high - low + 1)
    }

    pub(crate) fn signed(&mut self, most: i64) -> i64 {
        self.from(0, 2 * most as u64) as i64 - most
    }

    pub(crate) fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.from(0, all.len() as u64 - 1) as usize]
    }
}

/// A nest of one to five loops and arrays of any subscripts, whose last loop can be one of vectors.
pub(crate) fn random_nest(random: &mut Random) -> Nest {
    let loops = random.from(1, 5) as usize;
    let trips = |random: &mut Random| {
        let scale = random.one_of(&[3, 30, 300, 3000]);
        random.from(1, scale)
    };
    let kinds = [Loop::parallel, Loop::independent, Loop::reduction];
    let mut nest = Nest::default();
    for index in 0..loops {
        let most = if index + 1 == loops { 1 } else { 2 };
        let kind = kinds[random.from(0, most) as usize];
        nest.loops.push(kind(&format!("l{index}"), trips(random)));
    }
    let last = Subscript::of_loop(loops - 1);
    let outer = random.from(0, loops as u64 - 1) as usize;
    let element = random.one_of(&[ScalarType::U8, ScalarType::U16, ScalarType::F32, F64]);
    let ld = nest.loops[loops - 1].trips as i64 + random.signed(9);
    nest.arrays.push(Array::update("out", element, ld, &[&Subscript::of_loop(outer.min(loops - 1)), &last]));
    if outer + 1 == loops {
        nest.arrays[0].subscripts.remove(0);
    }
    for number in 0..random.from(0, 3) {
        let dims = random.from(0, 3);
        let subscripts: Vec<Subscript> = (0..dims).map(|_| random_subscript(random, loops)).collect();
        let subscripts: Vec<&Subscript> = subscripts.iter().collect();
        let element = random.one_of(&[ScalarType::U8, ScalarType::F32, F64]);
        let mut array = Array::read(&format!("in{number}"), element, random.from(1, 4000) as i64, &subscripts);
        array.base = random.signed(100);
        array.offsets = (0..random.from(0, 3)).map(|_| (0..dims).map(|_| random.signed(3)).collect()).collect();
        nest.arrays.push(array);
    }
    let (a, b) = (random.from(0, loops as u64 - 1) as usize, random.from(0, loops as u64 - 1) as usize);
    if a != b {
        nest.slants.push((a, b));
    }
    nest
}

fn random_subscript(random: &mut Random, loops: usize) -> Subscript {
    let terms = random.from(0, 2);
    (0..terms).fold(Subscript::default(), |s, _| {
        let index = random.from(0, loops as u64 - 1) as usize;
        s.plus(index, random.one_of(&[1, 1, 1, 2, -1]))
    })
}
