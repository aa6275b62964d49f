//! The entry point of a shader: its bindings, its arguments, and the code of one kernel.

use super::align::Residue;
use super::builder::{Builder, NOWHERE, Shader, V};
use super::lanes;
use super::layout::{FIRST_BLOCK, Layout, ZERO, word_strides, writes};
use super::memo::{Lanes, Memo};
use super::options::Options;
use super::places::Place;
use super::state::{Emitted, Gen, Stop, Subgroup};
use super::types::{Reg, needed};
use crate::error::Feature;
use halide_core::types::ScalarType;
use halide_ir::code_place::{CodePlace, PlaceTable};
use halide_ir::hash::Map;
use halide_ir::{Elem, Kernel, Program, Sym, Writes, print};
use naga::{
    AddressSpace, Binding, BuiltIn, EntryPoint, Expression, Function, FunctionArgument, GlobalVariable, Handle,
    ResourceBinding, ShaderStage, StorageAccess, Type, TypeInner, VectorSize,
};
use std::num::NonZeroU32;
use std::rc::Rc;

/// The module of a kernel, and the places of its statements.
pub(super) fn module(
    program: &Program,
    kernel: &Kernel,
    layout: &Layout,
    options: Options,
) -> Emitted<(naga::Module, PlaceTable)> {
    let mut shader = Shader::default();
    let globals = globals(&mut shader, program, kernel, options);
    let subgroup_size = lanes::subgroup_size(kernel, options.features.subgroup)?;
    let function = Function { arguments: arguments(&mut shader, subgroup_size.is_some()), ..Function::default() };
    let mut code = Builder::new(&mut shader, function, |c| c.scalar_word(globals.scalars, ZERO));
    let zero = code.zero;
    code.name(zero, || "zero".to_string());
    let (thread, runs, subgroup) = match subgroup_size {
        Some(size) => {
            let [number, lane] = [SUBGROUP, LANE].map(|argument| code.argument(argument));
            let (thread, runs) = lanes::position(&mut code, kernel, size, number, lane);
            (thread, runs, Some(Subgroup { size, lane }))
        }
        None => ([0, 1, 2].map(|d| code.builtin(THREAD, d)), None, None),
    };
    let mut made = Gen {
        code,
        program,
        kernel,
        options,
        memo: Memo::new(),
        symbols: Map::default(),
        residues: Map::default(),
        params: Map::default(),
        places: Map::default(),
        thread,
        runs,
        subgroup,
        in_phase: false,
        steps: 0,
        code_places: PlaceTable::new(CodePlace::default()),
    };
    made.bind_blocks(globals.scalars, BLOCK);
    made.bind_scalars(globals.scalars, layout)?;
    made.bind_buffers(&globals, layout)?;
    let within = kernel.blocks.last().copied();
    let definition = within.and_then(|id| program.loops.get(id)?.definition);
    made.set_place(CodePlace { definition, within, ..CodePlace::default() });
    made.stmt(&kernel.body)?;
    let code_places = made.code_places;
    let function = made.code.finish();
    shader.module.entry_points.push(EntryPoint {
        name: "main".to_string(),
        stage: ShaderStage::Compute,
        early_depth_test: None,
        workgroup_size: lanes::workgroup(kernel, subgroup_size),
        workgroup_size_overrides: None,
        function,
        mesh_info: None,
        task_payload: None,
        incoming_ray_payload: None,
    });
    Ok((shader.module, code_places))
}

/// The variables of the module.
struct Globals {
    scalars: Handle<GlobalVariable>,
    buffers: Vec<Handle<GlobalVariable>>,
    shared: Option<Handle<GlobalVariable>>,
}

