//! Diagnostics of loops and storage on a GPU.

/// Adds these diagnostics to those in `$before`, and goes on with the next table.
macro_rules! gpu {
    ({ $($before:tt)* } $next:ident $($rest:ident)*) => { $next! { { $($before)*
        NoGpu { more: usize } =>
            {
                let all = match more {
                    0 => "this is".to_string(),
                    1 => "this and one more directive are".to_string(),
                    _ => format!("this and {more} more directives are"),
                };
                format!("{all} for a GPU, and the target has none")
            },
            help "open a device with Gpu::open and compile with Compiler::gpu, which feature `gpu` of `halide` brings";
        ThreadsOutsideBlocks { var: String } =>
            format!("`{var}` runs over threads, and no loop over blocks is around it"),
            help "give an outer loop to gpu_blocks";
        ThreadsInThreads { of: String, outer: String, inner: String } =>
            format!("`{inner}` runs over threads, and `{of}` is computed inside of `{outer}`, which does too"),
            help "compute it at the loop over blocks, or leave its loops serial";
        KernelInKernel { outer: String, inner: String } =>
            format!("`{inner}` runs over blocks inside of `{outer}`, and a kernel cannot start another");
        ParallelInKernel { outer: String, inner: String } =>
            format!("`{inner}` is parallel inside of `{outer}`, which runs on the GPU"),
            help "use gpu_threads, or leave it serial";
        LoopBetweenBlocks { between: String, inner: String } =>
            format!("`{between}` stands between loops over blocks, of which `{inner}` is the inner one"),
            help "reorder the loops over blocks next to each other";
        BetweenBlocks { outer: String, inner: String } =>
            format!("`{outer}` runs over blocks and so does `{inner}` inside of it; nothing can stand between them"),
            help format!("place it at `{inner}`");
        TooManyGpuLoops { kind: LoopKind, most: usize } =>
            match kind {
                LoopKind::GpuBlocks => format!("a kernel has at most {most} loops over blocks"),
                _ => format!("a block has at most {most} loops over threads"),
            },
            help "fuse two of them, or leave one serial";
        KernelInParallel { outer: String, inner: String } =>
            format!("`{inner}` runs over blocks inside of parallel `{outer}`; a kernel is started by one thread"),
            help format!("leave `{outer}` serial, or make it another loop over blocks: a kernel is parallel already");
        MoreThanOneThread { of: String, var: String } =>
            format!("`{var}` of `{of}` runs at once, where gpu_single_thread makes a kernel of one thread"),
            help "leave it serial, or use gpu_blocks and gpu_threads alone";
        SharedOutsideBlocks { func: String } =>
            format!("`{func}` is not computed inside of a loop over blocks, so no threads could share it"),
            help "compute it at a loop over blocks of a consumer";
        SharedInThreads { func: String, var: String } =>
            format!("`{func}` is computed inside of `{var}`, which runs over threads, so each has its own"),
            help "compute it at the loop over blocks, or leave store_in out";
        HeapInKernel { func: String, var: String } =>
            format!("`{func}` is computed inside of `{var}`, which runs over blocks, where there is no heap"),
            help "use store_in(Global), which is the device's memory";
        CopyInKernel { func: String, var: String } =>
            format!("`{func}` is computed inside of `{var}`, which runs over blocks, so the host never has it"),
            help "leave the copy out, or compute it at the root";
        NoSubgroups { var: String } =>
            {
                let lacks = "the target's GPU has no subgroups of one known size";
                format!("`{var}` runs over lanes of a subgroup, and {lacks} (feature `subgroups`)")
            },
            help "use gpu_threads, and store_in(Shared) for what threads exchange";
        LaneExtent { var: String, extent: i64, lanes: u32 } =>
            {
                let parts = format!("a subgroup of {lanes} lanes cannot be divided into such parts");
                format!("`{var}` has {extent} iterations, and {parts}")
            },
            help format!("split by {lanes}, or by a power of two that is less");
        TwiceLanes { outer: String, inner: String } =>
            format!("`{inner}` runs over lanes of a subgroup inside of `{outer}`, which does too"),
            help "give the innermost loop over threads to gpu_lanes, and the others to gpu_threads";
        ThreadsInLanes { outer: String, inner: String } =>
            format!("`{inner}` runs over threads inside of `{outer}`, whose iterations are lanes of a subgroup"),
            help "give the innermost loop over threads to gpu_lanes, and the others to gpu_threads";
        TooManyThreads { var: String, threads: i64, most: i64 } =>
            format!("`{var}` has {threads} threads, where the target allows {most} in this dimension"),
            help "split by smaller factors";
        TooManyThreadsInAll { of: String, threads: i64, most: i64 } =>
            format!("a block of `{of}` has {threads} threads in all, where the target allows {most}"),
            help "split by smaller factors";
        AtomicOnGpu { of: String, var: String, why: StepReason } =>
            {
                let why = why.text();
                let same = format!("iterations of `{var}` may change the same element of `{of}`");
                format!("{same}, which a GPU cannot do in one step: {why}")
            },
            help "do it in parts with rfactor";
    } $($rest)* } };
}

pub(super) use gpu;
