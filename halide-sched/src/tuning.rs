//! The tuning constants of the crate: limits of searches and sizes that decide between two ways. Each says its unit and
//! its reason. A measurement is named where there was one; all others are by reasoning, and were not measured.

// access

/// The most operations that are nested in one atom.
pub(crate) const MOST_DEPTH: u32 = 12;

/// The most monomials of a polynomial inside of an atom.
pub(crate) const MOST_INNER: usize = 24;

/// The most monomials of a polynomial.
pub(crate) const MOST_SUM: usize = 400;

/// The most stores whose values are looked at for one load.
pub(crate) const MOST_STORES: usize = 8;

/// The most minima in one polynomial whose arms are looked at one by one.
pub(crate) const MOST_MINIMA: u32 = 3;

/// The longest period that is taken apart.
pub(crate) const MOST_PERIOD: i128 = 4;

/// The most lanes that are taken one by one.
pub(crate) const MOST_LANES: i128 = 8;

/// The most monomials that a name is replaced by.
pub(crate) const MOST_EXPANDED_TERMS: usize = 24;

/// The largest float around which every multiple of a half is one, in all types of floats from `f32` on.
pub(crate) const MOST_EXACT: f64 = (1 << 22) as f64;

/// The most monomials of an inequality that is moved further.
pub(crate) const MOST_HOISTED_TERMS: usize = 40;

/// The most conditions that an inequality keeps.
pub(crate) const MOST_HOISTED_GUARDS: usize = 6;

/// The most inequalities that one becomes where it speaks of the smaller of two.
pub(crate) const MOST_PARTS: usize = 16;

/// The most variables whose definitions are written down.
pub(crate) const MOST_DEFINED: usize = 120;

/// The most monomials that a fact may bring in.
pub(crate) const MOST_NEW: usize = 1;

/// The most factors.
pub(crate) const MOST_FACTORS: usize = 6;

/// Products of more monomials are not computed.
pub(crate) const MOST_PRODUCTS: usize = 400;

/// The number of sums that most analyses make, at least.
pub(crate) const CACHED_SUMS: usize = 1 << 9;

/// The most steps of a search.
pub(crate) const MOST_STEPS: u32 = 200;

/// The most names inside of operations that one search replaces; each rewrites the whole polynomial.
pub(crate) const MOST_INSIDES: u32 = 6;

/// The most ways that are tried at one step.
pub(crate) const MOST_WAYS: usize = 4;

/// The most combinations of arms that are looked at before one is chosen.
pub(crate) const MOST_CHOICES: u32 = 32;

/// The most arms of nested minima that are told apart.
pub(crate) const MOST_ARMS: usize = 8;

/// The most monomials of a polynomial that is looked at.
pub(crate) const MOST_PROVED_TERMS: usize = 48;

/// The most alternatives of a shuffle that are told apart.
pub(crate) const MOST_PICKS: usize = 16;

/// The longest expression that is made by replacing names.
pub(crate) const MOST_READ_NODES: usize = 48;

/// The most times that assertions are read to narrow intervals of symbols by them: what one says may show what another
/// says.
pub(crate) const REFINING_ROUNDS: usize = 4;

/// The most names that stand for one another.
pub(crate) const MOST_READ_ROUNDS: usize = 8;

/// Names of instructions that the error of an unknown one shows: more are not read. By reasoning.
pub(crate) const SHOWN_NAMES: usize = 8;

/// The most names of one polynomial that are replaced.
pub(crate) const MOST_NAMES: usize = 40;

/// The number of samples.
pub(crate) const SAMPLES: usize = 8;

/// The samples that are the same for all; in the others, buffers are of different sizes.
pub(crate) const SAME_SAMPLES: usize = 4;

/// The longest interval whose ends are worth a sample: nobody uses the ends of `i32`.
pub(crate) const NEAR_SAMPLES: i128 = 4096;

// lower/checks

/// An error names no more directives than this.
pub(crate) const MOST_CAUSES: usize = 4;

/// The most that sums and products reach of which operands are asserted to be small: other terms fit beside them.
pub(crate) const LARGEST_INDEX: i64 = 1 << 61;

