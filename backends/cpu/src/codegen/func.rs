//! One function under construction: what symbols and buffers stand for in it, calls, and the value of an expression.

use super::abi::{self, ArgLayout, RuntimeFn};
use super::captures::ClosureLayout;
use super::guards::Guards;
use super::ops::Ops;
use super::outlined::Outlined;
use super::places::{Place, Slots};
use super::value::{Parts, Val};
use crate::error::{CodeUnit, CpuError};
use crate::host::Effort;
use crate::shared::lane::Lane;
use crate::shared::linear::Sums;
use crate::shared::marks::{Marks, OUTSIDE};
use crate::shared::memo::Memo;
use crate::tuning::ONE_PASS_INSTRUCTIONS;
use cranelift_codegen::cursor::{Cursor, FuncCursor};
use cranelift_codegen::ir::{
    AliasRegion, AliasRegionData, Block, ExtFuncData, ExternalName, FuncRef, Function, InstBuilder, MemFlagsData,
    Signature, Type, UserExternalName, UserFuncName, Value, types,
};
use cranelift_codegen::isa::{CallConv, TargetIsa};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_module::FuncId;
use halide_core::ids::{Id, IdVec};
use halide_core::ops::MathFn;
use halide_ir::code_place::{CodePart, CodePlace, PlaceTable};
use halide_ir::hash::Map;
use halide_ir::target::Budget;
use halide_ir::{BufId, Expr, Program, Sym, TaskId};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Deref, DerefMut};
use std::rc::Rc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// The state that all functions of a program share while they are made.
pub(super) struct Env<'a> {
    pub(super) program: &'a Program,
    pub(super) layout: &'a ArgLayout,
    pub(super) isa: &'a dyn TargetIsa,
    /// True if the x86-only operations of the code generator are available.
    pub(super) x64: bool,
    /// True if `x86_pmulhrsw` may stand for the upper halves of products of unsigned 16-bit lanes; see
    /// [`super::high_words`].
    pub(super) high_words: bool,
    /// True if the machine multiplies and adds in one instruction.
    pub(super) fma: bool,
    /// The locks that atomic steps hold, by Func.
    pub(super) locks: BTreeMap<halide_core::ids::FuncId, super::locks::Lock>,
    pub(super) symbols: Symbols,
    /// The closure of each task.
    pub(super) closures: IdVec<TaskId, ClosureLayout>,
    /// The kernels of wide vectors made so far, if there may be any.
    pub(super) outlined: Option<&'a Mutex<Outlined>>,
    /// The least number of elements of each allocation.
    pub(super) sizes: Map<BufId, u64>,
    /// Limits on the size of code.
    pub(super) budget: Budget,
    /// The marks that code leaves, if it leaves any.
    pub(super) marks: Option<&'a Marks>,
    /// True if the places of instructions are asked for.
    pub(super) has_places: bool,
    /// Instructions of the functions made so far.
    pub(super) spent: AtomicU64,
}

/// Declared functions.
pub(super) struct Symbols {
    pub(super) entry: FuncId,
    pub(super) tasks: Vec<FuncId>,
    pub(super) runtime: BTreeMap<RuntimeFn, FuncId>,
    /// One per f32 function, of a part each; defined where used.
    pub(super) math: Vec<FuncId>,
}

impl Symbols {
    /// The names of all functions.
    pub(super) fn names(&self, program: &Program) -> BTreeMap<u32, String> {
        let runtime = self.runtime.iter().map(|(f, id)| (id.as_u32(), f.describe().0.to_string()));
        let name =
            |task: TaskId| program.loops.get(program.tasks[task].id).map_or_else(String::new, |l| l.name.clone());
        let tasks = program.tasks.ids().map(|task| (self.tasks[task.index()].as_u32(), name(task)));
        let math = MathFn::ALL.into_iter().map(|f| (self.math[f as usize].as_u32(), format!("{f:?}").to_lowercase()));
        runtime.chain(tasks).chain(math).collect()
    }
    /// The symbol of a callee that is compiled code.
    fn in_module(&self, callee: Callee) -> Option<FuncId> {
        match callee {
            Callee::Runtime(_) => None,
            Callee::Task(id) => self.tasks.get(id.index()).copied(),
            Callee::Math(f) => self.math.get(f as usize).copied(),
            Callee::Kernel(id) => Some(id),
        }
    }
}

