//! The text form of schedules: the one printer. [`super::parse`] is its inverse.

use super::directive::*;
use super::list::Schedule;
use halide_core::pipeline::DimField;
use std::fmt;

impl fmt::Display for Schedule {
    /// One line per run of directives with the same subject. A directive that opens a specialisation or makes a wrapper
    /// is left out where the next line's subject says as much.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut line: Option<&Subject> = None;
        let mut start = "";
        let mut before = Schedule::new();
        for (i, directive) in self.directives().iter().enumerate() {
            let next = self.directives().get(i + 1).map(|d| &d.subject);
            before.push(directive.clone());
            if opened_by_subject(directive, next, &before) {
                // The next line must name its subject, also if the line before it has the same one.
                line = None;
                continue;
            }
            if line == Some(&directive.subject) {
                f.write_str(" ")?;
            } else {
                write!(f, "{start}{}: ", SubjectText(&directive.subject, &before))?;
                line = Some(&directive.subject);
                start = "\n";
            }
            write!(f, "{}", directive.verb)?;
        }
        Ok(())
    }
}

/// Returns true if `directive` only makes what the subject of the directive after it speaks of, so that parsing that
/// subject makes the same directive again. `before` ends with `directive`.
fn opened_by_subject(directive: &Directive, next: Option<&Subject>, before: &Schedule) -> bool {
    let Some(next) = next else { return false };
    let subject = &directive.subject;
    match &directive.verb {
        Verb::Specialize(condition) => {
            let opened = before.conditions(subject).count() - 1;
            let first = before.conditions(subject).position(|c| c == condition) == Some(opened);
            let path = [subject.specializations.as_slice(), &[opened]].concat();
            first && next.func == subject.func && next.stage == subject.stage && next.specializations == path
        }
        Verb::In { consumers } => makes(subject, next, &wrapper_name(&subject.func, consumers), before),
        Verb::CloneIn { consumers } => makes(subject, next, &clone_name(&subject.func, consumers), before),
        _ => false,
    }
}

fn makes(subject: &Subject, next: &Subject, name: &str, before: &Schedule) -> bool {
    let made = |d: &&Directive| match &d.verb {
        Verb::In { consumers } => wrapper_name(&d.subject.func, consumers) == name,
        Verb::CloneIn { consumers } => clone_name(&d.subject.func, consumers) == name,
        _ => false,
    };
    let plain = subject.stage == 0 && subject.specializations.is_empty() && is_made(&subject.func, before);
    plain && next.func == name && before.directives().iter().filter(made).count() == 1
}

/// Returns true if the directives of `schedule` make every wrapper that the name `func` speaks of.
fn is_made(func: &str, schedule: &Schedule) -> bool {
    super::parse::wrappers_named(func).iter().all(|name| schedule.makes_func(name))
}

/// The name of the wrapper that `in_` makes of `func` for `consumers`.
pub fn wrapper_name(func: &str, consumers: &[String]) -> String {
    format!("{}.in({})", FuncText(func), FuncList(consumers))
}

/// The name of the copy that `clone_in` makes of `func` for `consumers`.
pub fn clone_name(func: &str, consumers: &[String]) -> String {
    format!("{}.clone_in({})", FuncText(func), FuncList(consumers))
}

/// The name of the Func that `rfactor` makes of an update of `func` for the new variables `vars`.
pub fn rfactor_name(func: &str, vars: &[String]) -> String {
    format!("{}.rfactor({})", FuncText(func), NameList(vars))
}

/// A subject as text. A specialisation is named by its condition as the directives in the schedule opened it, or by its
/// number where no condition, or an earlier one with the same condition, is there.
pub(crate) struct SubjectText<'a>(pub(crate) &'a Subject, pub(crate) &'a Schedule);

impl fmt::Display for SubjectText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SubjectText(subject, schedule) = self;
        // In plain letters, the name of a wrapper that nothing makes would make it when read back.
        if is_made(&subject.func, schedule) {
            write!(f, "{}", FuncText(&subject.func))?;
        } else {
            quote(f, &subject.func)?;
        }
        update_suffix(f, subject.stage)?;
        let mut outer = Subject { specializations: Vec::new(), ..(*subject).clone() };
        for &index in &subject.specializations {
            let conditions: Vec<&Condition> = schedule.conditions(&outer).collect();
            match conditions.get(index) {
                Some(c) if !conditions[..index].contains(c) => write!(f, ".specialize({c})")?,
                _ => write!(f, ".specialize({index})")?,
            }
            outer.specializations.push(index);
        }
        Ok(())
    }
}

