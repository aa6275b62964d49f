//! Diagnostics of names, numbers and conditions.

/// Adds these diagnostics to those in `$before`, and goes on with the next table.
macro_rules! names {
    ({ $($before:tt)* } $next:ident $($rest:ident)*) => { $next! { { $($before)*
        UnknownFunc { name: String, near: Option<String> } =>
            format!("the pipeline has no Func `{name}`"),
            help did_you_mean(near);
        BesideExtern { name: String } =>
            format!("an extern stage stands between this and `{name}`, so they have no loops in common");
        InAnotherPart { name: String } =>
            format!("`{name}` is in another part of the pipeline: an extern stage or a memoized Func stands between"),
            help "leave out the condition, or memoize()";
        UnknownUpdate { func: String, updates: usize } =>
            match updates {
                0 => format!("`{func}` has no updates"),
                1 => format!("`{func}` has one update, number 0"),
                _ => format!("`{func}` has {updates} updates, numbers 0 to {}", updates - 1),
            };
        UnknownSpecialization { index: usize, count: usize } =>
            format!("there is no specialisation number {index}; {count} have been opened before this");
        WholeFunc { func: String } =>
            format!("this is said of `{func}` as a whole, not of one of its stages"),
            help format!("write it under `{func}:`");
        UnknownLoop {
            of: String,
            name: String,
            loops: Vec<String>,
            near: Option<String>,
            owner: Option<Box<(usize, String)>>
        } =>
            {
                let owner = owner.as_ref().map(|owner| format!(", which is a loop of `{}`", owner.1));
                let owner = owner.unwrap_or_default();
                format!("`{of}` has no loop `{name}`{owner}; its loops, outermost first: {}", names(loops))
            },
            help did_you_mean(near);
        LoopReplaced { of: String, name: String, by: String } =>
            format!("`{of}` has no loop `{name}` any more, because of {by}");
        UnknownDim { func: String, name: String, dims: Vec<String>, near: Option<String> } =>
            format!("`{func}` has no dimension `{name}`; its dimensions: {}", names(dims)),
            help did_you_mean(near);
        NameTaken { of: String, name: String } =>
            format!("`{of}` has a variable `{name}` already"),
            help "choose another name";
        EmptyName => format!("a loop needs a name; lists of different lengths leave some out");
        Repeated { name: String } => format!("`{name}` is listed twice");
        TooSmall { what: &'static str, value: i64, least: i64 } =>
            format!("the {what} must be at least {least}, not {value}");
        TooLarge { what: &'static str, value: i64, most: i64 } =>
            format!("the {what} must be at most {most}, not {value}");
        UnknownParam { name: String, near: Option<String> } =>
            format!("the pipeline has no scalar parameter `{name}`"),
            help after_a_factor(name).or_else(|| did_you_mean(near));
        ParamType { name: String, ty: ScalarType, needed: &'static str } =>
            format!("parameter `{name}` is {ty}, where {needed} is needed");
        UnknownBuffer { name: String, near: Option<String> } =>
            format!("the pipeline has no input image or output `{name}`"),
            help did_you_mean(near);
        NoSuchDim { name: String, dim: usize, dims: usize } =>
            format!("`{name}` has {dims} dimensions, so none number {dim}");
        BadCondition { message: String } => format!("this is not a condition: {message}");
        RepeatedCondition { condition: String } =>
            format!("there is a specialisation for `{condition}` before this one");
        AfterFail => format!("nothing can be specialised after specialize_fail, which ends the run");
        UnknownSource { name: String, near: Option<String> } =>
            format!("there is no Func and no image `{name}`"),
            help did_you_mean(near);
        EstimateDims { func: String, given: usize, dims: usize } =>
            format!("`{func}` has {dims} dimensions, and {given} are estimated");
    } $($rest)* } };
}

pub(super) use names;
