//! Programs of steps: pipelines that run one after the other and in loops, on slots that they read and write, against
//! the same pipelines interpreted one by one on copies.

use crate::case::TARGET;
use crate::failure::{Failure, Outcome, failure};
use crate::funcs::var;
use crate::legal::legal;
use halide::prelude::*;
use halide_testing::pipelines::Random;

/// The names of the slots.
const SLOTS: [&str; 4] = ["a", "b", "c", "d"];

/// A drawn program.
struct Drawn {
    region: Region,
    inputs: Vec<Buffer<i32>>,
    /// The pipelines that steps are of, with a schedule each.
    pipelines: Vec<(Pipeline, Schedule)>,
    body: Vec<Part>,
}

/// A part of a drawn program.
enum Part {
    /// A pipeline by number, whose names are slots turned by so many.
    Step(usize, usize),
    Repeat(u64, Vec<Part>),
}

/// Draws an output that writes the slot `name`: of slots near the point, perhaps by a Func between, and perhaps with
/// points that stay as they are.
fn output(random: &mut Random, name: &str, region: &Region, lines: &mut Vec<String>) -> Func {
    let (x, y) = (var("x"), var("y"));
    let near = |random: &mut Random| {
        let image = ImageParam::new(random.pick(&SLOTS), I32, 2);
        if random.one_in(2) {
            return image.read([x, y]);
        }
        let spans: Vec<(i64, i64)> = region.spans().iter().map(|s| (s.min, s.extent)).collect();
        let clamped = |e: Expr, d: usize| clamp(e, spans[d].0 as i32, (spans[d].0 + spans[d].1 - 1) as i32);
        let (dx, dy) = (random.between(-2, 2) as i32, random.between(-1, 1) as i32);
        image.read([clamped(x + dx, 0), clamped(y + dy, 1)])
    };
    let mut value = near(random) * random.between(1, 3) as i32 + near(random) - x;
    if random.one_in(3) {
        let mut between = Func::new(format!("{name}_between"));
        between[[x, y]] = value;
        lines.push(format!("{name}_between: {}", random.pick(&["compute_root()", "compute_root() vectorize(x, 4)"])));
        value = between.read([x, y]) + between.read([x, y]) / 3;
    }
    if random.one_in(4) {
        value = select(((x + y) % random.between(2, 3) as i32).eq(0), undef::<i32>(), value);
    }
    let mut f = Func::new(name);
    f[[x, y]] = value;
    if random.one_in(3) {
        let at = f.read([x, y]);
        f[[x, y]] = at * 5 - y;
    }
    for line in ["vectorize(x, 4)", "parallel(y)", "compute_root()", "split(x, xo, xi, 3) unroll(xi)"] {
        if random.one_in(3) {
            lines.push(format!("{name}: {line}"));
        }
    }
    f
}

impl Drawn {
    fn new(random: &mut Random) -> Result<Drawn, Failure> {
        let span = |random: &mut Random| (random.between(-3, 3), random.between(1, 9));
        let region = Region::of_spans([span(random), span(random)]);
        let mut inputs = Vec::new();
        for _ in SLOTS {
            let seed = random.below(1000) as i32;
            let value = |at: &[i32]| (at[0] * 31 + at[1] * 17 + seed) % 23;
            inputs.push(Buffer::from_fn(&region, value).map_err(|e| failure("no buffer", e.to_string()))?);
        }
        let mut pipelines = Vec::new();
        for _ in 0..random.between(1, 3) {
            let (mut lines, mut outputs) = (Vec::new(), Vec::new());
            let first = random.below(4);
            for n in 0..random.between(1, 3) as usize {
                outputs.push(output(random, SLOTS[(first + n) % SLOTS.len()], &region, &mut lines));
            }
            let pipeline = Pipeline::new(&outputs).map_err(|e| failure("a pipeline has mistakes", e.to_string()))?;
            let schedule = legal(&pipeline, &TARGET, &lines).0;
            pipelines.push((pipeline, schedule));
        }
        let body = parts(random, pipelines.len(), 2);
        Ok(Drawn { region, inputs, pipelines, body })
    }

    /// The program, whose slots are all inputs.
    fn program(&self) -> Program {
        let mut program = Program::new("drawn");
        for slot in SLOTS {
            program.input(slot, I32, 2);
        }
        add(&mut program, &self.body, &self.pipelines);
        program
    }

