//! Reading images, and Funcs as far as they are known.

use super::error::RunError;
use super::mask::Mask;
use super::store::Points;
use super::world::{Requests, World};
use crate::buffer::AnyBuffer;
use crate::ids::{FuncId, ImageId};

/// The stage that reads, for messages.
pub(super) struct Reader<'a> {
    pub(super) world: &'a World<'a>,
    pub(super) func: FuncId,
    pub(super) stage: usize,
}

/// The source of a read: an element of a Func, after a number of stages.
pub(super) struct Source {
    pub(super) func: FuncId,
    pub(super) stages: u32,
    pub(super) element: usize,
}

impl Reader<'_> {
    pub(super) fn read_image(
        &self,
        image: ImageId,
        columns: &[&[u64]],
        out: &mut [u64],
        ready: Mask,
    ) -> Result<Mask, RunError> {
        let buffer: &AnyBuffer = &self.world.bound.images[image];
        let mut at = vec![0i64; columns.len()];
        for lane in ready.lanes() {
            for (c, column) in at.iter_mut().zip(columns) {
                *c = column[lane] as i64;
            }
            match buffer.get(&at) {
                Some(value) => out[lane] = value.bits(),
                None => return Err(self.outside(image, &at)),
            }
        }
        Ok(ready)
    }

    /// Reads what the Func's own buffer holds before the run.
    pub(super) fn read_before(
        &self,
        element: usize,
        vars: &[Vec<i32>],
        out: &mut [u64],
        ready: Mask,
    ) -> Result<Mask, RunError> {
        let buffer = self.world.before.get(&self.func).map(|buffers| &buffers[element]);
        for lane in ready.lanes() {
            let at: Vec<i64> = vars.iter().map(|column| i64::from(column[lane])).collect();
            out[lane] = match buffer {
                None => 0,
                Some(buffer) => match buffer.get(&at) {
                    Some(value) => value.bits(),
                    None => return Err(self.outside_of(buffer, self.func_name(), &at)),
                },
            };
        }
        Ok(ready)
    }

    /// Reads the known values, and requests the others.
    pub(super) fn read_func(
        &self,
        from: Source,
        columns: &[&[u64]],
        out: &mut [u64],
        ready: Mask,
        requests: &mut Requests,
    ) -> Result<Mask, RunError> {
        let (store, mut known) = (&self.world.stores[from.func], Mask::NONE);
        let mut at = vec![0i32; columns.len()];
        for lane in ready.lanes() {
            for (dim, (c, column)) in at.iter_mut().zip(columns).enumerate() {
                *c = self.coordinate(from.func, dim, column[lane] as i64)?;
            }
            match store.find(&at).filter(|place| store.applied(*place) >= from.stages) {
                Some(place) => {
                    out[lane] = store.value(place, from.element);
                    known.insert(lane);
                }
                None => {
                    let key = (from.func, from.stages);
                    requests.entry(key).or_insert_with(|| Points::new(at.len())).push(&at);
                }
            }
        }
        Ok(known)
    }

    fn outside(&self, image: ImageId, at: &[i64]) -> RunError {
        let name = self.world.pipeline.images[image].name.clone();
        self.outside_of(&self.world.bound.images[image], name, at)
    }
    fn func_name(&self) -> String {
        self.world.pipeline.funcs[self.func].name.clone()
    }
    fn outside_of(&self, buffer: &AnyBuffer, image: String, at: &[i64]) -> RunError {
        let dim = buffer.dims().iter().zip(at).position(|(d, c)| !d.span().contains(*c)).unwrap_or(0);
        RunError::ReadOutside {
            func: self.func_name(),
            image,
            dim,
            at: at.get(dim).copied().unwrap_or(0),
            min: buffer.min(dim),
            extent: buffer.extent(dim),
        }
    }
    /// A coordinate at which `of` is accessed, if it is one.
    pub(super) fn coordinate(&self, of: FuncId, dim: usize, at: i64) -> Result<i32, RunError> {
        let name = |f: FuncId| self.world.pipeline.funcs[f].name.clone();
        i32::try_from(at).map_err(|_| RunError::CoordinateOverflow {
            func: name(self.func),
            stage: self.stage,
            of: name(of),
            dim,
            at,
        })
    }
    pub(super) fn overflow(&self) -> RunError {
        RunError::IndexOverflow { func: self.world.pipeline.funcs[self.func].name.clone(), stage: self.stage }
    }
    pub(super) fn malformed(&self, reason: &str) -> RunError {
        let func = self.world.pipeline.funcs[self.func].name.clone();
        RunError::Malformed { func, stage: self.stage, reason: reason.to_string() }
    }
}
