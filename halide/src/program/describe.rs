//! Descriptions of programs.

use super::error::{ProgramError, ProgramErrorKind};
use super::slots::{Extent, Slot, SlotExtent, SlotSize, find};
use crate::pipeline::Pipeline;
use halide_core::buffer::Region;
use halide_core::error::Location;
use halide_core::types::ScalarType;
use halide_sched::schedule::Schedule;

/// Pipelines that run one after the other, in loops, on named buffers that stay between them: the *slots*.
///
/// [`Program::run`] adds a step. An image of the step's pipeline reads the slot of its name, an output Func writes it,
/// over the whole region of the slot; the elements of a tuple `f` write `f.0`, `f.1` and so on. A step may read and
/// write one slot: it reads what the slot held before. Steps run in the order in which they were added.
///
/// Descriptions never fail; [`Program::compile`] returns every mistake.
///
/// ```
/// use halide::prelude::*;
/// // Newton's method for square roots, until no element moves by much.
/// let (a, x, i) = (ImageParam::new("a", F64, 1), ImageParam::new("x", F64, 1), Var::new("i"));
/// let mut start = Func::new("x");
/// start[i] = max(a[i], 1.0f64);
///
/// let (mut next, mut moved) = (Func::new("x"), Func::new("moved"));
/// next[i] = (x[i] + a[i] / x[i]) * 0.5f64;
/// let r = RDom::over(&a);
/// let mut go = Func::new("go");
/// moved[()] = maximum(abs(next[r.x] - x[r.x]) / next[r.x]);
/// go[()] = moved[()].gt(1e-12f64);
///
/// let mut roots = Program::new("roots");
/// roots.input("a", F64, 1).state_like("x", "a").scalar("go", Bool);
/// roots.run(&Pipeline::new([&start])?, &Schedule::new());
/// let step = Pipeline::new([&next, &go])?;
/// let schedule: Schedule = "x: compute_root()".parse()?;
/// roots.run(&step, &schedule).repeat_while("go", 100, |roots| roots.run(&step, &schedule));
/// let compiled = roots.compile(&Target::host())?;
///
/// let squares = Buffer::from_slice([3], &[4.0, 2.25, 100.0])?;
/// let done = compiled.inputs().image_named("a", squares).run()?;
/// assert_eq!(done.state::<f64>("x")?.to_vec(), [2.0, 1.5, 10.0]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Program {
    pub(super) name: String,
    pub(super) slots: Vec<Slot>,
    pub(super) body: Vec<Item>,
    /// Mistakes in declarations.
    pub(super) mistakes: Vec<ProgramError>,
}

/// A part of a program.
#[derive(Clone, Debug)]
pub(super) enum Item {
    Step(Step),
    Repeat(Repeat),
    Once(Once),
}

/// One run of a pipeline.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) pipeline: Pipeline,
    pub(super) schedule: Schedule,
    /// Names of images and outputs with the slots that they are, where these have other names.
    pub(super) renamed: Vec<(String, String)>,
    pub(super) at: Location,
}

/// Parts that run again and again.
#[derive(Clone, Debug)]
pub(super) struct Repeat {
    pub(super) times: Times,
    pub(super) body: Vec<Item>,
    pub(super) at: Location,
}

/// Parts of a loop that run in one of its iterations only.
#[derive(Clone, Debug)]
pub(super) struct Once {
    pub(super) when: When,
    pub(super) body: Vec<Item>,
    pub(super) at: Location,
}

/// The iteration that parts of a loop run in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    First,
    Last,
}

impl When {
    /// The word that says it.
    pub(super) fn word(self) -> &'static str {
        match self {
            When::First => "first",
            When::Last => "last",
        }
    }
}

/// The number of times that a loop of a program runs.
#[derive(Clone, Debug)]
pub(super) enum Times {
    Constant(u64),
    /// The value of a parameter of the call.
    Param(String),
    /// No more often than this, and while a slot holds `true`, which is asked before every so many iterations.
    While {
        slot: String,
        every: u64,
        most: u64,
    },
}

impl Program {
    /// A program without slots and steps.
    pub fn new(name: impl Into<String>) -> Program {
        Program { name: name.into(), slots: Vec::new(), body: Vec::new(), mistakes: Vec::new() }
    }