struct StageText<'a>(&'a str, usize);

impl fmt::Display for StageText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", FuncText(self.0))?;
        update_suffix(f, self.1)
    }
}

fn update_suffix(f: &mut fmt::Formatter<'_>, stage: usize) -> fmt::Result {
    if stage > 0 { write!(f, ".update({})", stage - 1) } else { Ok(()) }
}

/// The name of a Func: as it is if it reads as a name or as a wrapper of one, else in quotes.
pub(crate) struct FuncText<'a>(pub(crate) &'a str);

impl fmt::Display for FuncText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if is_plain(self.0) || super::parse::is_made_name(self.0) { f.write_str(self.0) } else { quote(f, self.0) }
    }
}

struct FuncList<'a>(&'a [String]);

impl fmt::Display for FuncList<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        separated(f, self.0.iter().map(|n| FuncText(n)))
    }
}

/// The name of a loop, parameter or image: as it is if it reads as a name, else in quotes.
pub(crate) struct NameText<'a>(pub(crate) &'a str);

impl fmt::Display for NameText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if is_plain(self.0) { f.write_str(self.0) } else { quote(f, self.0) }
    }
}

struct NameList<'a>(&'a [String]);

impl fmt::Display for NameList<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        separated(f, self.0.iter().map(|n| NameText(n)))
    }
}

fn separated(f: &mut fmt::Formatter<'_>, items: impl Iterator<Item = impl fmt::Display>) -> fmt::Result {
    for (i, item) in items.enumerate() {
        let comma = if i == 0 { "" } else { ", " };
        write!(f, "{comma}{item}")?;
    }
    Ok(())
}

/// Returns true if `name` is identifiers joined by dots.
fn is_plain(name: &str) -> bool {
    name.split('.').all(|part| {
        let mut letters = part.chars();
        letters.next().is_some_and(starts_name) && letters.all(continues_name)
    })
}

/// Returns true if an identifier may begin with `c`.
pub(super) fn starts_name(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_' || c == '$'
}

/// Returns true if an identifier may go on with `c`.
pub(super) fn continues_name(c: char) -> bool {
    starts_name(c) || c.is_ascii_digit()
}

fn quote(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    f.write_str("\"")?;
    for c in text.chars() {
        match c {
            '"' => f.write_str("\\\"")?,
            '\\' => f.write_str("\\\\")?,
            '\n' => f.write_str("\\n")?,
            _ => write!(f, "{c}")?,
        }
    }
    f.write_str("\"")
}

struct Quoted<'a>(&'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        quote(f, self.0)
    }
}

