//! Extern stages in compiled pipelines: before a run, each is asked what it needs, that is computed, and its closure
//! called; its results are inputs of what reads them.
//!
//! What computes the inputs of a stage is a compiled pipeline of its own, of the same engine, under those directives of
//! the schedule that speak of its Funcs. It may read the results of other stages in turn. A stage that is read in
//! several of these pipelines runs once for each.
//!
//! Once frozen, such a Func reads an input image which nobody gives. `plan::main_part` and `plan::part` cut the
//! pipeline at these images. Nothing below this module knows of extern stages.

use crate::compiled::{Feeder, MemoUse, StageFeeder};
use crate::error::Error;
use crate::input_requirements::{InputNeed, Spans};
use crate::memory::dense_bytes;
use crate::run_options::How;
use halide_core::buffer::{AnyBuffer, Region};
use halide_core::externs::{ExternFault, ExternInput};
use halide_core::ids::FuncId;
use halide_core::interp::{Inputs, RunError};
use halide_core::limits::bytes_of;
use halide_core::value::Scalar;
use halide_sched::lower::storage::in_place::InPlaceProblem;
use halide_sched::plan::HeldValues;
use std::ops::Range;

impl StageFeeder {
    /// The values of the parameters that the stage may ask for.
    fn params(&self, inputs: &Inputs) -> Result<Vec<Scalar>, RunError> {
        let params = inputs.restricted(&self.whole).bind_partly(&self.whole)?.params;
        Ok(self.stage.params.iter().map(|p| params[*p]).collect())
    }

    /// The region of the stage that is read, as `needs` say; `None` where nobody reads it.
    fn region(&self, needs: &[InputNeed]) -> Option<Region> {
        let own = needs.iter().filter(|n| self.gives(&n.name));
        own.map(|n| n.region.clone()).reduce(|a, b| a.around(&b))
    }

    /// Returns the regions that the closure needs of each input for `region`, and their union for each output of the
    /// producer.
    fn asked(&self, region: &Region, inputs: &Inputs) -> Result<(Vec<Region>, Vec<Region>), Error> {
        let asked = self.stage.needs(&self.whole, region, &self.params(inputs)?)?;
        let mut wanted: Vec<(_, Region)> = Vec::new();
        for (input, region) in self.stage.inputs.iter().zip(&asked) {
            let ExternInput::Func(func) = input else { continue };
            match wanted.iter_mut().find(|(known, _)| known == func) {
                Some((_, all)) => *all = all.around(region),
                None => wanted.push((*func, region.clone())),
            }
        }
        Ok((asked, wanted.into_iter().map(|(_, region)| region).collect()))
    }
}

impl Feeder for StageFeeder {
    fn gives(&self, name: &str) -> bool {
        self.results.iter().flatten().any(|own| own == name)
    }
    fn feed(&self, inputs: &Inputs, needs: &[InputNeed], how: &How) -> Result<Vec<(String, AnyBuffer)>, Error> {
        let Some(region) = self.region(needs) else { return Ok(Vec::new()) };
        let (asked, wanted) = self.asked(&region, inputs)?;
        let computed = match &self.producer {
            Some(producer) => producer.inputs().with_given(inputs).within(&how.unobserved()).realize_all(&wanted)?,
            None => Vec::new(),
        };
        // One buffer per element of each Func that the producer computes.
        let mut buffers: Vec<AnyBuffer> = Vec::new();
        let mut funcs: Vec<(FuncId, Range<usize>)> = Vec::new();
        let mut first = 0;
        for input in &self.stage.inputs {
            let ExternInput::Func(func) = input else { continue };
            if !funcs.iter().any(|(known, ..)| known == func) {
                let elements = self.whole.funcs[*func].types.len();
                funcs.push((*func, first..first + elements));
                first += elements;
            }
        }
        for (input, region) in self.stage.inputs.iter().zip(&asked) {
            let (name, sources) = match input {
                ExternInput::Func(func) => {
                    let range = funcs.iter().find(|(known, _)| known == func).map_or(0..0, |(_, range)| range.clone());
                    (&self.whole.funcs[*func].name, computed[range].to_vec())
                }
                ExternInput::Image(image) => {
                    let name = &self.whole.images[*image].name;
                    let given = inputs.get(name).ok_or_else(|| RunError::MissingImage { image: name.clone() })?;
                    (name, vec![given.clone()])
                }
            };
            for source in sources {
                let wrong = |error| self.stage.fault(ExternFault::Region { input: name.clone(), error });
                buffers.push(source.crop(region).map_err(wrong)?);
            }
        }
        let bytes = self.stage.types.iter().map(|ty| dense_bytes(*ty, &region)).fold(0, u64::saturating_add);
        how.charge(bytes, &self.stage.name)?;
        if let Some(stop) = how.limits().and_then(|limits| limits.stopped()) {
            return Err(RunError::Stopped(stop).into());
        }
        let results = self.stage.compute(&region, &self.params(inputs)?, &buffers)?;
        // What was computed for the stage ends here; it was charged with its gaps.
        if let Some(limits) = how.limits() {
            limits.release(computed.iter().map(|b| bytes_of(b.ty(), b.dims().iter().copied())).sum());
        }
        let named = self.results.iter().zip(results).filter_map(|(name, result)| Some((name.clone()?, result)));
        Ok(named.collect())
    }

    fn needs(&self, inputs: &Inputs, needs: &[InputNeed], all: &mut Spans) -> Result<(), Error> {
        let Some(region) = self.region(needs) else { return Ok(()) };
        let (asked, wanted) = self.asked(&region, inputs)?;
        for (input, region) in self.stage.inputs.iter().zip(&asked) {
            if let ExternInput::Image(image) = input {
                all.add_region(&self.whole, *image, region);
            }
        }
        match &self.producer {
            Some(producer) => {
                producer.inputs().with_given(inputs).infer_input_bounds(&wanted)?.into_iter().for_each(|n| all.add(n));
                Ok(())
            }
            None => Ok(()),
        }
    }
    /// A closure may give any values.
    fn held_values(&self, _: &mut halide_core::Pipeline) -> HeldValues {
        HeldValues::new()
    }
    fn in_place_problem(&self) -> InPlaceProblem {
        InPlaceProblem::Extern { stage: self.stage.name.clone() }
    }
    fn memoized(&self) -> Vec<MemoUse> {
        Vec::new()
    }
}
