//! Diagnostics of wrappers, clones and reductions in parts.

/// Adds these diagnostics to those in `$before`, and goes on with the next table.
macro_rules! graph {
    ({ $($before:tt)* } $next:ident $($rest:ident)*) => { $next! { { $($before)*
        WrapsItself { func: String } => format!("`{func}` cannot be wrapped for itself");
        CopyOfKept { func: String } =>
            format!("`{func}` begins with what its output holds (`undef`), which a copy has not");
        NotACaller { func: String, consumer: String } => format!("`{consumer}` does not call `{func}`");
        NoCaller { func: String } => format!("no Func calls `{func}`");
        WrappedTwice { func: String, consumer: String } =>
            format!("the calls of `{func}` from `{consumer}` go to another wrapper already");
        TooManyCopies { func: String, most: usize } =>
            format!("`{func}` has updates and is left inline; that would make more than {most} copies in all"),
            help format!("say `{func}: compute_root()`, or give it a compute_at(...)");
        RfactorOfPure { func: String } =>
            format!("`{func}` has no reduction here that could be done in parts"),
            help "say it of an update over a reduction domain";
        WholeStage { of: String } =>
            format!("`{of}` is a specialisation, and this is said of the stage as a whole"),
            help "say it of the stage";
        RfactorLists { rvars: usize, vars: usize } =>
            {
                let needs = "this needs a new variable for each reduction variable, at least one";
                format!("{needs}; there are {vars} for {rvars}")
            };
        NotReduction { of: String, name: String, loops: Vec<String>, near: Option<String> } =>
            {
                let what = "has no reduction variable";
                format!("`{of}` {what} `{name}` here; its reduction variables, outermost first: {}", names(loops))
            },
            help did_you_mean(near);
        RfactorAll { of: String } =>
            format!("no reduction variable of `{of}` would be left, so the parts would reduce nothing"),
            help "split one of them and factor out a part of it";
        NotAssociative { of: String } =>
            format!("the update of `{of}` is not known to be an associative operation on the old value alone");
        NotAScan { of: String, why: ScanReason } =>
            format!("`{of}` reads the element before the one that it stores to, and {}", why.text()),
            help why.help();
        ScanIsPure { of: String, func: String } =>
            format!("`{of}` is left no more: `rfactor` did its scan in parts, and `{func}` is pure now"),
            help format!("say it of `{func}`, or of the Funcs of the parts");
        SaidBeforeRfactor { verb: String } =>
            format!("`{verb}` is said before this of a reduction variable, whose loop goes to another Func now"),
            help "before rfactor, only split, fuse neighbours and rename them; say the rest after it";
        FactorBeforeRfactor { name: String } =>
            format!("a split by parameter `{name}` is said before this, and the parts must be of constant size");
        FuncTaken { name: String } =>
            format!("there is a Func `{name}` already"),
            help "choose other new variables";
    } $($rest)* } };
}

pub(super) use graph;
