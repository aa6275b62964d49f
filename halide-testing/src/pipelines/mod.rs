//! Pipelines that nobody wrote, for tests and fuzzing; and how to make a pipeline that fails a test smaller.
//!
//! A pipeline belongs to its seed: the same on every machine. It has no mistakes, its coordinates stay small, and every
//! coordinate that depends on data is bounded, so that lowering accepts it under every legal schedule; unless its
//! coordinates may reach far. What each pipeline is to have can be asked for ([`Structure`]).

mod coordinate;
mod external;
mod far;
mod given;
mod graph;
mod own;
mod random;
mod shrink;
mod stage;
mod structure;
#[cfg(test)]
mod tests;
mod update;
mod value;

pub use random::Random;
pub use shrink::smaller;
pub use structure::{Coordinate, Structure, Update};

use halide_core::boundary;
use halide_core::expr::{Expr, IntoExpr};
use halide_core::func::Func;
use halide_core::param::{ImageParam, Param};
use halide_core::pipeline::Pipeline;
use halide_core::types::ScalarType::{self, *};

/// Options for the pipelines that are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PipelineOptions {
    /// The most Funcs, not counting those of boundary conditions and inline reductions.
    pub stages: usize,
    /// Only what needs all of the region that boxes can say it needs: no coordinate that depends on data or on several
    /// variables, no choice between reads, no updates of single points. Bounds inference must then be exact.
    pub exact: bool,
    /// Also what asks something of the caller: rules for the shapes of buffers, promises of the elements of inputs,
    /// rows whose offsets are such elements, an output that may be in an input's memory; and extern stages. A run must
    /// then give buffers and elements as the pipeline says.
    pub given: bool,
    /// Also coordinates that nothing keeps near: narrow integers that wrap, quotients of floats, products of data. A
    /// run may then end because regions are too large, or leave 32 bits.
    pub far: bool,
    /// A structure that the pipeline is to have.
    pub structure: Option<Structure>,
}

impl Default for PipelineOptions {
    fn default() -> Self {
        PipelineOptions { stages: 10, exact: false, given: false, far: false, structure: None }
    }
}

/// The pipeline that belongs to `seed`.
pub fn random_pipeline(seed: u64, options: PipelineOptions) -> Pipeline {
    let mut draw = Draw::new(Random::new(seed), options);
    let most = 1 + draw.random.below(options.stages);
    let stages = 1 + draw.random.below(most);
    // What is asked for comes first, in the middle or last.
    let special = draw.random.below(stages + 1);
    for number in 0..stages {
        if number == special {
            draw.graph("g");
        }
        draw.stage(&format!("f{number}"));
    }
    if special == stages {
        draw.graph("g");
    }
    if options.given && draw.random.one_in(3) {
        draw.in_place("result");
    }
    let funcs: Vec<&Func> = draw.sources.iter().filter_map(Source::func).collect();
    let mut outputs: Vec<&Func> = funcs.last().copied().into_iter().collect();
    // Siblings are often outputs, which stay where they are.
    let most = if options.structure == Some(Structure::Siblings) { 3 } else { 8 };
    // Sometimes what nothing reads is an output too, or anything.
    for func in &funcs[..funcs.len().saturating_sub(1)] {
        // The graph that was asked for is there, whoever reads it.
        if draw.random.one_in(most) || func.name() == "g" {
            outputs.push(func);
        }
    }
    if options.given {
        outputs.iter().for_each(|func| given::output_rules(&mut draw.random, draw.offset, func));
    }
    match Pipeline::new(outputs) {
        Ok(pipeline) => pipeline,
        Err(mistakes) => panic!("the pipeline of seed {seed} has mistakes, which is a bug here:\n{mistakes}"),
    }
}

/// A pipeline while it is drawn.
struct Draw {
    random: Random,
    options: PipelineOptions,
    /// The Funcs and images that can be read, oldest first.
    sources: Vec<Source>,
    /// Parameters whose values are small integers, for coordinates and domains.
    offset: Param<i32>,
    count: Param<i32>,
    /// The number of reduction domains made.
    domains: usize,
    /// The most doublings of coordinates so far, on the way from the Func that is drawn to an image.
    deepest: usize,
    /// The number of reads that the Func that is drawn becomes so far, with all that it reads.
    weight: usize,
    /// True if the read that is drawn doubles a coordinate.
    doubled: bool,
    /// The number of coordinates around the expression that is drawn.
    nested: usize,
    /// The number of sources that may be read, if not all may.
    visible: Option<usize>,
    /// Parameters that choose and scale.
    flag: Param<bool>,
    real: Param<f32>,
}

