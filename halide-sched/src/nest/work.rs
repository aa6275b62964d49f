//! The work of a loop nest at given sizes, exactly: operations by class and type, and bytes read and written of each
//! buffer by stride class.

use super::exact::Exact;
use super::formula::Env;
use super::numbers::{bytes, count};
use super::operation::Operation;
use super::steps::AccessCost;
use super::tree::{Node, Provide, Tree};
use halide_core::types::ScalarType;
use halide_ir::Program;
use halide_ir::visit::deep;
use std::collections::BTreeMap;
use std::fmt;

/// The work of a run. Nothing is rounded, and no iterations stand for others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// The work of each Func that is computed, in the order in which they are first come to.
    pub funcs: Vec<FuncWork>,
    /// Descriptions of what is not counted: it depends on data, or iterations differ in a million ways. Empty if the
    /// work is exact.
    pub unknown: Vec<String>,
}

/// The work of the definitions of one Func. What is inlined works for its consumer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FuncWork {
    /// The Func; the name of one that a directive made is as the schedule says it.
    pub name: String,
    /// Points that its definitions compute; one that is computed twice counts twice.
    pub points: u64,
    /// Operations on data, each distinct one once for a point, whatever the vectors.
    pub operations: BTreeMap<(Operation, ScalarType), u64>,
    /// Bytes that its definitions read and store, each distinct access once for a point.
    pub traffic: BTreeMap<Traffic, u64>,
}

/// The accesses that are counted together.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Traffic {
    /// The Func or image; of a tuple, the element.
    pub buffer: String,
    /// True if it is stored to.
    pub is_store: bool,
    /// The distance between the elements of neighbouring iterations.
    pub stride: StrideClass,
}

/// The distance in memory between the elements that neighbouring iterations of the innermost loop access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StrideClass {
    /// None: all iterations access the same element, or there is one iteration only.
    Broadcast,
    /// One element, forwards or backwards.
    Dense,
    /// The same number of bytes in all iterations.
    Strided,
    /// Data decide.
    Gather,
}

impl StrideClass {
    fn of(access: &AccessCost) -> StrideClass {
        match access.steps.last() {
            None | Some((_, Some(0))) => StrideClass::Broadcast,
            Some((_, Some(step))) if step.saturating_abs() == access.bytes => StrideClass::Dense,
            Some((_, Some(_))) => StrideClass::Strided,
            Some((_, None)) => StrideClass::Gather,
        }
    }
}

impl Work {
    /// Returns the operations of one class on values of one type, of all Funcs.
    pub fn operations(&self, operation: Operation, ty: ScalarType) -> u64 {
        self.funcs.iter().filter_map(|func| func.operations.get(&(operation, ty))).sum()
    }

    /// Returns the bytes that are read from the Func or image called `buffer`, whatever the stride.
    pub fn bytes_read(&self, buffer: &str) -> u64 {
        self.bytes(|traffic| !traffic.is_store && traffic.buffer == buffer)
    }

    /// Returns the bytes that are stored to the Func called `buffer`, whatever the stride.
    pub fn bytes_stored(&self, buffer: &str) -> u64 {
        self.bytes(|traffic| traffic.is_store && traffic.buffer == buffer)
    }

    /// Returns the bytes of the accesses that `of` holds of.
    pub fn bytes(&self, of: impl Fn(&Traffic) -> bool) -> u64 {
        let all = self.funcs.iter().flat_map(|func| &func.traffic);
        all.filter(|(traffic, _)| of(traffic)).map(|(_, bytes)| bytes).sum()
    }
}

/// Returns the work of a program, whose definitions access memory as `accesses` says.
pub(super) fn work(program: &Program, tree: &Tree, env: &mut Env<'_>, accesses: &[Vec<AccessCost>]) -> Work {
    let (points, unknown) = Exact::points(program, &tree.body, env);
    let mut definitions = Vec::new();
    provides(&tree.body, &mut definitions);
    let mut work = Work { funcs: Vec::new(), unknown };
    for ((definition, points), accesses) in definitions.into_iter().zip(points).zip(accesses) {
        let name = program.func_name(definition.func);
        let at = work.funcs.iter().position(|func| func.name == name).unwrap_or_else(|| {
            work.funcs.push(FuncWork { name: name.to_string(), ..FuncWork::default() });
            work.funcs.len() - 1
        });
        let func = &mut work.funcs[at];
        func.points = func.points.saturating_add(points);
        if points == 0 {
            continue;
        }
        for (class, number) in &definition.classes {
            let all = func.operations.entry(*class).or_default();
            *all = all.saturating_add(points.saturating_mul(*number));
        }
        for access in accesses {
            let (buffer, is_store, stride) = (access.name.clone(), access.is_store, StrideClass::of(access));
            let all = func.traffic.entry(Traffic { buffer, is_store, stride }).or_default();
            *all = all.saturating_add(points.saturating_mul(access.bytes.unsigned_abs()));
        }
    }
    work
}

/// The definitions of a statement, in their order.
fn provides<'t>(node: &'t Node, found: &mut Vec<&'t Provide>) {
    deep(|| match node {
        Node::Block(all) => all.iter().for_each(|n| provides(n, found)),
        Node::Let { body, .. } => provides(body, found),
        Node::If { then, otherwise, .. } => {
            provides(then, found);
            provides(otherwise, found);
        }
        Node::For(l) => provides(&l.body, found),
        Node::Realize(r) => provides(&r.body, found),
        Node::Provide(p) => found.push(p),
    });
}

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for FuncWork { name, points, operations, traffic } in &self.funcs {
            writeln!(f, "{name}: {} points", count(*points as f64))?;
            for ((operation, ty), number) in operations {
                writeln!(f, "  {operation} {ty}: {}", count(*number as f64))?;
            }
            for (Traffic { buffer, is_store, stride }, number) in traffic {
                let verb = if *is_store { "stores" } else { "reads" };
                writeln!(f, "  {verb} {buffer}, {stride}: {}", bytes(*number as f64))?;
            }
        }
        self.unknown.iter().try_for_each(|what| writeln!(f, "not counted: {what}"))
    }
}

impl fmt::Display for StrideClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            StrideClass::Broadcast => "broadcast",
            StrideClass::Dense => "dense",
            StrideClass::Strided => "strided",
            StrideClass::Gather => "gather",
        })
    }
}
