//! Programs of steps: pipelines that run one after the other and in loops, on slots that they read and write, against
//! the same pipelines interpreted one by one on copies.

use crate::case::TARGET;
use crate::failure::{Failure, Outcome, failure};
use crate::funcs::var;
use crate::legal::legal;
use halide::prelude::*;
use halide_testing::pipelines::Random;

/// The names of the slots that calls give.
const SLOTS: [&str; 4] = ["a", "b", "c", "d"];

/// The numbers of the slots behind these: `n`, which holds a size, and `e`, which has it.
const SIZE: usize = 4;
const SIZED: usize = 5;

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
    /// Parts of the loop around: of its first iteration, or else of its last.
    Once(bool, Vec<Part>),
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
        let drawn = pipelines.len();
        for funcs in sized(random, &region) {
            let pipeline = Pipeline::new(&funcs).map_err(|e| failure("a pipeline has mistakes", e.to_string()))?;
            pipelines.push((pipeline, Schedule::new()));
        }
        // The size is written before what has it, and both before they are read.
        let mut body = vec![Part::Step(drawn, 0), Part::Step(drawn + 1, 0)];
        body.extend(parts(random, pipelines.len(), 2, false));
        Ok(Drawn { region, inputs, pipelines, body })
    }

    /// The program, whose slots are all inputs.
    fn program(&self) -> Program {
        let mut program = Program::new("drawn");
        for slot in SLOTS {
            program.input(slot, I32, 2);
        }
        program.scalar("n", I32).sized("e", I32, ["n"]);
        add(&mut program, &self.body, &self.pipelines);
        program
    }

    /// Runs parts on slots, a step at a time, on copies. The values of outputs come from the interpreter.
    /// They are of an iteration that is the first or the last of its loop, or not.
    fn interpret(&self, parts: &[Part], at: (bool, bool), slots: &mut [AnyBuffer]) -> Result<(), Error> {
        for part in parts {
            match part {
                Part::Repeat(times, body) => {
                    for iteration in 0..*times {
                        self.interpret(body, (iteration == 0, iteration + 1 == *times), slots)?;
                    }
                }
                Part::Once(first, body) if if *first { at.0 } else { at.1 } => self.interpret(body, at, slots)?,
                Part::Once(..) => {}
                Part::Step(number, turn) => {
                    let pipeline = &self.pipelines[*number].0;
                    let of = |name: &str| match name {
                        "n" => Some(SIZE),
                        "e" => Some(SIZED),
                        _ => SLOTS.iter().position(|slot| *slot == name).map(|i| (i + turn) % SLOTS.len()),
                    };
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
                        outputs.push(match *target {
                            SIZED => {
                                let extent = slots[SIZE].get([0i32; 0]).map_or(0, Scalar::as_i64);
                                AnyBuffer::with_region(I32, &Region::of_extents([extent]))?
                            }
                            target => slots[target].compact()?,
                        });
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

/// The outputs of pipelines that write a size from the values of a slot, what has that size, a slot from that, and a
/// size with what has the size before; the first two are the first.
fn sized(random: &mut Random, region: &Region) -> [Vec<Func>; 4] {
    let spans = region.spans();
    let (a, n, e) = (ImageParam::new("a", I32, 2), ImageParam::new("n", I32, 0), ImageParam::new("e", I32, 1));
    let corner = a.read([(spans[0].min as i32).expr(), (spans[1].min as i32).expr()]);
    let mut size = Func::new("n");
    // What is stored needs a place.
    let scatters = random.one_in(2);
    size[()] = corner % random.between(1, 9) as i32 + i32::from(scatters);
    let (x, y, mut of_size, mut back) = (var("x"), var("y"), Func::new("e"), Func::new("a"));
    of_size[[x]] = x * random.between(1, 4) as i32 + corner;
    if scatters {
        let r = RDom::named("r", [(0, 9)]);
        let at = clamp(r.x * 2, 0, max(n.read([] as [Expr; 0]), 1) - 1);
        of_size[[at]] += r.x;
    }
    let r = RDom::over(&e);
    back[[x, y]] = a.read([x, y]) - x;
    back[[x, y]] += e.read([r.x]) * random.between(1, 3) as i32;
    let (mut other, mut before) = (Func::new("n"), Func::new("e"));
    other[()] = (n.read([] as [Expr; 0]) + 3) % random.between(2, 9) as i32 + i32::from(scatters);
    before[[x]] = x - corner;
    let both = if random.one_in(2) { vec![other, before] } else { vec![before, other] };
    [vec![size], vec![of_size], vec![back], both]
}

fn parts(random: &mut Random, pipelines: usize, depth: usize, in_loop: bool) -> Vec<Part> {
    let part = |random: &mut Random| match depth > 0 && random.one_in(3) {
        true if in_loop && random.one_in(2) => Part::Once(random.one_in(2), parts(random, pipelines, depth - 1, true)),
        true => Part::Repeat(random.below(4) as u64, parts(random, pipelines, depth - 1, true)),
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
            Part::Once(true, body) => {
                program.first(|program| add(program, body, pipelines));
            }
            Part::Once(false, body) => {
                program.last(|program| add(program, body, pipelines));
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
    for region in [Region::of_extents([0i32; 0]), Region::of_extents([0])] {
        expected.push(AnyBuffer::with_region(I32, &region).map_err(|e| failure("no buffer", e.to_string()))?);
    }
    drawn
        .interpret(&drawn.body, (false, false), &mut expected)
        .map_err(|e| failure("the interpreter failed", e.to_string()))?;
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
        let slots = SLOTS.iter().chain(&["n", "e"]);
        let found: Result<Vec<AnyBuffer>, Error> = slots.map(|slot| done.any_state(slot)).collect();
        let found = found.map_err(|e| failure("a slot is missing", e.to_string()))?;
        crate::failure::compare(&format!("program, {engine:?}"), &found, &expected)
            .map_err(|f| Failure { text: format!("{}\n{}over {}", f.text, compiled.explain(), drawn.region), ..f })?;
    }
    Ok(Outcome::Compared)
}