/// Something that can be read.
struct Source {
    what: Readable,
    types: Vec<ScalarType>,
    dims: usize,
    /// The most doublings of coordinates on the way to an image.
    doublings: usize,
    /// The number of reads that it becomes where it is inlined, with all that it reads.
    weight: usize,
}

enum Readable {
    Func(Func),
    Image(ImageParam),
}

impl Source {
    fn func(&self) -> Option<&Func> {
        match &self.what {
            Readable::Func(func) => Some(func),
            Readable::Image(_) => None,
        }
    }
    /// The value of one tuple element.
    fn read(&self, coords: &[Expr], element: usize) -> Expr {
        match &self.what {
            Readable::Func(func) => func.read(coords).at(element),
            Readable::Image(image) => image.read(coords),
        }
    }
}

/// The variables that an expression may use, and the Func that is being updated, if any.
struct Scope<'a> {
    /// The Func's variables; in an update, those that stand alone on the left.
    vars: Vec<Expr>,
    /// The variables of the update's domain.
    rvars: Vec<Expr>,
    own: Option<Own<'a>>,
}

/// The Func that is being updated.
struct Own<'a> {
    func: &'a Func,
    types: &'a [ScalarType],
    /// For each dimension the coordinate that reads of it must have.
    fixed: Vec<Option<Expr>>,
}

const TYPES: [ScalarType; 11] = [Bool, I8, I16, I32, I64, U8, U16, U32, U64, F32, F64];

impl Draw {
    fn new(random: Random, options: PipelineOptions) -> Draw {
        let offset = Param::new("offset").with_range(-2, 3);
        let count = Param::new("count").with_range(0, 4);
        let (flag, real) = (Param::new("flag"), Param::new("real").with_range(-2.0, 2.0));
        let mut draw = Draw {
            random,
            options,
            sources: Vec::new(),
            offset,
            count,
            domains: 0,
            deepest: 0,
            weight: 0,
            doubled: false,
            nested: 0,
            visible: None,
            flag,
            real,
        };
        for number in 0..1 + draw.random.below(2) {
            draw.image(&format!("in{number}"));
        }
        draw
    }

    /// The Funcs of the graph that is asked for, if one is.
    fn graph(&mut self, name: &str) {
        match self.options.structure {
            Some(Structure::Arms) => self.arms(name),
            Some(Structure::Siblings) => self.siblings(name),
            Some(Structure::Stencils) => self.stencils(name),
            _ => {}
        }
    }

    /// The number of sources that may be read, oldest first.
    fn readable(&self) -> usize {
        self.visible.unwrap_or(self.sources.len())
    }

    /// An input image: read as it is, or through a boundary condition only.
    fn image(&mut self, name: &str) {
        let (ty, dims) = (self.any_type(), 1 + self.random.below(3));
        let image = ImageParam::new(name, ty, dims);
        if self.options.given && self.random.one_in(2) {
            self.input_rules(&image);
        }
        let bounded = !self.options.exact && self.random.one_in(3);
        let what = match bounded {
            true => Readable::Func(match self.random.below(5) {
                0 => boundary::repeat_edge(&image),
                1 => boundary::repeat_image(&image),
                2 => boundary::mirror_image(&image),
                3 => boundary::mirror_interior(&image),
                _ => boundary::constant_exterior(&image, value::constant(&mut self.random, ty)),
            }),
            false => Readable::Image(image),
        };
        self.sources.push(Source { what, types: vec![ty], dims, doublings: 0, weight: 1 });
    }

    /// Any element type; those of 16-bit floats are rare.
    fn any_type(&mut self) -> ScalarType {
        match self.random.below(40) {
            0 => F16,
            1 => BF16,
            _ => self.random.pick(&TYPES),
        }
    }

    /// A parameter as a value of its own type.
    fn param(&mut self) -> Expr {
        match self.random.below(6) {
            0 => self.offset.expr(),
            1 => self.count.expr(),
            2 => Param::<u8>::new("byte").expr(),
            3 => self.real.expr(),
            4 => self.flag.expr(),
            _ => Param::<i64>::new("wide").expr(),
        }
    }
}