fn globals(shader: &mut Shader, program: &Program, kernel: &Kernel, options: Options) -> Globals {
    let word = shader.reg(Reg::U32);
    let atomic = shader.ty(TypeInner::Atomic(Reg::U32.scalar()));
    let words = shader.array(word, 4, None);
    let atomics = shader.array(atomic, 4, None);
    let scalars = binding(shader, "scalars".to_string(), 0, words, StorageAccess::LOAD);
    let buffers = (1..)
        .zip(&kernel.buffers)
        .map(|(number, b)| {
            let name = program.buffers.get(b.buf).map_or("buffer", |info| &info.name).to_string();
            let writes = writes(b, options);
            let access = match writes {
                Writes::None => StorageAccess::LOAD,
                Writes::Words | Writes::Pieces => StorageAccess::LOAD | StorageAccess::STORE,
            };
            binding(shader, name, number, if writes == Writes::Pieces { atomics } else { words }, access)
        })
        .collect();
    // Memory for no elements, as of an empty domain, is named by code that never runs.
    let shared_words = kernel.shared_words.max(u32::from(!kernel.shared.is_empty()));
    let shared = NonZeroU32::new(shared_words).map(|len| {
        let word = if super::atomic::shared(kernel) { atomic } else { word };
        let ty = shader.array(word, 4, Some(len));
        global(shader, "shared_words".to_string(), AddressSpace::WorkGroup, None, ty)
    });
    Globals { scalars, buffers, shared }
}

fn binding(
    shader: &mut Shader,
    name: String,
    number: u32,
    ty: Handle<Type>,
    access: StorageAccess,
) -> Handle<GlobalVariable> {
    let place = ResourceBinding { group: 0, binding: number };
    global(shader, name, AddressSpace::Storage { access }, Some(place), ty)
}

fn global(
    shader: &mut Shader,
    name: String,
    space: AddressSpace,
    binding: Option<ResourceBinding>,
    ty: Handle<Type>,
) -> Handle<GlobalVariable> {
    let memory_decorations = Default::default();
    let variable = GlobalVariable { name: Some(name), space, binding, ty, init: None, memory_decorations };
    shader.module.global_variables.append(variable, NOWHERE)
}

/// The arguments of the entry point.
const THREAD: u32 = 0;
const SUBGROUP: u32 = 0;
const BLOCK: u32 = 1;
const LANE: u32 = 2;

/// The numbers of the thread in its block and of the block in the grid; of lanes, that of the subgroup and of the lane.
fn arguments(shader: &mut Shader, lanes: bool) -> Vec<FunctionArgument> {
    let word = shader.reg(Reg::U32);
    let three = shader.ty(TypeInner::Vector { size: VectorSize::Tri, scalar: Reg::U32.scalar() });
    let block = ("block", three, BuiltIn::WorkGroupId);
    let list = match lanes {
        false => vec![("thread", three, BuiltIn::LocalInvocationId), block],
        true => vec![("subgroup", word, BuiltIn::SubgroupId), block, ("lane", word, BuiltIn::SubgroupInvocationId)],
    };
    let argument = |(name, ty, builtin): (&str, _, _)| FunctionArgument {
        name: Some(name.to_string()),
        ty,
        binding: Some(Binding::BuiltIn(builtin)),
    };
    list.into_iter().map(argument).collect()
}

impl Builder<'_> {
    /// A word of the scalars.
    fn scalar_word(&mut self, scalars: Handle<GlobalVariable>, word: u32) -> V {
        let (array, index) = (self.place_of_global(scalars), self.u32(word));
        let at = self.element(array, index);
        self.load(at)
    }
    /// An argument of the entry point.
    fn argument(&mut self, argument: u32) -> V {
        self.unevaluated(Expression::FunctionArgument(argument))
    }
    /// A dimension of an argument of the entry point, as an I32.
    fn builtin(&mut self, argument: u32, dim: u32) -> V {
        let base = self.argument(argument);
        let v = self.value(Expression::AccessIndex { base, index: dim });
        self.bits_as(Reg::I32, v)
    }
}