/// A callee.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Callee {
    Runtime(RuntimeFn),
    Task(TaskId),
    Math(MathFn),
    /// A kernel of wide vectors.
    Kernel(FuncId),
}

/// A function under construction.
pub(super) struct Func<'a> {
    pub(super) ops: Ops<'a>,
    pub(super) env: &'a Env<'a>,
    pub(super) memo: Memo<Val>,
    pub(super) symbols: Map<Sym, Val>,
    /// The number of loops that enclose the definition of each symbol.
    pub(super) depths: Map<Sym, u32>,
    pub(super) guards: Guards,
    /// The sums that symbols stand for.
    pub(super) sums: Sums,
    /// The definitions of names of index arithmetic.
    pub(super) definitions: Sums,
    pub(super) places: Map<BufId, Place>,
    /// Addresses of the heap allocations around the statement at hand.
    pub(super) on_heap: BTreeMap<BufId, Value>,
    pub(super) slots: Slots,
    /// The number of atomic steps so far.
    pub(super) steps: u32,
    /// The closures at hand, by the task that each is of.
    pub(super) closures: Map<TaskId, Value>,
    /// The worker that runs this function.
    pub(super) worker: Value,
    /// The number of the definition at hand.
    pub(super) mark: u64,
    /// The places of instructions, if they are asked for.
    pub(super) code_places: Option<PlaceTable>,
    args: Value,
    /// Words of the argument block that were loaded, at the start of the function.
    arguments: Map<(usize, Type), Value>,
    callees: BTreeMap<Callee, FuncRef>,
    /// f32 functions that this one calls.
    pub(super) math_used: BTreeSet<MathFn>,
    regions: Map<u32, AliasRegion>,
    /// True if the function itself stores elements of buffers, and does not only call functions that do.
    pub(super) stores: bool,
    /// The first error found in the program. Code goes on being made, and is thrown away.
    pub(super) error: Option<String>,
    /// The most instructions that it may have.
    most: u64,
    /// Instructions of kernels that it calls.
    pub(super) outside: u64,
}

/// A finished function.
pub(super) struct EmittedFunction {
    pub(super) id: FuncId,
    pub(super) name: String,
    pub(super) clif: Function,
    pub(super) math_used: BTreeSet<MathFn>,
    /// The functions of the module that it calls or hands on to be called.
    pub(super) calls: Vec<FuncId>,
    /// The work that Cranelift puts into it.
    pub(super) effort: Effort,
    /// The places that its source locations are, if they are asked for.
    pub(super) code_places: Option<PlaceTable>,
}

/// Alias regions that are no buffer's: numbers above all of theirs.
pub(super) const REGION_ARGS: u32 = u32::MAX - 1;
/// Spills and closures.
pub(super) const REGION_SCRATCH: u32 = u32::MAX - 2;
/// Words in which threads say where they are.
pub(super) const REGION_MARKS: u32 = u32::MAX;
/// Stack slots for allocations: this minus the slot's number.
pub(super) const REGION_SLOTS: u32 = u32::MAX - 3;

