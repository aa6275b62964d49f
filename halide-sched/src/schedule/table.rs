//! The table of directives: one row for each word.
//!
//! Everything that names directives follows from here: the enum [`Verb`](super::Verb), the methods of the builder, the
//! parser, the printer, the suggestions for misspelt words, `docs/directives.md` and the random schedules of any rows.
//!
//! ```text
//! SCOPE [field: TYPE] VARIANT { argument: KIND, .. } {     a variant of `Verb`; its word sets the field in brackets
//!     /// Documentation of the directive.
//!     "word" [field: VALUE] as "Halide's name" {           the word of the variant with this value
//!         method;                                          a method of the builder with the arguments as they are
//!         /// Documentation, of methods after the first.
//!         method(argument: KIND, ..) => [VERB];            a method with others
//!     }
//! }
//! ```
//!
//! Kinds of arguments are in [`arguments`](super::arguments). A variant in parentheses has one field without a name.
//! `reads (argument: KIND => VERBS)` after a word says that its text is read in another way.

/// Calls the macro `$then` with the rows of the table.
macro_rules! with_directives {
    ($then:ident) => {
        $then! {
            Stage Split { var: Loop, outer: NewLoop, inner: NewLoop, factor: Amount, tail: Tail } {
                /// Replaces loop `var` by `outer` and `inner`: chunks of `factor` iterations.
                "split" as "split" {
                    split(var: Loop, outer: NewLoop, inner: NewLoop, factor: Amount) =>
                        [Verb::Split { var, outer, inner, factor, tail: Tail::Auto }];
                    /// As `split`, and says what happens where the factor does not divide the extent.
                    split_tail;
                }
            }
            Stage Fuse { inner: Loop, outer: Loop, fused: NewLoop } {
                /// Replaces two loops by one over all pairs, `inner` running fastest.
                "fuse" as "fuse" { fuse; }
            }
            Stage Skew { var: Loop, by: Integer, along: Loop, skewed: NewLoop } {
                /// Replaces loop `var` by `skewed`, which runs over the sums of `var` and `by` times loop `along`: a
                /// value of it is a wavefront, a line of points of which `along` tells which one. Loop `along` stays.
                /// With the skewed loop outside of it, what depends on points of earlier wavefronts only may run at
                /// once.
                "skew" as "" { skew; }
            }
            Stage Rename { from: Loop, to: NewLoop } {
                /// Gives a loop another name.
                "rename" as "rename" { rename; }
            }
            Stage Reorder(vars: Loops) {
                /// Puts loops in this order, innermost first, in the places that they have now.
                "reorder" as "reorder" { reorder; }
            }
            Stage [kind: LoopKind] Mark { var: Loop, factor: Factor, tail: Tail } {
                /// Runs a loop's iterations one after the other, in chunks of `factor` if one is given; the loop over
                /// chunks keeps the name.
                "serial" [kind: LoopKind::Serial] as "serial" {
                    serial(var: Loop) => [mark(LoopKind::Serial, var)];
                }
                /// Runs a loop's iterations, or chunks of `factor` of them, on several threads; the loop over chunks
                /// keeps the name.
                "parallel" [kind: LoopKind::Parallel] as "parallel" {
                    parallel(var: Loop) => [mark(LoopKind::Parallel, var)];
                    /// Runs chunks of `factor` iterations on several threads: `parallel(var, factor)` in text.
                    parallel_chunks(var: Loop, factor: Amount) =>
                        [mark_part(LoopKind::Parallel, var, factor, Tail::Auto)];
                    /// Does as `parallel_chunks`, with a strategy for a factor that does not divide the extent.
                    parallel_tail(var: Loop, factor: Amount, tail: Tail) =>
                        [mark_part(LoopKind::Parallel, var, factor, tail)];
                }
                /// Computes chunks of `factor` iterations, or all of a loop of constant extent, as vectors; the loop
                /// over chunks keeps the name. `Amount::Natural` (`natural`) takes as many lanes as the target's
                /// registers have.
                "vectorize" [kind: LoopKind::Vectorized] as "vectorize" {
                    vectorize(var: Loop, factor: Amount) => [mark_part(LoopKind::Vectorized, var, factor, Tail::Auto)];
                    /// Does as `vectorize`, with a strategy for a factor that does not divide the extent.
                    vectorize_tail(var: Loop, factor: Amount, tail: Tail) =>
                        [mark_part(LoopKind::Vectorized, var, factor, tail)];
                    /// Computes all iterations of a loop of constant extent as one vector: `vectorize(var)` in text.
                    vectorize_all(var: Loop) => [mark(LoopKind::Vectorized, var)];
                }
                /// Writes chunks of `factor` iterations, or all of a loop of constant extent, out one after the other;
                /// the loop over chunks keeps the name.
                "unroll" [kind: LoopKind::Unrolled] as "unroll" {
                    unroll(var: Loop, factor: Amount) => [mark_part(LoopKind::Unrolled, var, factor, Tail::Auto)];
                    /// Does as `unroll`, with a strategy for a factor that does not divide the extent.
                    unroll_tail(var: Loop, factor: Amount, tail: Tail) =>
                        [mark_part(LoopKind::Unrolled, var, factor, tail)];
                    /// Writes all iterations of a loop of constant extent out: `unroll(var)` in text.
                    unroll_all(var: Loop) => [mark(LoopKind::Unrolled, var)];
                }
                /// Runs loops over the blocks of a grid on the GPU: one to three, directly in each other and around
                /// all other loops.
                "gpu_blocks" [kind: LoopKind::GpuBlocks] as "gpu_blocks"
                    reads (vars: Loops => marks(LoopKind::GpuBlocks, vars))
                {
                    gpu_blocks(vars: Loops) => marks(LoopKind::GpuBlocks, vars);
                }
                /// Runs loops over the threads of a block: one to three, inside of loops over blocks. Their extents
                /// must be constants, or, of a stage that is computed inside of another one's blocks, have constant
                /// bounds.
                "gpu_threads" [kind: LoopKind::GpuThreads] as "gpu_threads"
                    reads (vars: Loops => marks(LoopKind::GpuThreads, vars))
                {
                    gpu_threads(vars: Loops) => marks(LoopKind::GpuThreads, vars);
                }
                /// Runs a loop over threads that are lanes of one subgroup, which run in step and can read each
                /// other's registers. It is the innermost loop over threads; its extent is a power of two by which
                /// the device's subgroups can be divided. A Func that is computed outside of it, in its block, and
                /// said to be `store_in(Register)` is then held by the lanes together: each keeps the elements that
                /// it computes, and others are handed from lane to lane. Lanes need no barrier for that.
                "gpu_lanes" [kind: LoopKind::GpuLanes] as "gpu_lanes"
                    reads (vars: Loops => marks(LoopKind::GpuLanes, vars))
                {
                    gpu_lanes(var: Loops) => marks(LoopKind::GpuLanes, var);
                }
            }
            Stage GpuSingleThread {} {
                /// Runs the whole stage on the GPU, as one thread: for small or inherently serial stages between
                /// kernels, whose values then stay on the device.
                "gpu_single_thread" as "gpu_single_thread" { gpu_single_thread; }
            }
            Stage [how: Partition] Partition { var: Loop } {
                /// Cuts a loop into prologue, steady state and epilogue where that pays.
                "auto_partition" [how: Partition::Auto] as "partition" {
                    auto_partition;
                    /// Cuts a loop into prologue, steady state and epilogue, or not.
                    partition(var: Loop, how: Partition) => [Verb::Partition { var, how }];
                }
                /// Keeps a loop whole.
                "never_partition" [how: Partition::Never] as "never_partition" { never_partition; }
                /// Cuts a loop into prologue, steady state and epilogue.
                "always_partition" [how: Partition::Always] as "always_partition" { always_partition; }
            }
            Stage Use { instruction: InstructionName, axes: AxisLoops } {
                /// Computes what an instruction means in these loops, which are the innermost ones: `j=ci` is loop `ci`
                /// for axis `j`. The loops run as the instruction says, so that code generators find it. It is an
                /// error if the stage does not compute that there, or if the code does not have it.
                "use" as "" { use_; }
            }
            Func ComputeRoot {} {
                /// Computes all that is needed of the Func before its consumers.
                "compute_root" as "compute_root" { compute_root; }
            }
            Func Memoize {} {
                /// Computes the Func at the root, and keeps its values with the memory of the images that they are
                /// computed of: a later run that needs no more of them does not compute them again, until one of these
                /// images is another one or was written, or a parameter has another value.
                "memoize" as "memoize" { memoize; }
            }
            Func ComputeAt(site: Site) {
                /// Computes what is needed of the Func in each iteration of loop `var` of `stage`.
                "compute_at" as "compute_at" {
                    compute_at(stage: Stage, var: Loop) => [Verb::ComputeAt(Site::new(stage, var))];
                }
            }
            Func ComputeInline {} {
                /// Computes the Func where it is used, each time.
                "compute_inline" as "compute_inline" { compute_inline; }
            }
            Stage ComputeWith { site: Site, align: Align, each: LoopAligns } {
                /// Runs loop `var` of `stage` and all loops around it as one with the loops of the same names of this
                /// stage. In each iteration comes what `stage` does, then what this one does. Both are computed at
                /// the same place. This stage may need values of the Func of `stage` that the same iteration or an
                /// earlier one has stored, if `stage` is that Func's last.
                "compute_with" as "compute_with" {
                    compute_with(stage: Stage, var: Loop) =>
                        [Verb::ComputeWith { site: Site::new(stage, var), align: Align::NoAlign, each: Vec::new() }];
                    /// As `compute_with`, and says which iterations come together.
                    compute_with_aligned(stage: Stage, var: Loop, align: Align) =>
                        [Verb::ComputeWith { site: Site::new(stage, var), align, each: Vec::new() }];
                    /// As `compute_with`, and says which iterations come together, loop by loop; `NoAlign` for loops
                    /// not listed.
                    compute_with_each(stage: Stage, var: Loop, each: LoopAligns) =>
                        [Verb::ComputeWith { site: Site::new(stage, var), align: Align::NoAlign, each }];
                }
            }
            Func StoreRoot {} {
                /// Keeps the Func's values for the whole run.
                "store_root" as "store_root" { store_root; }
            }
            Func StoreAt(site: Site) {
                /// Keeps the Func's values for one iteration of loop `var` of `stage`.
                "store_at" as "store_at" {
                    store_at(stage: Stage, var: Loop) => [Verb::StoreAt(Site::new(stage, var))];
                }
            }
            Func HoistStorageRoot {} {
                /// Allocates the Func's memory once per run.
                "hoist_storage_root" as "hoist_storage_root" { hoist_storage_root; }
            }
            Func HoistStorage(site: Site) {
                /// Allocates the Func's memory once per iteration of loop `var` of `stage`.
                "hoist_storage" as "hoist_storage" {
                    hoist_storage(stage: Stage, var: Loop) => [Verb::HoistStorage(Site::new(stage, var))];
                }
            }
            Func RingBuffer(copies: Integer) {
                /// Keeps `copies` copies of the Func's storage, which the iterations of the loop that it is stored in
                /// take in turn: one lives on while the next one is written (`async`). The memory is allocated outside
                /// of that loop (`hoist_storage`).
                "ring_buffer" as "ring_buffer" { ring_buffer; }
            }
            Func Async {} {
                /// Computes the Func for the next iteration of the loop that it is computed in while this one runs, on
                /// another thread. The next iteration needs storage of its own for that (`ring_buffer`). At the root,
                /// computes it at the same time as the Funcs after it that do not need it.
                "async" as "async" { async_; }
            }
            Func ReorderStorage(dims: Dims) {
                /// Puts dimensions of the storage in this order, smallest stride first, in the places that they have
                /// now.
                "reorder_storage" as "reorder_storage" { reorder_storage; }
            }
            Func SplitStorage { dim: Dim, outer: NewDim, inner: NewDim, factor: Integer } {
                /// Stores a dimension in blocks of `factor` coordinates: `reorder_storage` and `align_storage` then
                /// speak of its two parts, `outer`, the number of the block, and `inner`, the place in it, which take
                /// its place in the order, `inner` with the smaller stride. Blocks begin at multiples of `factor`,
                /// whatever is stored, and there is memory for all of each. Vectors along the dimension are dense
                /// where `inner` comes first and they begin at known places of a block, as those of a loop do that
                /// is split by `factor` and starts at a multiple of it (`align_bounds`). A dimension is split once,
                /// and not folded.
                "split_storage" as "" { split_storage; }
            }
            Func AlignStorage { var: Dim, multiple: Integer } {
                /// Rounds the extent of a dimension in memory up to a multiple.
                "align_storage" as "align_storage" { align_storage; }
            }
            Func FoldStorage { var: Dim, factor: Integer, forward: Backward } {
                /// Keeps only `factor` coordinates of a dimension, in a circle; they are computed in growing order.
                "fold_storage" as "fold_storage" {
                    fold_storage(dim: Dim, factor: Integer) => [Verb::FoldStorage { var: dim, factor, forward: true }];
                    /// As `fold_storage` for coordinates computed in falling order: `fold_storage(dim, factor,
                    /// backward)` in text.
                    fold_storage_backward(dim: Dim, factor: Integer) =>
                        [Verb::FoldStorage { var: dim, factor, forward: false }];
                }
            }
            Func BoundStorage { var: Dim, extent: Integer } {
                /// Keeps room for `extent` coordinates of a dimension, whatever bounds inference finds. A run that
                /// needs more ends with a fault that says so.
                "bound_storage" as "bound_storage" { bound_storage; }
            }
            Func StoreIn(memory: Memory) {
                /// Chooses the kind of memory.
                "store_in" as "store_in" { store_in; }
            }
            Func [to_device: bool] Copy {} {
                /// Brings the Func's values to the device as soon as they are computed, instead of when a kernel
                /// first needs them.
                "copy_to_device" [to_device: true] as "copy_to_device" { copy_to_device; }
                /// Brings the Func's values to the host as soon as they are computed, instead of when host code first
                /// needs them.
                "copy_to_host" [to_device: false] as "copy_to_host" { copy_to_host; }
            }
            Func SetEstimate { var: Dim, min: Integer, extent: Integer } {
                /// Says what region of a dimension is likely to be asked for: for reports, and for runs that say no
                /// size. Nothing is compiled differently.
                "set_estimate" as "set_estimate" { set_estimate; }
            }
            Func SetEstimates(region: Estimates) {
                /// As `set_estimate` for all dimensions: first coordinate and extent of each.
                "set_estimates" as "set_estimates" { set_estimates; }
            }
            Stage Prefetch { what: FuncOrImage, at: Loop, from: Loop, offset: Offset, bound: PrefetchBound } {
                /// Asks for what iteration `from + offset` will read of `what`, a Func or an input image, to be
                /// brought into caches in each iteration of loop `at`, which is `from` or inside of it. What the
                /// iteration before asked for is not asked for again. Machine code for vectors of 128 bits has no
                /// instruction for that, and leaves it out. An `offset` beyond 65,536 either way is an error.
                "prefetch" as "prefetch" { prefetch; }
            }
            Stage StreamStores {} {
                /// Asks for values to be stored past the caches, since nothing reads them soon.
                "stream_stores" as "" { stream_stores; }
            }
            Stage StreamLoads {} {
                /// Asks for what the stage reads to be loaded past the caches, since nothing reads it again soon. No
                /// processor that there is code for has such loads of ordinary memory, so no code comes of it, and
                /// `--explain` says so.
                "stream_loads" as "stream_loads" { stream_loads; }
            }
            Stage CacheStores {} {
                /// Asks for values to be stored through the caches, also those of an output that is far larger than
                /// these and would be stored past them; the last of `stream_stores` and `cache_stores` counts. In an
                /// output with several stages, one that says so decides for all.
                "cache_stores" as "" { cache_stores; }
            }
            Stage NeverUnroll {} {
                /// Keeps the code generator from unrolling innermost loops of the stage, which it does where the number
                /// of instructions limits them: for small code, or where a measurement says so.
                "never_unroll" as "" { never_unroll; }
            }
            Stage Monoid { identity: Identities, commutes: Commutative } {
                /// Vouches that this update folds values into its elements by an associative operation that
                /// `identity`, one number per tuple element, leaves as they are: so it may be done in parts
                /// (`rfactor`), and, if it `commutes`, in any order. What random values refute is an error. In text:
                /// `monoid(0)`, `monoid([1, 0], commutative)`.
                "monoid" as "" { monoid; }
            }
            Func Bound { var: Dim, min: Amount, extent: Amount } {
                /// Promises the first coordinate and the extent of a dimension.
                "bound" as "bound" { bound; }
            }
            Func BoundExtent { var: Dim, extent: Amount } {
                /// Promises the extent of a dimension.
                "bound_extent" as "bound_extent" { bound_extent; }
            }
            Func AlignBounds { var: Dim, modulus: Integer, remainder: Remainder } {
                /// Grows the region of a dimension so that it starts at `remainder` modulo `modulus` and its extent
                /// is a multiple.
                "align_bounds" as "align_bounds" { align_bounds; }
            }
            Func AlignExtent { var: Dim, modulus: Integer } {
                /// Grows the extent of a dimension to a multiple.
                "align_extent" as "align_extent" { align_extent; }
            }
            Graph In { consumers: Funcs } {
                /// Puts a wrapper, `g.in(f)` in text, between the Func and its `consumers`. In the builder, what
                /// follows speaks of the wrapper.
                "in" as "in" {
                    in_;
                    /// Puts one wrapper between the Func and all its consumers and goes on with the wrapper: `in()`
                    /// in text.
                    in_all() => [Verb::In { consumers: Vec::new() }];
                }
            }
            Graph CloneIn { consumers: Funcs } {
                /// Makes a copy of the Func, `g.clone_in(f)` in text, for `consumers`. In the builder, what follows
                /// speaks of the copy.
                "clone_in" as "clone_in" { clone_in; }
            }
            Graph TupleStorage { dim: NewDim } {
                /// Stores the elements of a tuple beside each other in one buffer (an array of structures), along a new
                /// dimension `dim`, the first one, whose loop is unrolled: for what is read with all its elements at
                /// scattered coordinates. The Func has no updates, and elements of one type.
                "tuple_storage" as "tuple_storage" { tuple_storage; }
            }
            Graph Rfactor { rvars: LoopOrLoops, vars: NewLoopOrLoops } {
                /// Does the reduction of this update in parts. A new Func holds them, `f.rfactor(u)` in text: its pure
                /// definition is the identity of the reduction, and its update 0 reduces over the variables that are
                /// left. The variables `rvars` (of the update's loops, split, fused or renamed before) become new
                /// dimensions `vars` of it. What is left of this update puts the parts together, over loops of the
                /// names `rvars`. In text: `rfactor(r, u)`, or `rfactor([r, s], [u, v])`. In the builder, what follows
                /// speaks of the new Func. Of a scan, `f[r] = op(f[r - 1], e)`, it scans each chunk by itself; a Func
                /// `f.total(u)` has the reduction of each chunk, and a Func `f.carry(u)` that of all chunks before;
                /// `f` becomes pure.
                "rfactor" as "rfactor" { rfactor; }
            }
            Stage Specialize(condition: Condition) {
                /// Opens a variant for the case that `condition` holds, a copy of the stage as scheduled so far:
                /// `f.specialize(condition)` in text, where a subject of that name opens it, too. In the builder, what
                /// follows speaks of the variant, or of the one that was opened before for the same condition.
                /// Equalities of an output's own dimensions, such as `out.extent(0) == 4 && out.min(0) == 0`, make
                /// these constants in it.
                "specialize" as "specialize" { specialize; }
            }
            Stage SpecializeFail(message: Message) {
                /// Ends the run with `message` where no specialisation of the stage applies.
                "specialize_fail" as "specialize_fail" { specialize_fail; }
            }
            Stage Float(mode: FloatMode) {
                /// Says how the floats of the stage may be treated.
                "float" as "" { float; }
            }
            Stage AllowRaceConditions {} {
                /// Lets loops run at once whose iterations may touch the same element: which of them comes first, and
                /// whether what one stores is seen by another, is then left to chance, and the schedule vouches that
                /// no result depends on it. Whole elements are stored, so memory stays in order.
                "allow_race_conditions" as "allow_race_conditions" { allow_race_conditions; }
            }
            Stage Atomic { any_order: AnyOrder } {
                /// Reads, computes and stores an element in one step, so that loops may run at once whose iterations
                /// change the same element. The order of the iterations is then left to chance: the update must be a
                /// known associative and commutative operation (of floats: with `float(relaxed)`). On a GPU, elements
                /// have one value of at most 32 bits.
                "atomic" as "atomic" {
                    atomic() => [Verb::Atomic { any_order: false }];
                    /// As `atomic`, where the schedule vouches that the order of the iterations does not matter:
                    /// `atomic(any_order)` in text.
                    atomic_in_any_order() => [Verb::Atomic { any_order: true }];
                }
            }
        }
    };
}

/// Calls the macro `$then` with the rows of the words that stand for other directives, as which they are printed.
macro_rules! with_spellings {
    ($then:ident) => {
        $then! {
            /// Splits each of `vars` (innermost first) by its factor and runs all inner loops inside all outer ones.
            Stage "tile" as "tile" (tiling: Tiling) => tiling.verbs();
            /// Tiles by `factors`, and runs tiles as blocks and the points of a tile as threads.
            Stage "gpu_tile" as "gpu_tile" (tiling: Tiling) => tiling.gpu_verbs();
            /// Computes the Func where it is used, each time: what is inlined is so before anything else is done.
            Func "eager_inline" as "eager_inline" () => vec![Verb::ComputeInline];
            /// Cuts a loop into prologue, steady state and epilogue, or not.
            Stage "partition" as "partition" (var: Loop, how: Partition) => vec![Verb::Partition { var, how }];
        }
    };
}

pub(super) use {with_directives, with_spellings};
