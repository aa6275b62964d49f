//! Diagnostics of stages that are computed together.

/// Adds these diagnostics to those in `$before`, and goes on with the next table.
macro_rules! groups {
    ({ $($before:tt)* } $next:ident $($rest:ident)*) => { $next! { { $($before)*
        WithItself { func: String } =>
            format!("stages of `{func}` depend on each other, so they cannot be computed together");
        WithoutPlace { func: String } =>
            format!("`{func}` has no place of its own, so nothing is computed together with it"),
            help format!("give `{func}` a place with compute_root() or compute_at(...)");
        WithSpecialized { of: String } =>
            format!("`{of}` is specialised, and what is computed together has one set of loops");
        WithEachOther { of: String, leader: String } => format!("`{leader}` is computed with `{of}` already");
        WithOtherLoops { of: String, own: Vec<String>, leader: String, theirs: Vec<String> } =>
            {
                let what = "only loops of the same names and kinds run as one";
                format!("{what}; outermost first, `{of}` has {}, and `{leader}` has {}", names(own), names(theirs))
            },
            help "split, reorder, rename and mark the loops of both in the same way";
        NotShared { name: String, loops: Vec<String>, near: Option<String> } =>
            format!("`{name}` is no loop that runs as one; those that do, outermost first: {}", names(loops)),
            help did_you_mean(near);
        WithElsewhere { of: String, at: String, leader: String, leader_at: String } =>
            format!("`{of}` is computed at {at}, and `{leader}` at {leader_at}"),
            help "compute both at the same loop, or both at the root";
        WithDependent { consumer: String, producer: String, why: TogetherReason } =>
            format!("`{consumer}` needs values of `{producer}`: {}", why.text()),
            help why.remedy();
        WithTangled { of: String, leader: String } =>
            {
                let both = format!("`{of}` and `{leader}` cannot be computed together");
                let between = "other Funcs that are computed together stand between them";
                format!("{both}: {between}, needed by one and needing the other")
            };
        WithOrder { func: String } => format!("the stages of `{func}` would not come in their order any more");
        WithOtherCuts { of: String, own: &'static str, other: String, theirs: &'static str, var: String } =>
            {
                let what = "one loop is cut in one way";
                format!("{what}: of `{var}`, `{of}` says {own}, and `{other}`, which runs in it too, {theirs}")
            },
            help "say it of one of them, or the same of both";
    } $($rest)* } };
}

pub(super) use groups;