impl fmt::Display for Verb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let n = NameText;
        match self {
            Verb::Split { var, outer, inner, factor, tail } => {
                write!(f, "split({}, {}, {}, {factor}{})", n(var), n(outer), n(inner), TailText(*tail))
            }
            Verb::Fuse { inner, outer, fused } => write!(f, "fuse({}, {}, {})", n(inner), n(outer), n(fused)),
            Verb::Rename { from, to } => write!(f, "rename({}, {})", n(from), n(to)),
            Verb::Reorder(vars) => write!(f, "reorder({})", NameList(vars)),
            Verb::Mark { kind, var, factor: None, .. } => write!(f, "{}({})", kind.word(), n(var)),
            Verb::Mark { kind, var, factor: Some(factor), tail } => {
                write!(f, "{}({}, {factor}{})", kind.word(), n(var), TailText(*tail))
            }
            Verb::Partition { var, how: Partition::Auto } => write!(f, "auto_partition({})", n(var)),
            Verb::Partition { var, how: Partition::Never } => write!(f, "never_partition({})", n(var)),
            Verb::Partition { var, how: Partition::Always } => write!(f, "always_partition({})", n(var)),
            Verb::ComputeRoot => f.write_str("compute_root()"),
            Verb::ComputeAt(site) => write!(f, "compute_at({site})"),
            Verb::ComputeInline => f.write_str("compute_inline()"),
            Verb::ComputeWith { site, align, each } => {
                write!(f, "compute_with({site}")?;
                if *align != Align::NoAlign {
                    write!(f, ", {align:?}")?;
                }
                each.iter().try_for_each(|(var, align)| write!(f, ", [{}, {align:?}]", n(var)))?;
                f.write_str(")")
            }
            Verb::StoreRoot => f.write_str("store_root()"),
            Verb::StoreAt(site) => write!(f, "store_at({site})"),
            Verb::HoistStorageRoot => f.write_str("hoist_storage_root()"),
            Verb::HoistStorage(site) => write!(f, "hoist_storage({site})"),
            Verb::ReorderStorage(vars) => write!(f, "reorder_storage({})", NameList(vars)),
            Verb::AlignStorage { var, multiple } => write!(f, "align_storage({}, {multiple})", n(var)),
            Verb::FoldStorage { var, factor, forward: true } => write!(f, "fold_storage({}, {factor})", n(var)),
            Verb::FoldStorage { var, factor, forward: false } => {
                write!(f, "fold_storage({}, {factor}, backward)", n(var))
            }
            Verb::StoreIn(memory) => write!(f, "store_in({memory:?})"),
            Verb::Copy { to_device: true } => f.write_str("copy_to_device()"),
            Verb::Copy { to_device: false } => f.write_str("copy_to_host()"),
            Verb::GpuSingleThread => f.write_str("gpu_single_thread()"),
            Verb::BoundStorage { var, extent } => write!(f, "bound_storage({}, {extent})", n(var)),
            Verb::SetEstimate { var, min, extent } => write!(f, "set_estimate({}, {min}, {extent})", n(var)),
            Verb::SetEstimates(region) => {
                f.write_str("set_estimates(")?;
                separated(f, region.iter().map(|(min, extent)| format!("[{min}, {extent}]")))?;
                f.write_str(")")
            }
            Verb::Prefetch { what, at, from, offset, bound } => {
                write!(f, "prefetch({}, {}, {}, {offset}", FuncText(what), n(at), n(from))?;
                if *bound != PrefetchBound::default() {
                    write!(f, ", {}", bound.word())?;
                }
                f.write_str(")")
            }
            Verb::StreamStores => f.write_str("stream_stores()"),
            Verb::Monoid { identity, commutes } => {
                f.write_str("monoid(")?;
                match &identity[..] {
                    [one] => write!(f, "{one}")?,
                    all => {
                        f.write_str("[")?;
                        separated(f, all.iter())?;
                        f.write_str("]")?;
                    }
                }
                f.write_str(if *commutes { ", commutative)" } else { ")" })
            }
            Verb::Bound { var, min, extent } => write!(f, "bound({}, {min}, {extent})", n(var)),
            Verb::BoundExtent { var, extent } => write!(f, "bound_extent({}, {extent})", n(var)),
            Verb::AlignBounds { var, modulus, remainder } => {
                write!(f, "align_bounds({}, {modulus}, {remainder})", n(var))
            }
            Verb::AlignExtent { var, modulus } => write!(f, "align_extent({}, {modulus})", n(var)),
            Verb::In { consumers } => write!(f, "in({})", FuncList(consumers)),
            Verb::CloneIn { consumers } => write!(f, "clone_in({})", FuncList(consumers)),
            Verb::Specialize(condition) => write!(f, "specialize({condition})"),
            Verb::SpecializeFail(message) => write!(f, "specialize_fail({})", Quoted(message)),
            Verb::Rfactor { rvars, vars } => match (&rvars[..], &vars[..]) {
                ([rvar], [var]) => write!(f, "rfactor({}, {})", n(rvar), n(var)),
                _ => write!(f, "rfactor([{}], [{}])", NameList(rvars), NameList(vars)),
            },
            Verb::Atomic { any_order } => f.write_str(if *any_order { "atomic(any_order)" } else { "atomic()" }),
            Verb::AllowRaceConditions => f.write_str("allow_race_conditions()"),
            Verb::Float(mode) => write!(f, "float({})", mode.word()),
        }
    }
}

struct TailText(Tail);