    /// Declares a slot that the call gives. Steps may write it, too: the caller's buffer stays as it is.
    #[track_caller]
    pub fn input(&mut self, name: &str, ty: ScalarType, dims: usize) -> &mut Program {
        self.declare(name, ty, dims, SlotSize::Given, Location::caller())
    }
    /// Declares a slot over `region`.
    #[track_caller]
    pub fn state(&mut self, name: &str, ty: ScalarType, region: Region) -> &mut Program {
        self.declare(name, ty, region.dims(), SlotSize::Fixed(region), Location::caller())
    }
    /// Declares a slot of the type and over the region of the slot `like`.
    #[track_caller]
    pub fn state_like(&mut self, name: &str, like: &str) -> &mut Program {
        let ty = find(&self.slots, like).map(|id| self.slots[id.0].ty);
        self.declare_over(name, ty, like, Location::caller())
    }
    /// Declares a slot of type `ty` over the region of the slot `like`.
    #[track_caller]
    pub fn state_over(&mut self, name: &str, ty: ScalarType, like: &str) -> &mut Program {
        self.declare_over(name, Some(ty), like, Location::caller())
    }
    /// Declares a slot without dimensions: one value.
    #[track_caller]
    pub fn scalar(&mut self, name: &str, ty: ScalarType) -> &mut Program {
        self.declare(name, ty, 0, SlotSize::Fixed(Region::of_extents([0i32; 0])), Location::caller())
    }
    /// Declares a slot over the region that the steps need that read it, found before each run.
    ///
    /// ```
    /// use halide::prelude::*;
    /// let (input, across) = (ImageParam::new("input", I32, 1), ImageParam::new("sums", I32, 1));
    /// let x = Var::new("x");
    /// let (mut sums, mut output) = (Func::new("sums"), Func::new("output"));
    /// sums[x] = input[x] + input[x + 1];
    /// output[x] = across[x] * across[x + 2];
    /// let mut program = Program::new("products");
    /// program.input("input", I32, 1).intermediate("sums", I32, 1).state("output", I32, Region::of_extents([2]));
    /// program.run(&Pipeline::new([&sums])?, &Schedule::new()).run(&Pipeline::new([&output])?, &Schedule::new());
    /// let compiled = program.compile(&Target::host())?;
    /// let done = compiled.inputs().image(&input, Buffer::from_slice([5], &[1, 2, 3, 4, 5])?).run()?;
    /// assert_eq!(done.state::<i32>("sums")?.to_vec(), [3, 5, 7, 9]);
    /// assert_eq!(done.state::<i32>("output")?.to_vec(), [21, 45]);
    /// # Ok::<(), Error>(())
    /// ```
    #[track_caller]
    pub fn intermediate(&mut self, name: &str, ty: ScalarType, dims: usize) -> &mut Program {
        self.declare(name, ty, dims, SlotSize::Readers, Location::caller())
    }

    /// Declares a slot whose size is data: from coordinate 0 on, with an extent for each dimension, which is a number
    /// or the name of a slot without dimensions that holds an integer. A run asks for it each time that a step writes
    /// the slot, on the host, as it is before the step; the slot keeps that size until it is written again.
    ///
    /// ```
    /// use halide::prelude::*;
    /// // As many squares as there are elements of at least 10.
    /// let (data, i) = (ImageParam::new("data", I32, 1), Var::new("i"));
    /// let (mut count, mut squares) = (Func::new("count"), Func::new("squares"));
    /// let r = RDom::over(&data);
    /// count[()] = sum(select(data[r.x].ge(10), 1, 0));
    /// squares[i] = i * i;
    /// let mut program = Program::new("squares");
    /// program.input("data", I32, 1).scalar("count", I32).sized("squares", I32, ["count"]);
    /// program.run(&Pipeline::new([&count])?, &Schedule::new()).run(&Pipeline::new([&squares])?, &Schedule::new());
    /// let compiled = program.compile(&Target::host())?;
    /// let done = compiled.inputs().image(&data, Buffer::from_slice([5], &[3, 14, 9, 10, 77])?).run()?;
    /// assert_eq!(done.state::<i32>("squares")?.to_vec(), [0, 1, 4]);
    /// # Ok::<(), Error>(())
    /// ```
    #[track_caller]
    pub fn sized(
        &mut self,
        name: &str,
        ty: ScalarType,
        extents: impl IntoIterator<Item = impl Into<SlotExtent>>,
    ) -> &mut Program {
        let at = Location::caller();
        let extents: Vec<Extent> = extents.into_iter().filter_map(|e| self.extent(name, e.into(), at)).collect();
        self.declare(name, ty, extents.len(), SlotSize::Sized(extents), at)
    }