/// The most steps of finding the least that an expression can be.
pub(crate) const MOST_APART_STEPS: usize = 20;

/// The most intervals that are known of a statement.
pub(crate) const MOST_WRITERS: usize = 8;

// lower/code

/// The most products of a sum that are searched one by one; of more there is a table. Most sums have two or three, and
/// a table for each is an allocation. By reasoning.
pub(crate) const LISTED_TERMS: usize = 12;

/// A product with more terms than this is not multiplied out.
pub(crate) const MOST_POLYNOMIAL_TERMS: usize = 12;

/// The size of a launch of a part, without the symbols and buffers that the part's own code needs.
pub(crate) const LAUNCH_COST: usize = 4;

// lower/gpu

/// The most elements of a buffer that a lane may hold: a load of one looks at all of them.
pub(crate) const MOST_HELD_ELEMENTS: u64 = 64;

/// A bound of an extent that is not less says no more than that coordinates are 32 bits wide.
pub(crate) const NO_BOUND: i64 = 1 << 31;

// lower/loops

/// More copies or lanes than this are surely not meant.
pub(crate) const MOST_COPIES: i64 = 4096;

/// Bytes of a cache line.
pub(crate) const LINE_BYTES: i64 = 64;

/// The most cache lines that a prefetch from one iteration to the next requests into the first cache.
pub(crate) const MOST_NEAR: i64 = 256;

/// No more lines are asked for at a time: a megabyte.
pub(crate) const MOST_PREFETCHES: i64 = 1 << 14;

/// So many prefetches are written out instead of looped over.
pub(crate) const MOST_WRITTEN_OUT: i64 = 32;

/// Bodies with more nodes than this are not copied for a loop that has loops inside.
pub(crate) const SMALL_CUT_NODES: usize = 1000;

/// Bodies with more nodes than this are not copied at all, unless the schedule says so.
pub(crate) const LARGE_CUT_NODES: usize = 10_000;

/// Conditions of stores in a loop beyond which they are solved together, as far as one question goes: more than the
/// vectors of a block that is written out for the widest registers.
pub(crate) const MOST_TRIMMED_CONDITIONS: usize = 64;

/// A loop of fewer iterations has no steady state to speak of.
pub(crate) const FEWEST_ITERATIONS: i64 = 3;

/// Conjunctions beyond which a union is taken to hold always.
pub(crate) const MOST_CONDITION_TERMS: usize = 8;

/// Nodes beyond which a condition is not asked once more.
pub(crate) const MOST_UNIFORM_NODES: usize = 64;

/// Nodes of code beyond which it is not made twice.
pub(crate) const MOST_UNIT_NODES: usize = 4000;

/// Conditions that one unit is split by.
pub(crate) const MOST_SPLITS: usize = 3;

// lower/nests

/// More guards than this side by side are not looked at.
pub(crate) const MOST_GUARDS: usize = 64;

/// Through how many loops, one in the other, ranges are followed.
pub(crate) const MOST_NESTED_GUARDS: u32 = 6;

// lower/regions

/// The most nodes of a coordinate that an error shows: about a line of text. By reasoning.
pub(crate) const SHOWN_NODES: usize = 24;

/// The depth of minima, maxima, choices and offsets to which ends of iterations are searched for constants.
pub(crate) const MOST_CLAMP_CHOICES: u32 = 32;

/// The most rounds of putting definitions in place of bounds for a proof.
pub(crate) const NESTED_ROUNDS: usize = 4;

/// Coordinates with more nodes than this count as decided.
pub(crate) const MOST_NESTED_NODES: usize = 100;

/// The most different elements of a Func that a stage computed with it reads. Reason: a stencil of 3 dimensions of
/// radius 3 has 343; each is a question of a millisecond at most.
pub(crate) const MOST_READS_TOGETHER: usize = 1000;

/// More conditions than this are not looked at.
pub(crate) const MOST_CONSTRAINTS: usize = 8;

/// The most rounds until the regions of inputs stay as they are.
pub(crate) const QUERY_ROUNDS: usize = 64;

/// The most rounds of putting definitions in place of bounds to find that an extent is a constant.
pub(crate) const REGION_ROUNDS: usize = 4;

