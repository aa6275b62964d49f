//! The interface of a pipeline as bytes: what `Inputs::bind` and the checks of outputs ask for.
//!
//! Rules for shapes are not part of it: programs check them themselves, with the values of their expressions.

use crate::words::{Reader, Writer};
use halide_core::error::Location;
use halide_core::ids::{FuncId, Id, IdVec, ImageId, VarId};
use halide_core::pipeline::{FuncDef, ImageDef, ParamDef, PipelineData};
use halide_core::promise::{CoordinatePromise, ValuePromise};
use halide_core::shape::{AlignmentRule, BufferOf};
use halide_core::types::ScalarType;
use halide_core::value::Scalar;

/// The most dimensions of a buffer, so that a wrong number of them is seen before memory is asked for.
const MOST_DIMS: usize = 1 << 10;

/// Writes the interface.
pub(super) fn write(pipeline: &PipelineData, out: &mut Writer) {
    let params: Vec<&ParamDef> = pipeline.params.iter().collect();
    out.list(params, |out, param| {
        out.bytes(param.name.as_bytes());
        write_type(param.ty, out);
        [param.default, param.min, param.max].into_iter().for_each(|v| out.option(v, |out, v| out.word(v.bits())));
    });
    let images: Vec<&ImageDef> = pipeline.images.iter().collect();
    out.list(images, write_image);
    let mut funcs: Vec<FuncId> = Vec::new();
    for func in &pipeline.outputs {
        if !funcs.contains(func) {
            funcs.push(*func);
        }
    }
    let position = |func: FuncId| funcs.iter().position(|f| *f == func).unwrap_or(funcs.len()) as u64;
    out.list(&funcs, |out, func| {
        let def = &pipeline.funcs[*func];
        out.bytes(def.name.as_bytes());
        out.word(def.dims() as u64);
        out.list(&def.types, |out, ty| write_type(*ty, out));
    });
    out.list(&pipeline.outputs, |out, func| out.word(position(*func)));
    out.list(&pipeline.alignments, |out, AlignmentRule { of, bytes, at }| {
        match of {
            BufferOf::Image(image) => out.word((image.index() as u64) << 1),
            BufferOf::Output(func) => out.word(position(*func) << 1 | 1),
        }
        out.word(*bytes);
        out.bytes(at.file.as_bytes());
        out.word(u64::from(at.line));
        out.word(u64::from(at.column));
    });
}

/// Reads an interface that [`write`] wrote, as a pipeline without definitions.
pub(super) fn read(from: &mut Reader<'_>) -> Option<PipelineData> {
    let params = from.list(|from| {
        let (name, ty) = (from.text()?, read_type(from)?);
        let mut value = || from.option(|from| Some(Scalar::from_bits(ty, from.word()?)));
        let (default, min, max) = (value()?, value()?, value()?);
        Some(ParamDef { name, ty, default, min, max, at: nowhere() })
    })?;
    let images = from.list(read_image)?;
    let funcs = from.list(|from| {
        let (name, dims) = (from.text()?, read_dims(from)?);
        let types = from.list(read_type)?;
        let (said, args) = (name.clone(), vec![VarId::new(0); dims]);
        Some(FuncDef { name, said, args, types, stages: Vec::new(), at: nowhere() })
    })?;
    let outputs = from.list(|from| Some(FuncId::new(from.count().filter(|n| *n < funcs.len())?)))?;
    let alignments = from.list(|from| {
        let of = from.count()?;
        let of = match of & 1 {
            0 => BufferOf::Image(ImageId::new(Some(of >> 1).filter(|n| *n < images.len())?)),
            _ => BufferOf::Output(FuncId::new(Some(of >> 1).filter(|n| *n < funcs.len())?)),
        };
        let bytes = from.word().filter(|bytes| *bytes > 0)?;
        let (file, line, column) = (from.text()?, from.word()?, from.word()?);
        let at = Location::in_text(&file, u32::try_from(line).ok()?, u32::try_from(column).ok()?);
        Some(AlignmentRule { of, bytes, at })
    })?;
    let known = |c: &CoordinatePromise| images.get(c.image.index()).is_some_and(|of| c.dim < of.dims);
    if !images.iter().all(|image| image.coordinates.iter().all(known)) {
        return None;
    }
    Some(PipelineData {
        params: params.into_iter().collect(),
        images: images.into_iter().collect(),
        vars: IdVec::from_iter([String::new()]),
        order: (0..funcs.len()).map(FuncId::new).collect(),
        funcs: funcs.into_iter().collect(),
        outputs,
        alignments,
        ..PipelineData::default()
    })
}

fn write_image(out: &mut Writer, image: &ImageDef) {
    let ValuePromise { range, grows, distinct } = image.values;
    out.bytes(image.name.as_bytes());
    write_type(image.ty, out);
    out.word(image.dims as u64);
    out.option(range, |out, (min, max)| [min, max].into_iter().for_each(|v| out.word(v as u64)));
    out.option(grows, |out, dim| out.word(dim as u64));
    out.word(u64::from(distinct));
    out.list(&image.coordinates, |out, promise| {
        out.word(promise.image.index() as u64);
        out.word(promise.dim as u64);
    });
}

fn read_image(from: &mut Reader<'_>) -> Option<ImageDef> {
    let (name, ty, dims) = (from.text()?, read_type(from)?, read_dims(from)?);
    let range = from.option(|from| Some((from.word()? as i64, from.word()? as i64)))?;
    let grows = from.option(|from| from.count().filter(|dim| *dim < dims))?;
    let values = ValuePromise { range, grows, distinct: from.word()? != 0 };
    let coordinates =
        from.list(|from| Some(CoordinatePromise { image: ImageId::new(from.count()?), dim: from.count()? }))?;
    Some(ImageDef { name, ty, dims, values, coordinates, at: nowhere() })
}

fn write_type(ty: ScalarType, out: &mut Writer) {
    out.bytes(ty.name().as_bytes());
}

fn read_type(from: &mut Reader<'_>) -> Option<ScalarType> {
    ScalarType::parse(&from.text()?)
}

fn read_dims(from: &mut Reader<'_>) -> Option<usize> {
    from.count().filter(|dims| *dims <= MOST_DIMS)
}

/// The place of what no message tells the place of.
fn nowhere() -> Location {
    Location::in_text("", 0, 0)
}
