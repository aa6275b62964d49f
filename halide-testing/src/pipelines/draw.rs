//! A random pipeline while it is drawn, and what it is drawn from.

use super::constant::constant;
use super::options::PipelineOptions;
use super::random::Random;
use super::structure::Structure;
use halide_core::boundary;
use halide_core::expr::{Expr, IntoExpr};
use halide_core::func::Func;
use halide_core::param::{ImageParam, Param};
use halide_core::types::ScalarType::{self, *};

/// A pipeline while it is drawn.
pub(super) struct Draw {
    pub(super) random: Random,
    pub(super) options: PipelineOptions,
    /// The Funcs and images that can be read, oldest first.
    pub(super) sources: Vec<Source>,
    /// Parameters whose values are small integers, for coordinates and domains.
    pub(super) offset: Param<i32>,
    pub(super) count: Param<i32>,
    /// The number of reduction domains made.
    pub(super) domains: usize,
    /// The most doublings of coordinates so far, on the way from the Func that is drawn to an image.
    pub(super) deepest: usize,
    /// The number of reads that the Func that is drawn becomes so far, with all that it reads.
    pub(super) weight: usize,
    /// True if the read that is drawn doubles a coordinate.
    pub(super) doubled: bool,
    /// The number of coordinates around the expression that is drawn.
    pub(super) nested: usize,
    /// The number of sources that may be read, if not all may.
    pub(super) visible: Option<usize>,
    /// Parameters that choose and scale.
    pub(super) flag: Param<bool>,
    pub(super) real: Param<f32>,
}

/// Something that can be read.
pub(super) struct Source {
    pub(super) what: Readable,
    pub(super) types: Vec<ScalarType>,
    pub(super) dims: usize,
    /// The most doublings of coordinates on the way to an image.
    pub(super) doublings: usize,
    /// The number of reads that it becomes where it is inlined, with all that it reads.
    pub(super) weight: usize,
}

pub(super) enum Readable {
    Func(Func),
    Image(ImageParam),
}

impl Source {
    pub(super) fn func(&self) -> Option<&Func> {
        match &self.what {
            Readable::Func(func) => Some(func),
            Readable::Image(_) => None,
        }
    }
    /// The value of one tuple element.
    pub(super) fn read(&self, coords: &[Expr], element: usize) -> Expr {
        match &self.what {
            Readable::Func(func) => func.read(coords).at(element),
            Readable::Image(image) => image.read(coords),
        }
    }
}

/// The variables that an expression may use, and the Func that is being updated, if any.
pub(super) struct Scope<'a> {
    /// The Func's variables; in an update, those that stand alone on the left.
    pub(super) vars: Vec<Expr>,
    /// The variables of the update's domain.
    pub(super) rvars: Vec<Expr>,
    pub(super) own: Option<Own<'a>>,
}

/// The Func that is being updated.
pub(super) struct Own<'a> {
    pub(super) func: &'a Func,
    pub(super) types: &'a [ScalarType],
    /// For each dimension the coordinate that reads of it must have.
    pub(super) fixed: Vec<Option<Expr>>,
}

pub(super) const TYPES: [ScalarType; 11] = [Bool, I8, I16, I32, I64, U8, U16, U32, U64, F32, F64];

impl Draw {
    pub(super) fn new(random: Random, options: PipelineOptions) -> Draw {
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
    pub(super) fn graph(&mut self, name: &str) {
        match self.options.structure {
            Some(Structure::Arms) => self.arms(name),
            Some(Structure::Siblings) => self.siblings(name),
            Some(Structure::Stencils) => self.stencils(name),
            _ => {}
        }
    }

    /// The number of sources that may be read, oldest first.
    pub(super) fn readable(&self) -> usize {
        self.visible.unwrap_or(self.sources.len())
    }

    /// An input image: read as it is, or through a boundary condition only.
    pub(super) fn image(&mut self, name: &str) {
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
                _ => boundary::constant_exterior(&image, constant(&mut self.random, ty)),
            }),
            false => Readable::Image(image),
        };
        self.sources.push(Source { what, types: vec![ty], dims, doublings: 0, weight: 1 });
    }

    /// Any element type; those of 16-bit floats are rare.
    pub(super) fn any_type(&mut self) -> ScalarType {
        match self.random.below(40) {
            0 => F16,
            1 => BF16,
            _ => self.random.pick(&TYPES),
        }
    }

    /// A parameter as a value of its own type.
    pub(super) fn param(&mut self) -> Expr {
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
