//! The reasons that loops over blocks and threads cannot be a kernel.

use std::fmt;

/// A reason that loops over blocks and threads cannot be a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KernelProblem {
    /// The number of threads has no constant bound.
    ThreadExtent {
        /// The loop over threads.
        var: String,
    },
    /// The number of blocks depends on the block, and has no bound that does not.
    BlockExtent {
        /// The loop over blocks.
        var: String,
    },
    /// A loop over blocks that is not directly in the others.
    BlocksInside {
        /// The loop over blocks.
        var: String,
    },
    /// The stages in a block need more threads together than a block may have.
    TooManyThreads {
        /// Threads needed per dimension.
        threads: [u64; 3],
        /// The most there may be per dimension.
        most: [u32; 3],
        /// The most there may be in all.
        in_all: u32,
    },
    /// More loops over threads in each other than a block has dimensions.
    TooManyThreadLoops {
        /// The innermost.
        var: String,
    },
    /// A loop inside of a loop over threads has another one inside, and a range that depends on the thread.
    LoopBetweenThreads {
        /// The loop between.
        var: String,
    },
    /// A value that threads read before they part is stored between the loops over them.
    ValueBetweenThreads {
        /// The Func whose value it is.
        func: String,
    },
    /// Storage in a kernel without a constant bound of its size.
    NoConstantSize {
        /// The Func whose storage it is.
        func: String,
        /// True if the threads of a block share it; else each has its own.
        shared: bool,
    },
    /// Storage in the device's memory whose size differs from block to block.
    GlobalSize {
        /// The Func whose storage it is.
        func: String,
    },
    /// Storage that a schedule wants in registers or on the stack, and that the threads of a block share.
    NotPrivate {
        /// The Func whose storage it is.
        func: String,
    },
    /// Loops over lanes of a kernel have different extents.
    DifferentLanes {
        /// One of the loops.
        var: String,
        /// The number of its lanes.
        lanes: u64,
        /// The number of lanes of another one.
        others: u64,
    },
    /// A stage in a block has more threads along the dimension of lanes than there are lanes.
    MoreThreadsThanLanes {
        /// The number of threads.
        threads: u64,
        /// The number of lanes.
        lanes: u64,
    },
    /// Loops over threads that are not lanes are inside of a loop over lanes.
    LanesNotInnermost {
        /// The loop over lanes.
        var: String,
    },
    /// An element of storage that lanes shall hold is computed by an unknown lane, or maybe by another lane than its
    /// holder.
    NotOfLanes {
        /// The Func whose storage it is.
        func: String,
    },
    /// Lanes shall hold what several rows of a block use.
    LanesOfRows {
        /// The Func whose storage it is.
        func: String,
    },
    /// A lane would hold too many elements.
    TooMuchForLanes {
        /// The Func whose storage it is.
        func: String,
        /// The number of elements that each lane would hold.
        each: u64,
        /// The most it may hold.
        most: u64,
    },
    /// Storage that lanes hold is needed in a loop or step that differs from lane to lane.
    LanesApart {
        /// The Func whose storage it is.
        func: String,
    },
    /// The memory that threads of a block share is too small.
    SharedMemory {
        /// The number of bytes that the block needs.
        bytes: u64,
        /// The most bytes that there may be.
        most: u64,
        /// The Funcs whose storage it is, and the number of bytes that each takes.
        funcs: Vec<(String, u64)>,
    },
    /// An output begins with what the caller's buffer holds.
    Kept {
        /// The output.
        func: String,
    },
    /// Something is printed.
    Prints,
    /// A closure is called.
    Calls {
        /// The extern stage.
        stage: String,
    },
    /// A check that needs values which only the kernel has.
    Check {
        /// The message of the check.
        what: String,
    },
}

impl fmt::Display for KernelProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (reason, hint) = self.texts();
        write!(f, "{reason}\n  help: {hint}")
    }
}

impl KernelProblem {
    /// The Func whose storage or value is at fault, if it is that of one.
    pub fn func(&self) -> Option<&str> {
        match self {
            KernelProblem::ValueBetweenThreads { func }
            | KernelProblem::NoConstantSize { func, .. }
            | KernelProblem::GlobalSize { func }
            | KernelProblem::NotPrivate { func }
            | KernelProblem::NotOfLanes { func }
            | KernelProblem::LanesOfRows { func }
            | KernelProblem::TooMuchForLanes { func, .. }
            | KernelProblem::LanesApart { func }
            | KernelProblem::Kept { func } => Some(func),
            // The one that takes the most.
            KernelProblem::SharedMemory { funcs, .. } => {
                funcs.iter().max_by_key(|(_, bytes)| *bytes).map(|(func, _)| func.as_str())
            }
            KernelProblem::ThreadExtent { .. }
            | KernelProblem::BlockExtent { .. }
            | KernelProblem::BlocksInside { .. }
            | KernelProblem::TooManyThreads { .. }
            | KernelProblem::TooManyThreadLoops { .. }
            | KernelProblem::LoopBetweenThreads { .. }
            | KernelProblem::DifferentLanes { .. }
            | KernelProblem::MoreThreadsThanLanes { .. }
            | KernelProblem::LanesNotInnermost { .. }
            | KernelProblem::Prints
            | KernelProblem::Calls { .. }
            | KernelProblem::Check { .. } => None,
        }
    }

