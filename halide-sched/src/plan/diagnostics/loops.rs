//! Diagnostics of the loops of a stage.

/// Adds these diagnostics to those in `$before`, and goes on with the next table.
macro_rules! loops {
    ({ $($before:tt)* } $next:ident $($rest:ident)*) => { $next! { { $($before)*
        FuseWithItself { name: String } => format!("`{name}` cannot be fused with itself");
        SkewByItself { name: String } =>
            format!("`{name}` cannot be skewed by itself"),
            help "name another loop of the stage";
        SkewByNothing { var: String, along: String } =>
            format!("`{var}` and 0 times `{along}` is `{var}` itself"),
            help "skew by 1 or more, or by less than 0, or use rename";
        TailOfReduction { var: String, tail: Tail } =>
            format!("{tail} would run iterations of the reduction variable `{var}` twice or beyond its domain"),
            help "use GuardWithIf or Predicate, or leave the tail out";
        ShiftOfUpdate { var: String } =>
            format!("ShiftInwards computes points of `{var}` twice, and an update must not be applied twice"),
            help "use GuardWithIf or ShiftInwardsAndBlend, or leave the tail out";
        ShiftOfKept { var: String } =>
            {
                let kept = "one that keeps an old value (`undef`) may read what is new";
                format!("ShiftInwards computes points of `{var}` twice, and {kept}")
            },
            help "use GuardWithIf, or leave the tail out";
        RoundUpInside { var: String } =>
            {
                let why = "RoundUp would apply the update to points of the next chunk, which are then updated twice";
                format!("`{var}` is part of a split: {why}")
            },
            help "use GuardWithIf or RoundUpAndBlend, or leave the tail out";
        PredicateLoadsInside { var: String } =>
            format!("`{var}` is the inner part of a split, so its stores would reach into the next chunk"),
            help "use Predicate or GuardWithIf";
        SplitOfPredicated { var: String, by: String } =>
            format!("`{var}` comes from {by}, whose parts cannot be split again"),
            help "use Predicate for the first split";
        BlendBesideParallel { var: String, parallel: String, tail: Tail } =>
            format!("{tail} reads back points of `{var}` that other iterations of parallel `{parallel}` store"),
            help "use GuardWithIf, or do not run that loop in parallel";
        OrderMatters { of: String, vars: Vec<String>, why: OrderReason, conflict: Option<Box<Conflict>> } =>
            {
                let conflict = conflict.as_ref().map(|c| format!(", and two iterations would change places: {c}"));
                let (vars, why) = (names(vars), why.text());
                let order = "this changes the order of the reduction over";
                format!("{order} {vars}, but the update of `{of}` {why}{}", conflict.unwrap_or_default())
            },
            help match why {
                OrderReason::Floats => "say float(relaxed) if that may be",
                OrderReason::NotCommutative | OrderReason::InOrder => "keep the reduction variables in their order",
            };
        Race { of: String, var: String, kind: LoopKind, why: Collision, conflict: Option<Box<Conflict>> } =>
            {
                let conflict = conflict.as_ref().map(|c| format!("; {c}")).unwrap_or_default();
                let why = match why {
                    Collision::Stores => format!("two of its iterations may store to the same element of `{of}`"),
                    Collision::Loads => {
                        format!("one of its iterations may load an element of `{of}` that another one stores to")
                    }
                };
                format!("`{var}` cannot be {}: {why}{conflict}", done(*kind))
            },
            help {
                let choose = "choose a loop over a dimension that the update stores to by that variable";
                format!("{choose}; or say atomic(), or allow_race_conditions() if no result depends on it")
            };
        NotConstant { of: String, var: String, kind: LoopKind, extent: Option<i64> } =>
            {
                let extent = extent.map_or("not a constant".to_string(), |extent| extent.to_string());
                format!("loop `{var}` of `{of}` cannot be {}: its extent is {extent}", done(*kind))
            },
            help match (kind, extent) {
                (_, Some(_)) => None,
                (LoopKind::GpuThreads | LoopKind::GpuLanes, None) => {
                    let split = "split it by a constant factor first, as gpu_tile does";
                    Some(format!("{split}, or promise it with bound_extent"))
                }
                (_, None) => {
                    let word = kind_word(*kind);
                    Some(format!("split by a factor, as in `{word}({var}, 8)`, or promise it with bound_extent"))
                }
            };
        ParallelInVector { outer: String, inner: String } =>
            format!("`{inner}` is parallel inside of vectorized `{outer}`"),
            help format!("move `{outer}` inside with reorder, or do not vectorize it");
        PrefetchNotRead { of: String, what: String } => format!("`{of}` does not read `{what}`");
        PrefetchFrom { at: String, from: String } =>
            format!("`{from}` is inside of `{at}`, and must be `{at}` or a loop around it"),
            help format!("say it the other way round, `{from}` before `{at}`");
        MonoidOfPure { of: String } =>
            format!("`{of}` is no update, so it has no operation on old values"),
            help "say it of an update";
        NoMonoid { of: String, why: MonoidReason } =>
            match why {
                MonoidReason::Elements { values, given } => {
                    format!("an element of `{of}` has {values} values, and the identity {given}")
                }
                MonoidReason::Reads => {
                    let what = "reads other elements than the one that it stores, or chooses that by old values";
                    format!("the update of `{of}` {what}")
                }
                MonoidReason::Parts => {
                    let what = "does not show how two partial results are put together";
                    format!("the update of `{of}` {what}: each value needs one new part, under arithmetic alone")
                }
                MonoidReason::Refuted { law, example } => format!("the update of `{of}` {law}, for {example}"),
            };
        AtomicOfPure { of: String } =>
            format!("`{of}` is no update, so nothing is changed that could be changed in steps"),
            help "say it of an update, or leave it out";
        AtomicReads { of: String } =>
            {
                let what = "reads other elements than the one that it stores, which cannot be one step";
                format!("the update of `{of}` {what}")
            };
        AtomicOrder { of: String, var: String, why: OrderReason } =>
            {
                let why = why.text();
                format!("the iterations of `{var}` would come in any order, but the update of `{of}` {why}")
            },
            help match why {
                OrderReason::Floats => "say float(relaxed) if that may be",
                OrderReason::NotCommutative | OrderReason::InOrder => "say atomic(any_order) if that may be",
            };
    } $($rest)* } };
}

pub(super) use loops;
