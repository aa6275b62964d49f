//! The fluent builder: methods of the directives' words, which the table of directives lists.
//!
//! A method that takes a factor has a sibling `..._tail` that also takes the tail strategy; in the text form that is
//! one more argument. Nothing here can fail: what makes no sense is reported by `plan::resolve`, at the place of the
//! call.

use super::arguments::kind;
use super::directive::{Directive, Subject, Verb, shape};
use super::func_name::{clone_name, rfactor_name, wrapper_name};
use super::list::Schedule;
use super::names::{FuncName, FuncNames, LoopName, LoopNames, StageName};
use super::table::with_directives;
use super::tiling::{Tiling, mark, mark_part, marks};
use super::values::{
    Align, Amount, Condition, FloatMode, Identity, LoopKind, Memory, Partition, PrefetchBound, Site, Tail,
};
use halide_core::error::Location;

/// Speaks of one stage of one Func, or one of its specialisations. Made by [`Schedule::func`].
#[derive(Debug)]
pub struct StageSchedule<'s> {
    schedule: &'s mut Schedule,
    subject: Subject,
}

/// A stage of a Func by the number of its update, for `compute_at` and its kin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpdateOf {
    func: String,
    update: usize,
}

/// The update number `k`, from 0, of `func`: where `compute_at` and its kin take a Func, its pure definition is meant
/// unless this is given.
pub fn update(func: impl FuncName, k: usize) -> UpdateOf {
    UpdateOf { func: func.func_name(), update: k }
}

impl StageName for UpdateOf {
    fn stage_name(&self) -> (String, usize) {
        (self.func.clone(), self.update.saturating_add(1))
    }
}

impl Schedule {
    /// Begins or goes on to schedule a Func; what follows speaks of its pure definition.
    pub fn func(&mut self, func: impl FuncName) -> StageSchedule<'_> {
        StageSchedule { schedule: self, subject: Subject::func(func.func_name()) }
    }
}

impl StageSchedule<'_> {
    /// Goes on with update number `k`, from 0, of the same Func.
    pub fn update(mut self, k: usize) -> Self {
        self.subject = Subject { stage: k.saturating_add(1), ..Subject::func(self.subject.func) };
        self
    }

    /// Goes on with every update of the same Func: each of them gets the directives that follow.
    pub fn updates(mut self) -> Self {
        self.subject = Subject { updates: true, ..Subject::func(self.subject.func) };
        self
    }

    /// Adds directives, and goes on with what the last one makes, if it makes something.
    #[track_caller]
    pub(super) fn say(mut self, verbs: impl IntoIterator<Item = Verb>) -> Self {
        for verb in verbs {
            self = match verb {
                Verb::In { ref consumers } => {
                    let made = wrapper_name(&self.subject.func, consumers);
                    let known = self.schedule.times_made(&made) > 0;
                    self.make_func(verb, known, made)
                }
                Verb::CloneIn { ref consumers } => {
                    let made = clone_name(&self.subject.func, consumers);
                    let known = self.schedule.times_made(&made) > 0;
                    self.make_func(verb, known, made)
                }
                Verb::Rfactor { ref vars, .. } => {
                    let made = rfactor_name(&self.subject.func, vars);
                    let same = |d: &Directive| d.verb == verb && d.subject == self.subject;
                    let known = self.schedule.directives().iter().any(same);
                    self.make_func(verb, known, made)
                }
                Verb::Specialize(condition) => self.open(condition),
                verb => self.push(verb),
            };
        }
        self
    }

    #[track_caller]
    fn push(self, verb: Verb) -> Self {
        let at = Some(Location::caller());
        self.schedule.push(Directive { subject: self.subject.clone(), verb, at });
        self
    }

    /// Adds a directive that makes a Func, unless it is `known`, and goes on with that Func.
    #[track_caller]
    fn make_func(self, verb: Verb, known: bool, made: String) -> Self {
        let mut next = if known { self } else { self.push(verb) };
        next.subject = Subject::func(made);
        next
    }

    /// Opens a specialisation, unless it is open, and goes on with it.
    #[track_caller]
    fn open(self, condition: Condition) -> Self {
        let opened = self.schedule.specialization(&self.subject, &condition);
        let count = self.schedule.opened(&self.subject);
        let mut next = if opened.is_some() { self } else { self.push(Verb::Specialize(condition)) };
        next.subject.specializations.push(opened.unwrap_or(count));
        next
    }
}