    /// Adds a step: a run of `pipeline` under `schedule`. Parameters of the pipeline are given by the call.
    #[track_caller]
    pub fn run(&mut self, pipeline: &Pipeline, schedule: &Schedule) -> &mut Program {
        self.step(pipeline, schedule, &[], Location::caller())
    }
    /// [`Program::run`], where images and outputs read and write slots of other names: pairs of the name in the
    /// pipeline and the slot. One pipeline can so be a step several times, on different slots.
    #[track_caller]
    pub fn run_on(&mut self, pipeline: &Pipeline, schedule: &Schedule, slots: &[(&str, &str)]) -> &mut Program {
        self.step(pipeline, schedule, slots, Location::caller())
    }

    /// Adds a loop: what `body` adds runs `times` times.
    #[track_caller]
    pub fn repeat(&mut self, times: u64, body: impl FnOnce(&mut Program) -> &mut Program) -> &mut Program {
        self.add_loop(Times::Constant(times), body, Location::caller())
    }
    /// Adds a loop: what `body` adds runs as many times as the call says by the parameter `times`, an integer.
    #[track_caller]
    pub fn repeat_param(&mut self, times: &str, body: impl FnOnce(&mut Program) -> &mut Program) -> &mut Program {
        self.add_loop(Times::Param(times.to_string()), body, Location::caller())
    }
    /// Adds a loop: what `body` adds runs as long as the slot `go`, a scalar of type `Bool`, holds `true`. A run that
    /// would need more than `most` iterations ends with an error.
    #[track_caller]
    pub fn repeat_while(
        &mut self,
        go: &str,
        most: u64,
        body: impl FnOnce(&mut Program) -> &mut Program,
    ) -> &mut Program {
        self.add_loop(Times::While { slot: go.to_string(), every: 1, most }, body, Location::caller())
    }
    /// [`Program::repeat_while`], which asks for the condition before the first iteration and after every `every` of
    /// them (at least 1): on a device each answer is waited for.
    #[track_caller]
    pub fn repeat_while_every(
        &mut self,
        go: &str,
        every: u64,
        most: u64,
        body: impl FnOnce(&mut Program) -> &mut Program,
    ) -> &mut Program {
        let (slot, every) = (go.to_string(), every.max(1));
        self.add_loop(Times::While { slot, every, most }, body, Location::caller())
    }

    /// Adds parts of a loop that run in its first iteration only.
    ///
    /// ```
    /// use halide::prelude::*;
    /// let (x, i) = (ImageParam::new("x", I32, 1), Var::new("i"));
    /// let step = |make: fn(Expr) -> Expr| {
    ///     let mut f = Func::new("x");
    ///     f[i] = make(x[i]);
    ///     Pipeline::new([&f])
    /// };
    /// let (twice, one, three) = (step(|x| x * 2)?, step(|x| x + 1)?, step(|x| x - 3)?);
    /// let plain = Schedule::new();
    /// let mut program = Program::new("peeled");
    /// program.input("x", I32, 1).repeat(3, |it| {
    ///     it.first(|it| it.run(&one, &plain)).run(&twice, &plain).last(|it| it.run(&three, &plain))
    /// });
    /// let compiled = program.compile(&Target::host())?;
    /// let done = compiled.inputs().image(&x, Buffer::from_slice([2], &[0, 1])?).run()?;
    /// assert_eq!(done.state::<i32>("x")?.to_vec(), [5, 13]);
    /// # Ok::<(), Error>(())
    /// ```
    #[track_caller]
    pub fn first(&mut self, body: impl FnOnce(&mut Program) -> &mut Program) -> &mut Program {
        self.add_once(When::First, body, Location::caller())
    }
    /// Adds parts of a loop that run in its last iteration only; not of a loop that runs while a slot says so, since
    /// no iteration of it knows that it is the last.
    #[track_caller]
    pub fn last(&mut self, body: impl FnOnce(&mut Program) -> &mut Program) -> &mut Program {
        self.add_once(When::Last, body, Location::caller())
    }

