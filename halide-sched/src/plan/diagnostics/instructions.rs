//! Diagnostics of instructions that a stage uses.

/// Adds these diagnostics to those in `$before`, and goes on with the next table.
macro_rules! instructions {
    ({ $($before:tt)* } $next:ident $($rest:ident)*) => { $next! { { $($before)*
        UnknownInstruction { name: String, known: Vec<String>, others: usize, near: Option<String> } =>
            match others {
                0 => format!("there is no instruction `{name}`; there are {}", names(known)),
                _ => format!("there is no instruction `{name}`; there are {}, and {others} others", names(known)),
            },
            help did_you_mean(near);
        UnknownInstructionAxis { instruction: String, axis: String, axes: Vec<String> } =>
            format!("instruction `{instruction}` has no axis `{axis}`; it has {}", names(axes));
        InstructionAxis { instruction: String, axis: String, count: usize } =>
            match count {
                0 => format!("axis `{axis}` of instruction `{instruction}` has no loop"),
                _ => format!("axis `{axis}` of instruction `{instruction}` has {count} loops"),
            },
            help format!("give it one loop, as in `{axis}=xi`");
        InstructionLoopTwice { instruction: String, axis: String, var: String } =>
            format!("loop `{var}` stands for axis `{axis}` of instruction `{instruction}` and for another one"),
            help "split it, or choose another loop";
        InstructionOnGpu { of: String, instruction: String } =>
            format!("`{of}` runs on a GPU, which has no instruction `{instruction}`"),
            help "leave `use` out";
        InstructionFloat { of: String, instruction: String, needs: FloatMode, has: FloatMode } =>
            {
                let (needs, has) = (needs.word(), has.word());
                format!("instruction `{instruction}` treats floats as `{needs}` allows it, and `{of}` is `{has}`")
            },
            help format!("say float({}) if that may be", needs.word());
        InstructionLoops { instruction: String, loops: Vec<String>, inner: Vec<String> } =>
            {
                let (loops, inner) = (names(loops), names(inner));
                format!("the loops of instruction `{instruction}`, {loops}, are not the innermost ones, {inner}")
            },
            help "move them inside with reorder";
        InstructionPredicate { of: String, instruction: String } =>
            format!("the domain of `{of}` has a condition, which would stand inside of instruction `{instruction}`");
        InstructionExtent { instruction: String, axis: String, var: String, needs: Extents, extent: Option<i64> } =>
            {
                let extent = extent.map_or("is not a constant".to_string(), |extent| format!("is {extent}"));
                let needs = format!("axis `{axis}` of instruction `{instruction}` needs {needs}");
                format!("the extent of loop `{var}` {extent}, and {needs}")
            },
            help "split the loop by such a factor";
        InstructionKind { instruction: String, var: String, runs: LoopKind, kind: LoopKind } =>
            {
                let (runs, kind) = (done(*runs), done(*kind));
                format!("loop `{var}` is {kind}, and instruction `{instruction}` needs it to be {runs}")
            },
            help "say nothing of the loop behind `use`";
        InstructionGuard { instruction: String, var: String, of: String } =>
            {
                let guard = format!("a guard against iterations beyond the end of `{of}`");
                format!("loop `{var}` of instruction `{instruction}` would have {guard} inside")
            },
            help format!("give `{of}` an extent that the factor divides, or another tail strategy");
        InstructionCalled { instruction: String, why: CallObstacle } =>
            format!("a closure computes instruction `{instruction}`, and {}", why.text().0),
            help why.text().1;
        InstructionFused { instruction: String, var: String } =>
            {
                let what = "counts several variables, or steps that are no constant";
                format!("loop `{var}` of instruction `{instruction}` {what}")
            },
            help "choose a loop that is split of one variable by constants";
        InstructionMeaning { instruction: String, wanted: String, found: String } =>
            format!("instruction `{instruction}` computes {wanted}, and the definition has {found}");
        InstructionAccess { instruction: String, what: String, wanted: String, found: String } =>
            format!("{what} of instruction `{instruction}` moves by {wanted}; the definition moves by {found}");
        InstructionLayout {
            instruction: String,
            operand: String,
            source: String,
            var: String,
            moved: Option<u32>,
            densest: Option<u32>
        } =>
            {
                let reads = format!("instruction `{instruction}` reads neighbours of `{operand}` in memory");
                let moved = match moved {
                    Some(dim) => format!("a step of `{var}` goes along dimension {dim}"),
                    None => format!("a step of `{var}` goes to no neighbour"),
                };
                let densest = match densest {
                    Some(dim) => format!("dimension {dim} is the one with neighbours"),
                    None => "no dimension is known to have neighbours".to_string(),
                };
                format!("{reads}; in `{source}` {moved}, and {densest}")
            },
            help format!("store `{source}` in another order, or read it through `{source}.in()` that is");
    } $($rest)* } };
}

pub(super) use instructions;