impl fmt::Display for TailText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == Tail::Auto { Ok(()) } else { write!(f, ", {}", self.0) }
    }
}

impl fmt::Display for Tail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", StageText(&self.func, self.stage), NameText(&self.var))
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Amount::Const(value) => write!(f, "{value}"),
            Amount::Natural => f.write_str("natural"),
            Amount::Param(name) if name == "natural" => quote(f, name),
            Amount::Param(name) => write!(f, "{}", NameText(name)),
        }
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Identity::Const(value) => write!(f, "{value}"),
            Identity::Lowest | Identity::Highest => f.write_str(self.word()),
        }
    }
}

impl fmt::Display for Condition {
    /// Every operand of `&&` and `||` that is itself one stands in parentheses, unless it is the left one and the same.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let operand = |f: &mut fmt::Formatter<'_>, c: &Condition, keep: bool| match c {
            Condition::And(..) | Condition::Or(..) if !keep => write!(f, "({c})"),
            _ => write!(f, "{c}"),
        };
        match self {
            Condition::Compare(op, a, b) => write!(f, "{a} {} {b}", op.symbol()),
            Condition::Param(name) => write!(f, "{}", NameText(name)),
            Condition::And(a, b) => {
                operand(f, a, matches!(**a, Condition::And(..)))?;
                f.write_str(" && ")?;
                operand(f, b, false)
            }
            Condition::Or(a, b) => {
                operand(f, a, matches!(**a, Condition::Or(..)))?;
                f.write_str(" || ")?;
                operand(f, b, false)
            }
            Condition::Not(a) if matches!(**a, Condition::Param(_)) => write!(f, "!{a}"),
            Condition::Not(a) => write!(f, "!({a})"),
            Condition::Invalid(message) => write!(f, "invalid({})", Quoted(message)),
        }
    }
}

impl fmt::Display for Term {
    /// Operands stand in parentheses where they bind less tightly, or on the right only as tightly.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let binds = |t: &Term| match t {
            Term::Binary(op, ..) => precedence(*op),
            _ => u8::MAX,
        };
        let operand = |f: &mut fmt::Formatter<'_>, t: &Term, least: u8| {
            if binds(t) < least { write!(f, "({t})") } else { write!(f, "{t}") }
        };
        match self {
            Term::Const(value) => write!(f, "{value}"),
            Term::Param(name) => write!(f, "{}", NameText(name)),
            Term::Dim(name, field, dim) => write!(f, "{}.{}({dim})", FuncText(name), field_word(*field)),
            Term::Binary(op, a, b) => {
                operand(f, a, precedence(*op))?;
                write!(f, " {op} ")?;
                operand(f, b, precedence(*op) + 1)
            }
        }
    }
}

/// Returns the precedence of an operator of terms; a higher one binds more tightly.
pub(super) fn precedence(op: char) -> u8 {
    if matches!(op, '+' | '-') { 1 } else { 2 }
}

/// The word for a property of a dimension.
pub(super) fn field_word(field: DimField) -> &'static str {
    match field {
        DimField::Min => "min",
        DimField::Extent => "extent",
        DimField::Stride => "stride",
    }
}

impl LoopKind {
    /// The directive's word.
    pub fn word(self) -> &'static str {
        match self {
            LoopKind::Serial => "serial",
            LoopKind::Parallel => "parallel",
            LoopKind::Vectorized => "vectorize",
            LoopKind::Unrolled => "unroll",
            LoopKind::GpuBlocks => "gpu_blocks",
            LoopKind::GpuThreads => "gpu_threads",
            LoopKind::GpuLanes => "gpu_lanes",
        }
    }
}

impl FloatMode {
    /// The argument of `float(..)`.
    pub fn word(self) -> &'static str {
        match self {
            FloatMode::Strict => "strict",
            FloatMode::Contract => "contract",
            FloatMode::Relaxed => "relaxed",
        }
    }
}

impl CompareOp {
    /// The operator as text.
    pub fn symbol(self) -> &'static str {
        match self {
            CompareOp::Eq => "==",
            CompareOp::Ne => "!=",
            CompareOp::Lt => "<",
            CompareOp::Le => "<=",
            CompareOp::Gt => ">",
            CompareOp::Ge => ">=",
        }
    }
}
