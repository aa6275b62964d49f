//! Values of images that another plan computes: what is known of the integers that a memoized Func holds, as its
//! readers' plan says it.
//!
//! A Func that is cut out of a pipeline is an image for what reads it. Where its elements become coordinates, nothing
//! but their type would bound these. The plan that computes it knows more (`value_bounds`), in constants, parameters
//! and the shapes of images, which both are given alike.

use super::value_bounds;
use crate::lower::nests::ctx::Ctx;
use crate::lower::options::LowerOptions;
use crate::lower::regions::facts;
use crate::plan::{HeldValues, Plan, image_buffer};
use halide_core::ids::{ImageId, ParamId};
use halide_core::pipeline::{ImageDef, Pipeline, PipelineData};
use halide_core::promise::ValuePromise;
use halide_ir::visit::{Memo, any_node, map_children};
use halide_ir::{BufferRole, Expr, ExprKind, Program, Sym, build};

/// Returns what `producer` knows of the values of its outputs: `images` are the names of the images that stand for them
/// in `reader`, one for each element of each output, in order. `reader` gets the parameters and images that the ends
/// are made of, if it has none of their names.
pub fn held_values(reader: &mut Pipeline, producer: &Plan, images: &[String]) -> HeldValues {
    // Readers rely on this in calls of any size.
    let options = LowerOptions { may_be_empty: true, ..LowerOptions::default() };
    let ctx = Ctx::new(producer, &options);
    let facts = facts::of_program(&ctx.program, &producer.pipeline, &options);
    let found = value_bounds::of_outputs(&ctx, &facts);
    let bufs = producer.pipeline.outputs.iter().flat_map(|func| &ctx.program.func_buffers[*func]);
    let mut data = PipelineData::clone(reader);
    let mut held = HeldValues::new();
    for (buf, name) in bufs.zip(images) {
        let read = data.images.enumerate().find(|(_, def)| def.name == *name).map(|(id, def)| (id, def.ty));
        let Some(((image, ty), interval)) = read.zip(found.known.get(buf)) else { continue };
        let mut made = Made { program: &ctx.program, producer, reader: &mut data };
        let known = value_bounds::kept_ends(ty, interval.clone(), &facts, |end| made.end(&end));
        held.extend(known.map(|interval| (image, interval)));
    }
    *reader = Pipeline::from_data(data);
    held
}

/// The maker of ends in the numbers of the pipeline that reads the values.
struct Made<'p> {
    program: &'p Program,
    producer: &'p Plan,
    reader: &'p mut PipelineData,
}

impl Made<'_> {
    /// An end in the numbers of the reader; `None` if it is made of something that a reader cannot have.
    fn end(&mut self, end: &Expr) -> Option<Expr> {
        let is_known = |e: &Expr| match e.kind() {
            ExprKind::Sym(Sym::Buffer { buf, .. }) => matches!(self.program.buffers[*buf].role, BufferRole::Input(_)),
            ExprKind::Sym(_) => false,
            _ => true,
        };
        if any_node(end, |e| !is_known(e)) {
            return None;
        }
        Some(Memo::new().rewrite(end, |e, done| match e.kind() {
            ExprKind::Sym(Sym::Buffer { buf, dim, field }) => match self.program.buffers[*buf].role {
                BufferRole::Input(image) => {
                    let buf = image_buffer(self.image(image));
                    build::sym(Sym::Buffer { buf, dim: *dim, field: *field })
                }
                BufferRole::Output(_) | BufferRole::Internal => e.clone(),
            },
            ExprKind::Param(param) => {
                let (id, def) = (self.param(*param), &self.producer.pipeline.params[*param]);
                build::param(id, def.ty)
            }
            _ => map_children(e, done),
        }))
    }
    /// The image of this name; one that is new has no promises, which the producer's runs check.
    fn image(&mut self, image: ImageId) -> ImageId {
        let def = &self.producer.pipeline.images[image];
        let known = self.reader.images.enumerate().find(|(_, own)| own.name == def.name).map(|(id, _)| id);
        let plain = || ImageDef { values: ValuePromise::default(), coordinates: Vec::new(), ..def.clone() };
        known.unwrap_or_else(|| self.reader.images.push(plain()))
    }
    /// The parameter of this name.
    fn param(&mut self, param: ParamId) -> ParamId {
        let def = &self.producer.pipeline.params[param];
        let known = self.reader.params.enumerate().find(|(_, own)| own.name == def.name).map(|(id, _)| id);
        known.unwrap_or_else(|| self.reader.params.push(def.clone()))
    }
}