impl StageSchedule<'_> {
    /// Splits each of `vars` (innermost first) by its factor and runs all inner loops inside all outer ones.
    #[track_caller]
    pub fn tile<A: Into<Amount>, const N: usize>(
        self,
        vars: impl LoopNames,
        outer: impl LoopNames,
        inner: impl LoopNames,
        factors: [A; N],
    ) -> Self {
        self.tile_tail(vars, outer, inner, factors, Tail::Auto)
    }

    /// As `tile`, and says what happens where a factor does not divide an extent.
    #[track_caller]
    pub fn tile_tail<A: Into<Amount>, const N: usize>(
        self,
        vars: impl LoopNames,
        outer: impl LoopNames,
        inner: impl LoopNames,
        factors: [A; N],
        tail: Tail,
    ) -> Self {
        let factors = factors.into_iter().map(Into::into).collect();
        let (vars, outer, inner) = (vars.loop_names(), outer.loop_names(), inner.loop_names());
        self.say((Tiling { vars, outer, inner, factors, tail }).verbs())
    }

    /// Tiles by `factors`, and runs tiles as blocks and the points of a tile as threads.
    #[track_caller]
    pub fn gpu_tile<A: Into<Amount>, const N: usize>(
        self,
        vars: impl LoopNames,
        outer: impl LoopNames,
        inner: impl LoopNames,
        factors: [A; N],
    ) -> Self {
        let factors = factors.into_iter().map(Into::into).collect();
        let (vars, outer, inner) = (vars.loop_names(), outer.loop_names(), inner.loop_names());
        self.say((Tiling { vars, outer, inner, factors, tail: Tail::Auto }).gpu_verbs())
    }
}

/// A method of the builder.
macro_rules! method {
    ([$($doc:literal)+] $name:ident (($($argument:ident: $kind:ident),*) => $verbs:expr) $($of_variant:tt)*) => {
        $(#[doc = $doc])+
        #[track_caller]
        pub fn $name(self, $($argument: kind!(builder $kind)),*) -> Self {
            $(let $argument = kind!($kind $argument);)*
            self.say($verbs)
        }
    };
    ([$($doc:literal)+] $name:ident () $verb:ident ($($argument:tt)*) [$($value:tt)*]) => {
        method!([$($doc)+] $name (($($argument)*) => [shape!($verb ($($argument)*) $($value)*)]));
    };
    ([$($doc:literal)+] $name:ident () $verb:ident {$($argument:tt)*} [$($value:tt)*]) => {
        method!([$($doc)+] $name (($($argument)*) => [shape!($verb {$($argument)*} $($value)*)]));
    };
}

/// The methods of a word. The first one has the documentation of the word.
macro_rules! methods {
    (
        [$($doc:literal)+] $verb:ident $arguments:tt $value:tt {
            $first:ident $(($($own:tt)*) => $verbs:expr)?;
            $($(#[doc = $more:literal])+ $next:ident $(($($other:tt)*) => $others:expr)?;)*
        }
    ) => {
        method!([$($doc)+] $first ($(($($own)*) => $verbs)?) $verb $arguments $value);
        $(method!([$($more)+] $next ($(($($other)*) => $others)?) $verb $arguments $value);)*
    };
}

macro_rules! builder {
    ($(
        $scope:ident $([$field:ident: $ty:ty])? $verb:ident $arguments:tt {
            $($(#[doc = $doc:literal])+ $word:literal $([$($value:tt)*])? as $halide:literal $(reads $reads:tt)?
                { $($methods:tt)* })+
        }
    )*) => {
        impl StageSchedule<'_> {
            $($(methods!([$($doc)+] $verb $arguments [$($($value)*)?] { $($methods)* });)+)*
        }
    };
}

with_directives!(builder);

macro_rules! amounts_from {
    ($($ty:ty)*) => {$(
        impl From<$ty> for Amount {
            fn from(value: $ty) -> Amount {
                Amount::Const(i64::try_from(value).unwrap_or(i64::MAX))
            }
        }
    )*};
}

amounts_from!(i32 i64 u32 u64 usize u16 u8);

impl From<&str> for Amount {
    /// A scalar integer parameter by name.
    fn from(param: &str) -> Amount {
        Amount::Param(param.to_string())
    }
}

impl From<&str> for Condition {
    /// A condition as text: `p > 3 && in.extent(0) >= 128`.
    fn from(text: &str) -> Condition {
        text.parse().unwrap_or_else(|error| Condition::Invalid(format!("`{text}`: {error}")))
    }
}

impl From<i64> for Identity {
    fn from(value: i64) -> Identity {
        Identity::Const(value)
    }
}
