//! Random extern stages: closures over what was drawn before.

use super::draw::{Draw, Readable, Source};
use halide_core::buffer::{AnyBuffer, Region, Span};
use halide_core::externs::{Extern, ExternCall, ExternResult};
use halide_core::types::ScalarType;
use halide_core::value::Scalar;

/// The computation of a closure.
#[derive(Clone)]
struct Recipe {
    /// The types of its elements.
    types: Vec<ScalarType>,
    /// The distance in the first dimension from the point to the elements that are read.
    reach: i32,
    /// The factor that the sum is multiplied by before each value is added.
    factor: i64,
    /// True if the parameter is added.
    param: bool,
}

impl Draw {
    /// A Func more whose values come from a closure that reads one or two others.
    pub(super) fn external(&mut self, name: &str) {
        let chosen = self.random.below(self.sources.len());
        let other = self.random.below(self.sources.len());
        let dims = self.sources[chosen].dims;
        let mut types = vec![self.any_type()];
        if self.random.one_in(4) {
            types.push(self.any_type());
        }
        let (reach, factor) = (self.random.below(3) as i32, self.random.between(-3, 5));
        let recipe = Recipe { types: types.clone(), reach, factor, param: self.random.one_in(3) };
        let mut inputs = vec![chosen];
        if self.sources[other].dims == dims && other != chosen {
            inputs.push(other);
        }
        let mut stage = Extern::new(name, types.clone(), dims);
        for &input in &inputs {
            stage = match &self.sources[input].what {
                Readable::Func(func) => stage.input(func),
                Readable::Image(image) => stage.image(image),
            };
        }
        if recipe.param {
            stage = stage.param(&self.offset);
        }
        let count = inputs.len();
        // Those that say their needs by a closure are called once, whatever the schedule says.
        let stage = match factor % 3 {
            1 => stage.needs(move |query| Ok(vec![grown(query.region(), i64::from(reach)); count])),
            _ if reach == 0 && factor % 2 == 0 => stage,
            _ => stage.needs_box(move |region| {
                // Some need whole blocks.
                let ends = |dim| match factor % 5 {
                    0 => ((region.min(dim) - reach) / 4 * 4, region.max(dim) + reach + 2),
                    _ => (region.min(dim) - reach, region.max(dim) + reach),
                };
                vec![(0..dims).map(ends).collect(); count]
            }),
        };
        let func = stage.compute(move |call| recipe.compute(call));
        let doublings = inputs.iter().map(|i| self.sources[*i].doublings).max().unwrap_or(0);
        self.sources.push(Source { what: Readable::Func(func), types, dims, doublings, weight: 1 });
    }
}

/// The region with `reach` more coordinates at each end of every dimension.
fn grown(region: &Region, reach: i64) -> Region {
    region.spans().iter().map(|s| Span { min: s.min - reach, extent: s.extent + 2 * reach }).collect()
}

impl Recipe {
    fn compute(&self, call: &mut ExternCall<'_>) -> ExternResult<()> {
        let inputs: Vec<AnyBuffer> = call.inputs().to_vec();
        let added = if self.param { call.param(0).ok_or("no parameter")?.as_i64() } else { 0 };
        for at in call.region().clone().coords() {
            let mut sum = added;
            for (n, input) in inputs.iter().enumerate() {
                let mut there = at.clone();
                there[0] += if n == 0 { self.reach } else { -self.reach };
                let value = input.get(&there).ok_or("less was given than was asked for")?;
                sum = sum.wrapping_mul(self.factor).wrapping_add(value.as_i64());
            }
            for (element, &ty) in self.types.iter().enumerate() {
                call.output(element).set(&at, value(ty, sum.wrapping_add(element as i64)))?;
            }
        }
        Ok(())
    }
}

/// `sum` as a value of `ty`: small, where it is a float.
fn value(ty: ScalarType, sum: i64) -> Scalar {
    match ty.is_float() {
        true => Scalar::float(ty, (sum % 64) as f64 / 4.0),
        false => Scalar::int(ty, sum.into()),
    }
}
