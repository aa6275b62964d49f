//! Diagnostics of the places and the storage of Funcs.

/// Adds these diagnostics to those in `$before`, and goes on with the next table.
macro_rules! places {
    ({ $($before:tt)* } $next:ident $($rest:ident)*) => { $next! { { $($before)*
        NothingToSchedule { func: String } =>
            format!("`{func}` is computed inline, so it has no loops and no storage of its own"),
            help format!("give `{func}` a place with compute_root() or compute_at(...)");
        OutputLevel { func: String } =>
            format!("`{func}` is an output, which is computed and stored at the root");
        MemoizeElsewhere { func: String } =>
            format!("`{func}` is memoized, so it is computed and stored at the root"),
            help "leave out memoize() or its other place";
        MemoizeOutput { func: String } =>
            format!("`{func}` is an output, whose memory the caller gives, so it cannot be memoized"),
            help "memoize what it is computed of";
        MemoizeRewritten { func: String } =>
            format!("`{func}` cannot be memoized beside directives that make Funcs of it, or it of others"),
            help "leave out memoize(), or its in, clone_in, rfactor or tuple_storage";
        MemoizeExtern { func: String, stage: String } =>
            format!("`{func}` cannot be memoized in a pipeline with the extern stage `{stage}`"),
            help "leave out memoize(), or make the extern stage and what reads it a pipeline of their own";
        MemoizePrints { func: String, at: Location } =>
            format!("`{func}` cannot be memoized, since its values print at {at}, and would print once only"),
            help "leave out memoize() or the print";
        CalleeValues { func: String } =>
            format!("the values of `{func}` are computed by a closure that is called once, in no loops"),
            help "say it of the extern stage, which copies them";
        CalleeInput { func: String } =>
            format!("`{func}` is a copy of what a closure needs, computed and stored where that is called"),
            help "say only of it what its loops are";
        CalleeSite { func: String, stage: String } =>
            format!("the closure of `{stage}` needs `{func}` before the loops of `{stage}` run, which copy its results"),
            help format!("compute `{func}` where `{stage}` is computed, or around that");
        CalledInVectors { func: String, var: String } =>
            format!("the closure of `{func}` would be called in lanes: `{var}` is vectorized"),
            help "compute it at a loop around that one, or let that loop be serial";
        CalledInKernel { func: String, var: String } =>
            format!("the closure of `{func}` would be called on a GPU: `{var}` is a loop over blocks or threads"),
            help "compute it at the root or at a loop of the host";
        OutputStorage { func: String } => format!("`{func}` is an output, whose memory the caller gives");
        SiteInline { func: String } =>
            format!("`{func}` is computed inline, so it has no loops"),
            help format!("give `{func}` a place with compute_root() or compute_at(...)");
        SiteItself { func: String } => format!("`{func}` cannot be placed in a loop of its own");
        SiteNotConsumer { func: String, site: String } => format!("`{site}` does not use `{func}`");
        SiteNotInVariant { site: String, var: String, variant: String } =>
            format!("`{site}` has no loop `{var}` where it is specialised for `{variant}`"),
            help format!("make `{var}` there too, or before specialize");
        SiteOutside { func: String, consumer: String, site: String } =>
            format!("`{consumer}` uses `{func}` too, and is not computed inside of loop {site}"),
            help "compute it at a loop that is around all its consumers, or at the root";
        StoreOfInline { func: String } =>
            format!("`{func}` is computed inline, so nothing is stored"),
            help format!("give `{func}` a place with compute_root() or compute_at(...)");
        NotAround { what: &'static str, outer: String, inner: &'static str, at: String } =>
            format!("{what} at {outer} is not around {inner} at {at}"),
            help format!("{what} at the same loop or one around it");
        StorageIsSplit { func: String, dim: String, parts: Vec<String> } =>
            format!("the storage of `{func}` along `{dim}` is split into {}", names(parts)),
            help "speak of its parts in reorder_storage and align_storage; a dimension is split once";
        TupleStorage { func: String, why: JoinReason } =>
            format!("the elements of `{func}` cannot lie in one buffer: {}", why.text()),
            help why.remedy(&func);
        SplitAndFolded { func: String, dim: String } =>
            format!("the storage of `{func}` along `{dim}` is split, and blocks cannot be kept in a circle"),
            help format!("fold another dimension, or leave `{dim}` whole");
        AlignedBeforeSplit { dim: String, inner: String } =>
            format!("`{dim}` is aligned as a whole before it is split"),
            help format!("align its parts behind the split, as in align_storage({inner}, ...)");
        DimTaken { func: String, name: String } =>
            format!("the storage of `{func}` has a dimension `{name}` already"),
            help "choose another name";
        RingMemory { func: String } =>
            format!("the memory of `{func}` is allocated where it is stored, so there is one copy at a time"),
            help "allocate it at a loop around that, or at the root: hoist_storage(...), hoist_storage_root()";
        AsyncStorage { func: String } =>
            format!("`{func}` would be computed for the next iteration in the storage that this one reads"),
            help "give it copies: hoist_storage(...) around the loop, and ring_buffer(2)";
        AsyncLoop { func: String, var: String } =>
            format!("`{func}` is computed in loop `{var}`, whose iterations do not run one after the other"),
            help format!("compute it in a serial loop, or leave out async(): iterations of `{var}` run at once");
        SharedByIterations { func: String, var: String, what: Shared } =>
            {
                let why = match what {
                    Shared::Updates => {
                        "is stored outside of it and updated inside, so iterations would disturb each other"
                    }
                    Shared::Fold => {
                        "is folded outside of it and computed inside, so iterations would overwrite each other's values"
                    }
                    Shared::Memory => "keeps values of its own in each, so they cannot share memory allocated outside",
                };
                format!("the iterations of `{var}` run at the same time, and `{func}` {why}")
            },
            help match what {
                Shared::Memory => "hoist it to a loop inside of that one",
                Shared::Updates | Shared::Fold => "store it at that loop or inside of it",
            };
    } $($rest)* } };
}

pub(super) use places;
