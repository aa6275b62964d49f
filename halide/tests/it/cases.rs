//! Support for restated cases: a pipeline with its inputs, run on every engine under every schedule.

use halide::prelude::*;
use halide_core::value::Element;

const ENGINES: [(Engine, usize); 3] = [(Engine::Eval, 1), (crate::CPU, 1), (crate::CPU, 2)];

/// A pipeline with what it is given.
pub(crate) struct Case {
    pipeline: Pipeline,
    images: Vec<(String, AnyBuffer)>,
    params: Vec<(String, Scalar)>,
}

/// Rows of one point, below a vector, of primes and of whole vectors, from a negative, a zero and a positive minimum.
pub(crate) fn rows() -> Vec<Region> {
    [(0, 1), (-7, 3), (2, 7), (-5, 13), (0, 16), (-1, 37)].map(|span| Region::of_spans([span])).to_vec()
}

/// The same in two dimensions.
pub(crate) fn planes() -> Vec<Region> {
    let spans = [[(0, 1), (0, 1)], [(-3, 3), (5, 2)], [(1, 7), (-4, 5)], [(0, 16), (0, 8)], [(-9, 23), (-2, 11)]];
    spans.map(Region::of_spans).to_vec()
}

/// Integers as they are, floats by their bits.
pub(crate) fn as_integer(value: Scalar) -> i64 {
    if value.ty().is_float() { value.bits() as i64 } else { value.as_i64() }
}

impl Case {
    #[track_caller]
    pub(crate) fn new<'f>(outputs: impl IntoIterator<Item = &'f Func>) -> Case {
        let pipeline = Pipeline::new(outputs).unwrap_or_else(|e| panic!("{e}"));
        Case { pipeline, images: Vec::new(), params: Vec::new() }
    }

    pub(crate) fn image(mut self, image: &ImageParam, buffer: impl Into<AnyBuffer>) -> Case {
        self.images.push((image.name().to_string(), buffer.into()));
        self
    }

    pub(crate) fn param<T: Element>(mut self, param: Param<T>, value: T) -> Case
    where
        Scalar: From<T>,
    {
        self.params.push((param.name(), value.into()));
        self
    }

    #[track_caller]
    pub(crate) fn compile(&self, engine: Engine, schedule: &str) -> Compiled {
        let parsed: Schedule = schedule.parse().unwrap_or_else(|e| panic!("{schedule}\n{e}"));
        Compiler::new(&self.pipeline)
            .engine(engine)
            .schedule(&parsed)
            .compile()
            .unwrap_or_else(|e| panic!("{schedule}\n{e}"))
    }

    pub(crate) fn call<'c>(&self, compiled: &'c Compiled) -> Call<'c> {
        let call = self.images.iter().fold(compiled.inputs(), |call, (n, image)| call.image_named(n, image.clone()));
        self.params.iter().fold(call, |call, (name, value)| call.param_named(name, *value))
    }

    /// Every engine under every schedule gives for each region what the interpreter gives; the interpreter's results.
    #[track_caller]
    pub(crate) fn agrees(&self, schedules: &[&str], regions: &[Region]) -> Vec<Vec<AnyBuffer>> {
        let all = |region: &Region| vec![region.clone(); self.pipeline.outputs.len()];
        let interp = self.compile(Engine::Interp, "");
        let one = |region| self.call(&interp).realize_all(&all(region)).unwrap_or_else(|e| panic!("{region:?}: {e}"));
        let expected: Vec<Vec<AnyBuffer>> = regions.iter().map(one).collect();
        for schedule in schedules {
            for (engine, threads) in ENGINES {
                let compiled = self.compile(engine, schedule);
                for (region, want) in regions.iter().zip(&expected) {
                    let got = self.call(&compiled).threads(threads).realize_all(&all(region));
                    let got = got.unwrap_or_else(|e| panic!("{schedule}\n{engine:?}, {region:?}: {e}"));
                    for (got, want) in got.iter().zip(want) {
                        let difference = got.first_difference(want);
                        assert_eq!(difference, None, "{schedule}\n{engine:?}, {threads} threads, {region:?}");
                    }
                }
            }
        }
        expected
    }

    /// The same, and the value of each output's element at each point is that of `expected` (see [`as_integer`]).
    #[track_caller]
    pub(crate) fn holds<const N: usize>(
        &self,
        schedules: &[&str],
        regions: &[Region],
        expected: impl Fn(&[i64]) -> [i64; N],
    ) {
        for outputs in self.agrees(schedules, regions) {
            assert_eq!(outputs.len(), N);
            for at in outputs[0].coords() {
                let place: Vec<i64> = at.iter().map(|c| i64::from(*c)).collect();
                let got: Vec<i64> = outputs.iter().map(|b| as_integer(b.get(&at).unwrap())).collect();
                assert_eq!(got, expected(&place), "at {at:?} of {:?}", outputs[0].region());
            }
        }
    }

    /// Every engine under every schedule ends with an error that says all of `parts`.
    #[track_caller]
    pub(crate) fn fails(&self, schedules: &[&str], region: &Region, parts: &[&str]) {
        for schedule in schedules {
            for (engine, threads) in ENGINES.into_iter().chain([(Engine::Interp, 1)]) {
                let compiled = self.compile(engine, schedule);
                let regions = vec![region.clone(); self.pipeline.outputs.len()];
                let text = match self.call(&compiled).threads(threads).realize_all(&regions) {
                    Ok(_) => panic!("{engine:?} runs\n{schedule}"),
                    Err(error) => error.to_string(),
                };
                for part in parts {
                    assert!(text.contains(part), "{engine:?}: `{part}` is not in: {text}\n{schedule}");
                }
            }
        }
    }
}