    /// Runs parts on slots, a step at a time, on copies. The values of outputs come from the interpreter.
    fn interpret(&self, parts: &[Part], slots: &mut [AnyBuffer]) -> Result<(), Error> {
        for part in parts {
            match part {
                Part::Repeat(times, body) => {
                    for _ in 0..*times {
                        self.interpret(body, slots)?;
                    }
                }
                Part::Step(number, turn) => {
                    let pipeline = &self.pipelines[*number].0;
                    let of = |name: &str| SLOTS.iter().position(|slot| *slot == name).map(|i| (i + turn) % SLOTS.len());
                    let compiled = Compiler::new(pipeline).engine(Engine::Interp).compile()?;
                    let mut call = compiled.inputs();
                    for image in pipeline.images.iter() {
                        let slot = &slots[of(&image.name).unwrap_or_default()];
                        call = call.image_named(&image.name, slot.compact()?);
                    }
                    let names: Vec<String> = pipeline.outputs.iter().map(|f| pipeline.funcs[*f].name.clone()).collect();
                    let targets: Vec<usize> = names.iter().filter_map(|name| of(name)).collect();
                    let mut outputs = Vec::new();
                    for target in &targets {
                        outputs.push(slots[*target].compact()?);
                    }
                    let mut views = outputs.iter_mut().map(AnyBuffer::view_mut).collect::<Result<Vec<_>, _>>()?;
                    call.realize_all_into(&mut views)?;
                    drop(views);
                    for (target, output) in targets.into_iter().zip(outputs) {
                        slots[target] = output;
                    }
                }
            }
        }
        Ok(())
    }
}

fn parts(random: &mut Random, pipelines: usize, depth: usize) -> Vec<Part> {
    let part = |random: &mut Random| match depth > 0 && random.one_in(3) {
        true => Part::Repeat(random.below(4) as u64, parts(random, pipelines, depth - 1)),
        false => Part::Step(random.below(pipelines), random.pick(&[0, 0, 1, 2])),
    };
    (0..random.between(1, 3)).map(|_| part(random)).collect()
}

fn add<'p>(program: &'p mut Program, parts: &[Part], pipelines: &[(Pipeline, Schedule)]) -> &'p mut Program {
    for part in parts {
        match part {
            Part::Repeat(times, body) => {
                program.repeat(*times, |program| add(program, body, pipelines));
            }
            Part::Step(number, turn) => {
                let (pipeline, schedule) = &pipelines[*number];
                let turned = |i: usize| (SLOTS[i], SLOTS[(i + turn) % SLOTS.len()]);
                let images = pipeline.images.iter().map(|image| image.name.clone());
                let names: Vec<String> =
                    images.chain(pipeline.outputs.iter().map(|f| pipeline.funcs[*f].name.clone())).collect();
                let pairs = (0..SLOTS.len()).map(turned).filter(|(slot, _)| names.iter().any(|name| name == slot));
                let pairs: Vec<(&str, &str)> = pairs.collect();
                program.run_on(pipeline, schedule, &pairs);
            }
        }
    }
    program
}

/// Runs the program of a number on all engines.
pub fn check(number: u64) -> Result<Outcome, Failure> {
    let mut random = Random::new(number);
    let drawn = Drawn::new(&mut random)?;
    let mut expected: Vec<AnyBuffer> = drawn.inputs.iter().map(|input| input.clone().into_any()).collect();
    drawn.interpret(&drawn.body, &mut expected).map_err(|e| failure("the interpreter failed", e.to_string()))?;
    let program = drawn.program();
    for engine in [Engine::Interp, Engine::Eval, Engine::Cpu] {
        let compiled = match program.compile_with(|compiler| compiler.engine(engine).target(&TARGET)) {
            Ok(compiled) => compiled,
            // Of what an output keeps there is one copy only.
            Err(error) if error.to_string().contains("an output keeps elements") => {
                return Ok(Outcome::Refused("keeps and reads".into()));
            }
            Err(error) => return Err(failure("a program has mistakes", error.to_string())),
        };
        let inputs = SLOTS.iter().zip(&drawn.inputs);
        let call = inputs.fold(compiled.inputs(), |call, (slot, input)| call.image_named(slot, input));
        let done = call.run().map_err(|e| failure(format!("a program failed: {engine:?}"), e.to_string()))?;
        let found: Result<Vec<AnyBuffer>, Error> = SLOTS.iter().map(|slot| done.any_state(slot)).collect();
        let found = found.map_err(|e| failure("a slot is missing", e.to_string()))?;
        crate::failure::compare(&format!("program, {engine:?}"), &found, &expected)
            .map_err(|f| Failure { text: format!("{}\n{}over {}", f.text, compiled.explain(), drawn.region), ..f })?;
    }
    Ok(Outcome::Compared)
}
