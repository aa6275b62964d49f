//! The names that a caller gives, looked up.

use super::activity::Target;
use super::error::{AdjointError, AdjointErrorKind, AdjointErrors};
use crate::ids::FuncId;
use crate::location::Location;
use crate::pipeline::PipelineData;
use std::collections::BTreeMap;

/// The region of a Func, by its name: `(min, extent)` of each dimension.
pub type FuncRegion<'r> = (&'r str, &'r [(i32, i32)]);

/// A request for gradients.
pub(super) struct Request {
    pub(super) loss: FuncId,
    /// The inputs in question: images and parameters of floats, each once.
    pub(super) by: Vec<Target>,
    /// The regions that the caller gives.
    pub(super) regions: BTreeMap<FuncId, Vec<(i32, i32)>>,
}

impl Request {
    /// Looks names up and checks types and dimensions.
    pub(super) fn new(
        data: &PipelineData,
        loss: &str,
        by: &[&str],
        regions: &[FuncRegion<'_>],
        at: Location,
    ) -> Result<Request, AdjointErrors> {
        let mut errors: Vec<AdjointErrorKind> = Vec::new();
        let mut given = BTreeMap::new();
        for (name, region) in regions {
            match find_func(data, name) {
                Ok(func) if data.funcs[func].dims() == region.len() => {
                    given.insert(func, region.to_vec());
                }
                Ok(func) => {
                    let (dims, given) = (data.funcs[func].dims(), region.len());
                    errors.push(AdjointErrorKind::RegionDims { func: name.to_string(), dims, given });
                }
                Err(error) => errors.push(error),
            }
        }
        let loss = find_func(data, loss).and_then(|func| match check_loss(data, func, given.contains_key(&func)) {
            Some(error) => Err(error),
            None => Ok(func),
        });
        let mut targets = Vec::new();
        for name in by {
            match find_input(data, name) {
                Ok(target) if !targets.contains(&target) => targets.push(target),
                Ok(_) => errors.push(AdjointErrorKind::Repeated { input: name.to_string() }),
                Err(error) => errors.push(error),
            }
        }
        if by.is_empty() {
            errors.push(AdjointErrorKind::NoInputs);
        }
        match loss {
            Ok(loss) if errors.is_empty() => Ok(Request { loss, by: targets, regions: given }),
            loss => {
                errors.extend(loss.err());
                errors.sort();
                Err(AdjointErrors(errors.into_iter().map(|kind| AdjointError { at, kind }).collect()))
            }
        }
    }
}

fn find_func(data: &PipelineData, name: &str) -> Result<FuncId, AdjointErrorKind> {
    let found = data.order.iter().copied().find(|&f| data.funcs[f].name == name);
    found.ok_or_else(|| {
        let known = data.order.iter().map(|&f| data.funcs[f].name.clone()).collect();
        AdjointErrorKind::UnknownFunc { func: name.to_string(), known }
    })
}

/// The reason that a Func is no loss.
fn check_loss(data: &PipelineData, func: FuncId, has_region: bool) -> Option<AdjointErrorKind> {
    let def = &data.funcs[func];
    let loss = def.name.clone();
    match def.types[..] {
        [ty] if !ty.is_float() => Some(AdjointErrorKind::LossType { loss, ty }),
        [_] if def.dims() > 0 && !has_region => Some(AdjointErrorKind::LossDims { loss, dims: def.dims() }),
        [_] => None,
        _ => Some(AdjointErrorKind::LossElements { loss, elements: def.types.len() }),
    }
}

fn find_input(data: &PipelineData, name: &str) -> Result<Target, AdjointErrorKind> {
    let images = data.images.enumerate().filter(|(id, _)| !data.is_result(*id));
    let images = images.map(|(id, image)| (&image.name, image.ty, Target::Image(id)));
    let params = data.params.enumerate().map(|(id, param)| (&param.name, param.ty, Target::Param(id)));
    let inputs: Vec<_> = images.chain(params).collect();
    let input = name.to_string();
    match inputs.iter().find(|(known, ..)| *known == name) {
        Some((_, ty, target)) if ty.is_float() => Ok(*target),
        Some((_, ty, _)) => Err(AdjointErrorKind::InputType { input, ty: *ty }),
        None => {
            let known = inputs.iter().map(|(known, ..)| known.to_string()).collect();
            Err(AdjointErrorKind::UnknownInput { input, known })
        }
    }
}