impl Gen<'_> {
    /// Gives the variables of the loops over blocks.
    fn bind_blocks(&mut self, scalars: Handle<GlobalVariable>, argument: u32) {
        for (d, &id) in (0..).zip(&self.kernel.blocks) {
            let first = self.code.scalar_word(scalars, FIRST_BLOCK + d);
            let first = self.code.bits_as(Reg::I32, first);
            let number = self.code.builtin(argument, d);
            let number = self.code.op(naga::BinaryOperator::Add, first, number);
            self.bind(Sym::Loop(id), [number].into());
        }
    }
    /// Gives the captures and parameters.
    fn bind_scalars(&mut self, scalars: Handle<GlobalVariable>, layout: &Layout) -> Emitted<()> {
        let kernel = self.kernel;
        for (i, (symbol, ty)) in kernel.captures.iter().enumerate() {
            let v = self.scalar(scalars, layout.scalar_word(i), ty.elem)?;
            self.bind(*symbol, [v].into());
        }
        for (symbol, multiple) in word_strides(self.program, kernel, self.options) {
            self.residues.insert(symbol, Residue::multiple_of(multiple));
        }
        for (i, &id) in (kernel.captures.len()..).zip(&kernel.params) {
            let Some((name, ty)) = self.program.params.get(id) else {
                return Err(Stop::Malformed(format!("{id:?} is not a parameter")));
            };
            let v = self.scalar(scalars, layout.scalar_word(i), Elem::Data(*ty))?;
            self.code.name(v, || name.clone());
            self.params.insert(id, v);
        }
        Ok(())
    }
    /// A scalar at a word of the scalars.
    fn scalar(&mut self, scalars: Handle<GlobalVariable>, word: u32, elem: Elem) -> Emitted<V> {
        let ty = match elem {
            Elem::Index => ScalarType::I32,
            Elem::Data(ty) => ty,
        };
        self.allowed(ty)?;
        let low = self.code.scalar_word(scalars, word);
        Ok(match ty.bits() {
            64 => {
                let high = self.code.scalar_word(scalars, word + 1);
                self.code.value_of_words(ty, low, high)
            }
            _ => self.code.value_of_word(ty, low),
        })
    }
    /// Says where the buffers and the memory of the block are.
    fn bind_buffers(&mut self, globals: &Globals, layout: &Layout) -> Emitted<()> {
        let kernel = self.kernel;
        for (i, b) in kernel.buffers.iter().enumerate() {
            self.allowed(self.program.buffers[b.buf].elem)?;
            let (array, offset) = (globals.buffers[i], self.code.scalar_word(globals.scalars, layout.offset_word(i)));
            self.places.insert(b.buf, Place::Buffer { array, offset, reads: b.reads, writes: writes(b, self.options) });
        }
        for row in &kernel.shared {
            let Some(array) = globals.shared else {
                return Err(Stop::Malformed(format!("{:?} is in shared memory, of which there is none", row.buf)));
            };
            self.places.insert(row.buf, Place::Shared { array, first_word: row.first_word });
        }
        for held in kernel.lanes.iter().flatten() {
            self.bind_held(held)?;
        }
        Ok(())
    }

    /// Gives a symbol its value.
    pub(super) fn bind(&mut self, symbol: Sym, value: Lanes) {
        if let [v] = *value {
            let program = self.program;
            self.code.name(v, || print::owner_name(symbol, program));
        }
        self.symbols.insert(symbol, value);
    }
    /// Refuses a type that the device does not compute in.
    pub(super) fn allowed(&self, ty: ScalarType) -> Emitted<()> {
        let has = |feature| match feature {
            Feature::Int64 => self.options.features.int64,
            Feature::Float64 => self.options.features.float64,
        };
        match needed(ty).iter().find(|&&feature| !has(feature)) {
            Some(&feature) => Err(Stop::Feature(ty, feature)),
            None => Ok(()),
        }
    }
    /// One value in so many lanes.
    pub(super) fn splat(v: V, lanes: u16) -> Lanes {
        Rc::from(vec![v; lanes.into()])
    }
}
