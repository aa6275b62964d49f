//! Why loops over blocks and threads cannot be a kernel.

use std::fmt;

/// What is wrong with a kernel.
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
        /// Whose storage.
        func: String,
        /// Whether the threads of a block share it; else each has its own.
        shared: bool,
    },
    /// Storage in the device's memory whose size differs from block to block.
    GlobalSize {
        /// Whose storage.
        func: String,
    },
    /// Storage that a schedule wants in registers or on the stack, and that the threads of a block share.
    NotPrivate {
        /// Whose storage.
        func: String,
    },
    /// The memory that threads of a block share is too small.
    SharedMemory {
        /// How many bytes the block needs.
        bytes: u64,
        /// How many there may be.
        most: u64,
        /// Whose storage, and how many bytes each takes.
        funcs: Vec<(String, u64)>,
    },
    /// An output begins with what the caller's buffer holds.
    Kept {
        /// Which output.
        func: String,
    },
    /// Something is printed.
    Prints,
    /// A check that needs values which only the kernel has.
    Check {
        /// What is checked.
        what: String,
    },
}

impl fmt::Display for KernelProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (reason, hint) = self.texts();
        write!(f, "{reason}\n  hint: {hint}")
    }
}

impl KernelProblem {
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
            KernelProblem::Check { what } => (
                format!("a check that needs values of the kernel cannot stop the run: {what}"),
                "use constants where the schedule promises something inside of the kernel".to_string(),
            ),
        }
    }
}