    /// The extent of a dimension of the slot `of`; `None` if it is a mistake.
    fn extent(&mut self, of: &str, extent: SlotExtent, at: Location) -> Option<Extent> {
        let of = of.to_string();
        let kind = match extent {
            SlotExtent::Fixed(extent) => return Some(Extent::Fixed(extent)),
            SlotExtent::Slot(slot) => match find(&self.slots, &slot) {
                Some(id) => match self.slots[id.0] {
                    Slot { ty, dims: 0, .. } if ty.is_int() => return Some(Extent::Slot(id)),
                    Slot { ty, dims, .. } => ProgramErrorKind::ExtentSlot { of, slot, ty, dims },
                },
                None => {
                    let known = self.slots.iter().map(|slot| slot.name.clone()).collect();
                    ProgramErrorKind::UnknownSlot { slot, known }
                }
            },
        };
        self.mistakes.push(ProgramError { at, step: None, kind });
        // So that the dimensions are as many as were said.
        Some(Extent::Fixed(0))
    }
    fn declare(&mut self, name: &str, ty: ScalarType, dims: usize, size: SlotSize, at: Location) -> &mut Program {
        if find(&self.slots, name).is_some() {
            let kind = ProgramErrorKind::RepeatedSlot { slot: name.to_string() };
            self.mistakes.push(ProgramError { at, step: None, kind });
            return self;
        }
        if let SlotSize::Fixed(region) = &size
            && let Err(error) = region.check()
        {
            let kind = ProgramErrorKind::Region { slot: name.to_string(), error };
            self.mistakes.push(ProgramError { at, step: None, kind });
        }
        if let SlotSize::Sized(extents) = &size {
            let spans = extents.iter().map(|extent| match extent {
                Extent::Fixed(extent) => (0, *extent),
                Extent::Slot(_) => (0, 1),
            });
            if let Err(error) = Region::of_spans(spans.collect::<Vec<_>>()).check() {
                let kind = ProgramErrorKind::Region { slot: name.to_string(), error };
                self.mistakes.push(ProgramError { at, step: None, kind });
            }
        }
        self.slots.push(Slot { name: name.to_string(), ty, dims, size, at });
        self
    }
    fn declare_over(&mut self, name: &str, ty: Option<ScalarType>, like: &str, at: Location) -> &mut Program {
        let (Some(id), Some(ty)) = (find(&self.slots, like), ty) else {
            let known = self.slots.iter().map(|slot| slot.name.clone()).collect();
            let kind = ProgramErrorKind::UnknownSlot { slot: like.to_string(), known };
            self.mistakes.push(ProgramError { at, step: None, kind });
            return self;
        };
        self.declare(name, ty, self.slots[id.0].dims, SlotSize::Like(id), at)
    }
    fn step(&mut self, pipeline: &Pipeline, schedule: &Schedule, on: &[(&str, &str)], at: Location) -> &mut Program {
        let renamed = on.iter().map(|(from, to)| (from.to_string(), to.to_string())).collect();
        let (pipeline, schedule) = (pipeline.clone(), schedule.clone());
        self.body.push(Item::Step(Step { pipeline, schedule, renamed, at }));
        self
    }
    fn add_loop(
        &mut self,
        times: Times,
        body: impl FnOnce(&mut Program) -> &mut Program,
        at: Location,
    ) -> &mut Program {
        let body = self.added_by(body);
        self.body.push(Item::Repeat(Repeat { times, body, at }));
        self
    }
    fn add_once(&mut self, when: When, body: impl FnOnce(&mut Program) -> &mut Program, at: Location) -> &mut Program {
        let body = self.added_by(body);
        self.body.push(Item::Once(Once { when, body, at }));
        self
    }
    /// The parts that `body` adds.
    fn added_by(&mut self, body: impl FnOnce(&mut Program) -> &mut Program) -> Vec<Item> {
        let before = std::mem::take(&mut self.body);
        body(self);
        std::mem::replace(&mut self.body, before)
    }
}

impl Step {
    /// The names of the outputs, by which messages speak of a step.
    pub(super) fn name(&self) -> String {
        let data = &self.pipeline;
        let names: Vec<&str> = data.outputs.iter().map(|f| data.funcs[*f].name.as_str()).collect();
        names.join(", ")
    }
}