    fn texts(&self) -> (String, String) {
        match self {
            KernelProblem::ThreadExtent { var } => (
                format!("the number of threads of `{var}` has no constant bound"),
                "split the loop by a constant and run the inner part on threads, or bound its extent".to_string(),
            ),
            KernelProblem::BlockExtent { var } => (
                format!("the number of blocks of `{var}` depends on other blocks in a way that has no bound"),
                "run this loop serially, or on threads".to_string(),
            ),
            KernelProblem::BlocksInside { var } => (
                format!("the loop over blocks `{var}` is inside a kernel, and not directly in its other loops over blocks"),
                "run this loop serially, or on threads".to_string(),
            ),
            KernelProblem::TooManyThreads { threads: [x, y, z], most: [a, b, c], in_all } => (
                format!(
                    "the stages in a block need {x} x {y} x {z} threads together, and a block may have {a} x {b} x {c}, \
                     {in_all} in all"
                ),
                "give the stages of a block loops over threads of like extents, or smaller ones".to_string(),
            ),
            KernelProblem::TooManyThreadLoops { var } => (
                format!("`{var}` is inside of three other loops over threads, and a block has three dimensions"),
                "run one of the loops serially".to_string(),
            ),
            KernelProblem::LoopBetweenThreads { var } => (
                format!("the loop `{var}` stands between loops over threads, and its range depends on the thread"),
                "move the loops over threads next to each other with `reorder`, or compute what it holds at another level"
                    .to_string(),
            ),
            KernelProblem::ValueBetweenThreads { func } => (
                format!("threads read `{func}` before the loops over them part, and it is stored between these"),
                format!("compute `{func}` outside of the loops over threads, or inside of all of them"),
            ),
            KernelProblem::NoConstantSize { func, shared } => {
                let whose = if *shared { "the threads of a block share" } else { "each thread holds" };
                (
                    format!("the size of `{func}`, which {whose}, has no constant bound"),
                    format!(
                        "split the loops of its consumers by constants, or keep it in the device's memory with `{func}: \
                         store_in(Global)`"
                    ),
                )
            }
            KernelProblem::GlobalSize { func } => (
                format!("the size of `{func}` differs from block to block, and has no constant bound"),
                "split the loops of its consumers by constants, or compute it at the root".to_string(),
            ),
            KernelProblem::NotPrivate { func } => (
                format!("the threads of a block share `{func}`, which registers and stacks cannot be"),
                format!("compute `{func}` inside of the loops over threads, or leave `store_in` out"),
            ),
            KernelProblem::DifferentLanes { var, lanes, others } => (
                format!("`{var}` runs over {lanes} lanes of a subgroup, and another loop of the kernel over {others}"),
                "give all loops over lanes of a kernel the same extent".to_string(),
            ),
            KernelProblem::MoreThreadsThanLanes { threads, lanes } => (
                format!("a stage in a block has {threads} threads in the dimension of which {lanes} lanes are a subgroup"),
                "give its innermost loop over threads to gpu_lanes, split by as many".to_string(),
            ),
            KernelProblem::LanesNotInnermost { var } => (
                format!("the lanes of `{var}` are not the innermost threads of the block"),
                "give the innermost loop over threads to gpu_lanes, in all stages of the block".to_string(),
            ),
            KernelProblem::NotOfLanes { func } => (
                format!("which lane of a subgroup computes an element of `{func}` is not known, so they cannot hold it"),
                format!(
                    "split a loop of `{func}` by the number of lanes, give the inner part to gpu_lanes and let nothing but \
                     what one lane does be inside of it; or use `store_in(Shared)`"
                ),
            ),
            KernelProblem::LanesOfRows { func } => (
                format!("lanes of one subgroup would hold `{func}`, and those of others need it too"),
                format!("compute `{func}` inside of the other loops over threads, or use `store_in(Shared)`"),
            ),
            KernelProblem::TooMuchForLanes { func, each, most } => (
                format!("each lane would hold {each} elements of `{func}`, and it may hold {most}"),
                "compute smaller tiles, or use `store_in(Shared)`".to_string(),
            ),
            KernelProblem::LanesApart { func } => (
                format!("lanes hold `{func}`, and it is needed in a loop or an atomic step that differs from lane to lane"),
                "make the loop's range the same for all lanes, or use `store_in(Shared)`".to_string(),
            ),
            KernelProblem::SharedMemory { bytes, most, funcs } => {
                let list: Vec<String> = funcs.iter().map(|(name, bytes)| format!("`{name}` {bytes}")).collect();
                (
                    format!(
                        "the threads of a block share {bytes} bytes, and there are {most}: {} (elements of less than 4 \
                         bytes take 4)",
                        list.join(", ")
                    ),
                    "compute smaller tiles in a block, or keep one of these in the device's memory with \
                     `store_in(Global)`"
                        .to_string(),
                )
            }
            KernelProblem::Kept { func } => (
                format!("a kernel writes `{func}`, whose first definition leaves what the caller's buffer holds (`undef`)"),
                format!("define all of `{func}`, or compute it outside of kernels"),
            ),
            KernelProblem::Prints => (
                "a kernel cannot print".to_string(),
                "compute what prints outside of kernels, or leave `print` out".to_string(),
            ),
            KernelProblem::Calls { stage } => (
                format!("a kernel cannot call the closure of the extern stage `{stage}`"),
                "compute the stage at the root or at a loop of the host".to_string(),
            ),
            KernelProblem::Check { what } => (
                format!("a check that needs values of the kernel cannot stop the run: {what}"),
                "use constants where the schedule promises something inside of the kernel".to_string(),
            ),
        }
    }
}