/// The most nodes of an expanded extent: ends of what many stages read are unions of many, which grow with every round.
pub(crate) const MOST_REGION_NODES: usize = 120;

/// No piece is longer than this: it would be no piece but the whole region.
pub(crate) const LONGEST_TAIL: i64 = 1 << 16;

/// The most rounds in which lengths are rounded up by one tail after another: factors that disagree by more have no
/// common multiple worth computing.
pub(crate) const TAIL_ROUNDS: usize = 4;

/// No loop starts earlier than this: a window of so many iterations is no window.
pub(crate) const MOST_ITERATIONS: i64 = 4096;

/// The most rounds for which an update that reads its own Func is followed.
pub(crate) const VALUE_ROUNDS: usize = 4;

/// A symbolic end is kept if it has no more nodes than this.
pub(crate) const MOST_VALUE_NODES: usize = 24;

// lower/storage

/// The most bytes of a realization that gets constant extents if the bounds are close.
pub(crate) const SMALL_BYTES: i64 = 128 << 10;

/// The most bytes of a realization that gets them if the bounds are not close.
pub(crate) const TINY_BYTES: i64 = 8 << 10;

/// No constant beyond this is of use: it fits no stack and no kernel.
pub(crate) const MOST_BOUNDED_ELEMENTS: i64 = 1 << 24;

/// Rows are padded to this many bytes.
pub(crate) const ALIGNED_LINE_BYTES: i64 = 64;

/// Rows are kept from lying a multiple of this many bytes apart.
pub(crate) const PAGE_BYTES: i64 = 4096;

/// More bytes than any machine has: an allocation beyond is a fault, and sizes below cannot overflow.
pub(crate) const MOST_ALLOCATION_BYTES: i64 = 1 << 47;

/// No extent is larger: coordinates are 32 bits wide, and rounding up adds less than as much again.
pub(crate) const MOST_ALLOCATION_EXTENT: i64 = 1 << 33;

/// Storage of up to this many bytes could be held by registers: 32 of 512 bits, as the widest machines have.
pub(crate) const REGISTER_BYTES: i64 = 2 << 10;

/// Allocations of up to this many bytes may live on the stack.
pub(crate) const STACK_BYTES: u64 = 8 << 10;

/// The most effects of different conditions of a loop that ends early, each of which is asked for before each
/// iteration: as many vectors as a block that is written out may have. By reasoning.
pub(crate) const MOST_SETTLED: usize = 16;

/// The most nodes of the condition of a loop, which is evaluated once more for each iteration. By reasoning.
pub(crate) const MOST_SETTLED_NODES: usize = 512;

/// Bytes of what a loop keeps in registers that it accumulates: 28 of the 32 registers of the widest machines, so that
/// operands are left some. A layer of ResNet-50 in tiles of 28 vectors took 2.2 times as long with 16. What a machine
/// with fewer has no room for is memory of a function again.
pub(crate) const PROMOTED_BYTES: u64 = 7 << 8;

/// Places of one buffer that a loop keeps in registers: each two of them are told apart. More than twice the registers
/// of the widest machines.
pub(crate) const MOST_PROMOTED_PLACES: usize = 64;

/// The most levels of names that are expanded in coordinates of storage that registers could hold.
pub(crate) const MOST_ELEMENT_NAMES: u32 = 8;

/// The longest window that is stored circularly. A longer one is no window but the range of coordinates themselves, and
/// storage for it would be larger than storage for what is there.
pub(crate) const LONGEST_FOLD: i64 = 1 << 20;

/// A bound of an extent that is never less than this says no more than that coordinates are 32 bits wide.
pub(crate) const MOST_HOISTED_EXTENT: i64 = 1 << 31;

/// Allocations that never have more bytes than this end where they end.
pub(crate) const KEPT_BYTES: u64 = 32 << 10;

// lower/vectors

/// Operations nested deeper than this are left as they are.
pub(crate) const MOST_INDEX_DEPTH: u32 = 24;

/// Sums of more terms are left as they are.
pub(crate) const MOST_INDEX_TERMS: usize = 64;

/// Operations nested deeper than this are left as they are.
pub(crate) const MOST_NARROW_DEPTH: u32 = 48;