/// Makes a function of the given parameters; `body` gets them after the worker, and returns after its last statement.
pub(super) fn make(
    env: &Env<'_>,
    id: FuncId,
    name: String,
    params: &[Type],
    body: impl FnOnce(&mut Func<'_>, &[Value]),
) -> Result<EmittedFunction, CpuError> {
    let mut clif = Function::with_name_signature(
        UserFuncName::user(0, id.as_u32()),
        abi::signature(env.isa.default_call_conv(), params, &[types::I64]),
    );
    let mut context = FunctionBuilderContext::new();
    let mut b = FunctionBuilder::new(&mut clif, &mut context);
    let entry = b.create_block();
    b.append_block_params_for_function_params(entry);
    b.switch_to_block(entry);
    b.seal_block(entry);
    let values = b.block_params(entry).to_vec();
    let worker = values[0];
    let constant = MemFlagsData::trusted().with_readonly().with_can_move();
    let args = b.ins().load(types::I64, constant, worker, abi::WORKER_ARGS);
    let mut f = Func {
        ops: Ops { b, x64: env.x64 },
        env,
        memo: Memo::default(),
        symbols: Map::default(),
        depths: Map::default(),
        guards: Guards::default(),
        sums: Sums::default(),
        definitions: Sums::default(),
        places: Map::default(),
        on_heap: BTreeMap::new(),
        slots: Slots::default(),
        steps: 0,
        closures: Map::default(),
        worker,
        mark: OUTSIDE,
        code_places: env.has_places.then(|| PlaceTable::new(CodePlace::default())),
        args,
        arguments: Map::default(),
        callees: BTreeMap::new(),
        math_used: BTreeSet::new(),
        regions: Map::default(),
        stores: false,
        error: None,
        most: env.budget.instructions.saturating_sub(env.spent.load(Ordering::Relaxed)),
        outside: 0,
    };
    body(&mut f, &values[1..]);
    f.set_place(CodePlace { part: CodePart::Frame, ..CodePlace::default() });
    f.return_code(0);
    let (error, math_used, stores) = (f.error.take(), std::mem::take(&mut f.math_used), f.stores);
    let code_places = f.code_places.take();
    let calls = f.callees.keys().filter_map(|callee| env.symbols.in_module(*callee)).collect();
    let (count, is_full) = (f.instructions(), f.is_full());
    f.ops.b.finalize(env.isa.frontend_config());
    let count = env.spent.fetch_add(count, Ordering::Relaxed) + count;
    if is_full {
        let (unit, most) = (CodeUnit::Instructions, env.budget.instructions);
        return Err(CpuError::TooLarge { function: name, unit, count, most });
    }
    let effort = effort(stores, &clif);
    let made = EmittedFunction { id, name, clif, math_used, calls, effort, code_places };
    error.map_or(Ok(made), |why| Err(CpuError::Program(why)))
}

/// Returns the effort for a function. One that stores nothing has no loop of its own that takes time: its kernels do.
pub(super) fn effort(stores: bool, clif: &Function) -> Effort {
    // Only the optimiser drops the high products that nothing uses, before they are counted.
    let works = stores || super::high_words::are_in(clif);
    match (works, clif.dfg.num_insts() > ONE_PASS_INSTRUCTIONS) {
        (false, _) => Effort::Little,
        (true, true) => Effort::OnePass,
        (true, false) => Effort::Full,
    }
}

impl<'a> Deref for Func<'a> {
    type Target = Ops<'a>;
    fn deref(&self) -> &Ops<'a> {
        &self.ops
    }
}

impl<'a> DerefMut for Func<'a> {
    fn deref_mut(&mut self) -> &mut Ops<'a> {
        &mut self.ops
    }
}

impl<'a> Func<'a> {
    /// Notes what is wrong with the program.
    pub(super) fn wrong(&mut self, what: String) {
        self.error.get_or_insert(what);
    }
    /// Counts the instructions made so far, with those of kernels that it calls.
    fn instructions(&self) -> u64 {
        self.b.func.dfg.num_insts() as u64 + self.outside
    }
    /// Returns true once there are more than [`Func::most`] allows. Nothing more is emitted then: the code is thrown
    /// away.
    pub(super) fn is_full(&self) -> bool {
        self.instructions() > self.most
    }
    // Parts.

    /// `f` on every part.
    pub(super) fn map(&mut self, a: &Parts, mut f: impl FnMut(&mut Self, Value) -> Value) -> Parts {
        a.iter().map(|a| f(self, *a)).collect()
    }
    /// `f` on corresponding parts.
    pub(super) fn zip(&mut self, a: &Parts, b: &Parts, mut f: impl FnMut(&mut Self, Value, Value) -> Value) -> Parts {
        a.iter().zip(b.iter()).map(|(a, b)| f(self, *a, *b)).collect()
    }
    /// Every part as another type of the same size.
    pub(super) fn cast_parts(&mut self, a: &Parts, lane: Lane) -> Parts {
        let vector = a.first().is_some_and(|v| self.ty(*v).is_vector());
        let ty = if vector { lane.vector() } else { lane.scalar() };
        self.map(a, |f, v| f.bitcast(ty, v))
    }
    // Memory.