/// Strides of up to this many elements are made dense by loads of all that lies between: beyond, most of it would be
/// thrown away, and columns are put together from rows.
pub(crate) const MOST_STRIDE: i64 = 4;

/// The most steps that become one.
pub(crate) const MOST_JOINED: usize = 16;

/// The most lanes that one vector gets; longer loops become loops over vectors of a divisor.
pub(crate) const MOST_VECTOR_LANES: i64 = 256;

/// The most lanes that change one element and become copies.
pub(crate) const MOST_LANE_COPIES: i64 = 16;

/// The most lanes that those have.
pub(crate) const CHUNK_LANES: i64 = 64;

// plan

/// More systems than this are not decided for one question.
pub(crate) const MOST_SYSTEMS: usize = 4000;

/// More conditions than this are not looked at.
pub(crate) const MOST_CONDITIONS: usize = 600;

/// A prefetch is at most so many iterations ahead, so that its addresses can be counted in 64 bits.
pub(crate) const MOST_AHEAD: i64 = 1 << 16;

/// The largest factor of a skew, so that wavefronts can be counted in 64 bits.
pub(crate) const MOST_SKEW: i64 = 1 << 16;

/// The largest number of lanes or copies: more is surely not meant, and would take for ever to compile.
pub(crate) const MOST_FACTOR: i64 = 4096;

/// The most copies in all; more are surely not meant.
pub(crate) const MOST_LEVEL_COPIES: usize = 1000;

/// Steps and terms beyond this many are not what anybody writes down as one operation.
pub(crate) const MOST_LAW_NODES: usize = 2000;

/// The number of draws that try to refute a law.
pub(crate) const LAW_DRAWS: u64 = 300;

// schedule

/// The most levels that an expression may nest.
pub(crate) const CONDITION_DEPTH: usize = 64;

/// The most levels of parentheses and signs in a number of a schedule's text.
pub(crate) const NUMBER_TEXT_DEPTH: usize = 64;

/// The most levels that parentheses may nest.
pub(crate) const CONDITION_TEXT_DEPTH: usize = 256;

/// The most operators of a condition, which code that walks it nests by.
pub(crate) const MOST_CONDITION_OPERATORS: usize = 256;

/// The most wrappers, clones and parts of reductions in the name of a Func in text.
pub(crate) const MOST_WRAPPERS: usize = 64;

/// The most specialisations in each other that text opens.
pub(crate) const MOST_SPECIALIZATIONS: usize = 64;

/// The most dimensions that are read without brackets: as many as Funcs have.
pub(crate) const MOST_TILED: usize = 8;

/// The iterations of a loop that are counted where their costs differ, about, by how many such loops nest in each
/// other: a change among a million iterations is found in four times twenty.
pub(crate) const NEST_SAMPLES: [i64; 4] = [256, 128, 64, 32];

/// The iterations of such a loop up to which every one is counted: conditions on remainders hold in a few only.
pub(crate) const NEST_WHOLE: [i64; 4] = [1024, 64, 32, 8];

/// The iterations of all loops that are counted, about. One costs a few microseconds, and a question about a nest is to
/// take a second at most.
pub(crate) const NEST_STEPS: i64 = 200_000;

/// The iterations after which a loop is taken to end whose condition reads what it stores, where a price is asked: a
/// guess, since only data tell. Newton's method ends after a few, escape times and sequences after tens to hundreds.
pub const SETTLED_ITERATIONS: i64 = 64;

/// Operations of a meaning whose operands change places in the search for mappings: each doubles the ways to look at.
pub(crate) const MOST_SWAPS: u32 = 6;

/// The most assignments of axes to variables that the search for mappings tries: nets have tens of them.
pub(crate) const MOST_ASSIGNMENTS: usize = 5_000;

/// The most operations that the meaning of an instruction has, written out whole. A match tries both orders of operands
/// that may change places, which takes time with the square of it.
pub(crate) const MOST_MEANING: u64 = 512;

/// The steps of an exact count of a nest, about: one takes a microsecond or a few, and a question about a nest seconds
/// at most.
pub(crate) const EXACT_STEPS: u64 = 1_000_000;