    /// Flags for memory that belongs to one alias region.
    pub(super) fn flags(&mut self, region: u32) -> MemFlagsData {
        let dfg = &mut self.ops.b.func.dfg;
        let region = *self.regions.entry(region).or_insert_with(|| {
            let description = format!("region {region}").into();
            dfg.alias_regions.insert(AliasRegionData { user_id: region, description })
        });
        MemFlagsData::new().with_notrap().with_alias_region(Some(region))
    }
    /// A word of the argument block.
    pub(super) fn argument(&mut self, word: usize, ty: Type) -> Value {
        if let Some(known) = self.arguments.get(&(word, ty)) {
            return *known;
        }
        let flags = self.flags(REGION_ARGS).with_readonly().with_can_move().with_aligned();
        let args = self.args;
        let first = self.b.func.dfg.value_def(args).unwrap_inst();
        let mut start = FuncCursor::new(self.ops.b.func).after_inst(first);
        let value = start.ins().load(ty, flags, args, (word * 8) as i32);
        self.arguments.insert((word, ty), value);
        value
    }

    // Calls and control flow.

    /// The reference to a callee, imported on first use.
    pub(super) fn callee(&mut self, callee: Callee) -> FuncRef {
        if let Some(known) = self.callees.get(&callee) {
            return *known;
        }
        let (env, conv) = (self.env, self.env.isa.default_call_conv());
        let (id, signature): (FuncId, Signature) = match callee {
            Callee::Runtime(f) => {
                let (params, results) = f.types();
                (env.symbols.runtime[&f], abi::signature(conv, params, results))
            }
            Callee::Task(id) => (env.symbols.tasks[id.index()], abi::signature(conv, &abi::TASK_PARAMS, &[types::I64])),
            Callee::Kernel(id) => (id, abi::signature(CallConv::SystemV, &[types::I64], &[])),
            Callee::Math(f) => {
                self.math_used.insert(f);
                (env.symbols.math[f as usize], abi::math_signature(f))
            }
        };
        let signature = self.b.import_signature(signature);
        let name = UserExternalName { namespace: 0, index: id.as_u32() };
        let name = ExternalName::user(self.b.func.declare_imported_user_function(name));
        let data = ExtFuncData { name, signature, colocated: false, patchable: false };
        let reference = self.b.import_function(data);
        self.callees.insert(callee, reference);
        reference
    }
    /// Calls; the first result, if there is one.
    pub(super) fn call(&mut self, callee: Callee, args: &[Value]) -> Option<Value> {
        let reference = self.callee(callee);
        let call = self.ins().call(reference, args);
        self.b.inst_results(call).first().copied()
    }
    /// Calls a function that returns a value.
    pub(super) fn call_value(&mut self, callee: Callee, args: &[Value]) -> Value {
        self.call(callee, args).expect("a function with a result")
    }
    /// Ends the function: 0 is success.
    pub(super) fn return_code(&mut self, code: i64) {
        let code = self.index(code);
        self.ins().return_(&[code]);
    }
    /// Switches to a block that gets no more predecessors.
    pub(super) fn enter(&mut self, block: Block) {
        self.b.switch_to_block(block);
        self.b.seal_block(block);
    }
    /// Leaves the function with a fault unless `code` is 0.
    pub(super) fn check_code(&mut self, code: Value) {
        let (failed, next) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(failed);
        self.ins().brif(code, failed, &[], next, &[]);
        self.enter(failed);
        self.return_code(1);
        self.enter(next);
        self.guards.check();
    }

    // Expressions.

    /// The value of an expression, computed once where it is visible.
    pub(super) fn eval(&mut self, e: &Expr) -> Val {
        if let Some(known) = self.memo.get(e) {
            return known;
        }
        if self.is_full() {
            return self.zero(e.ty());
        }
        let made = self.compute(e);
        self.memo.put(e, made.clone());
        made
    }
    /// The value of a scalar expression.
    pub(super) fn scalar(&mut self, e: &Expr) -> Value {
        match self.eval(e) {
            Val::Data(parts) if e.lanes() == 1 => parts[0],
            _ => {
                self.wrong(format!("a vector where a scalar is wanted: {e:?}"));
                self.index(0)
            }
        }
    }
    /// The lanes of an expression; `Bool` vectors as i8 lanes of 0 or 1.
    pub(super) fn data(&mut self, e: &Expr) -> Parts {
        match self.eval(e) {
            Val::Data(parts) => parts,
            Val::Mask(..) => {
                let mask = self.mask(e, Lane::I8);
                self.mask_to_bytes(&mask)
            }
        }
    }
    /// One part or scalar as a list.
    pub(super) fn single(v: Value) -> Parts {
        Rc::from([v])
    }
}
