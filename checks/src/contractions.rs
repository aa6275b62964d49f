//! Schedules from instructions: sums of products are drawn, of any types, with operands that move along any of their
//! loops and lie in any order, or are sums themselves, and what reads them; the mapper's answers are drawn as well. All
//! engines give what the interpreter does, at sizes that the schedule was not made for.

use crate::failure::{Failure, Outcome, failure};
use halide::auto::AutoError;
use halide::check::{Case, Check};
use halide::isa::{Heuristic, IsaOptions, Random as AnyAnswer};
use halide::prelude::*;
use halide_testing::pipelines::Random;

/// The types of two operands and of the sums of their products.
const TYPES: [[ScalarType; 3]; 6] =
    [[F32, F32, F32], [F64, F64, F64], [F32, F32, F32], [U8, I8, I32], [I16, I16, I32], [I8, U8, I32]];

/// A drawn case.
struct Drawn {
    output: Func,
    dims: usize,
}

/// An operand: an image, a Func of one, or an earlier sum, at coordinates that are sums of multiples of some variables.
/// The `rows` of the result are mostly those of the second one.
fn operand(
    random: &mut Random,
    (name, ty): (&str, ScalarType),
    rows: bool,
    vars: &[(Expr, bool)],
    earlier: Option<&Func>,
) -> Expr {
    let mut at: Vec<Expr> = Vec::new();
    for (n, (var, is_reduction)) in vars.iter().enumerate() {
        // Sums are over what both move along, mostly.
        let is_used = match (n, is_reduction) {
            (0, _) => random.one_in(12) != rows,
            (_, true) => !random.one_in(20),
            _ => random.one_in(2),
        };
        if !is_used {
            continue;
        }
        let step = if random.one_in(20) { 2 } else { 1 };
        match at.last_mut().filter(|_| random.one_in(16)) {
            Some(last) => *last += *var * step,
            None => at.push(*var * step + i32::from(random.one_in(4))),
        }
    }
    if at.is_empty() {
        at.push(vars[0].0);
    }
    at.truncate(4);
    if random.one_in(4) {
        random.shuffle(&mut at);
    }
    if let Some(func) = earlier.filter(|func| func.dims() == Some(at.len()) && random.one_in(2)) {
        return func.read(&at[..]);
    }
    let image = ImageParam::new(name, ty, at.len());
    if !random.one_in(4) {
        return image.read(&at[..]);
    }
    let own: Vec<Expr> = ["u", "v", "w", "t"][..at.len()].iter().map(|name| Var::new(name).expr()).collect();
    let mut func = Func::new(format!("{name}_kept"));
    func[&own[..]] = image.read(&own[..]) + cast_to(ty, 1);
    func.read(&at[..])
}

/// A sum of products of a type; `earlier` is one of the same type.
fn sum(random: &mut Random, name: &str, vars: &[Expr], types: [ScalarType; 3], earlier: Option<&Func>) -> Func {
    let extents = |random: &mut Random| random.pick(&[1, 2, 3, 4, 4, 7, 8, 8, 12, 16, 20, 40]);
    let spans: Vec<(Expr, Expr)> =
        (0..1 + random.below(2)).map(|_| (random.pick(&[0, 0, 1]).expr(), extents(random).expr())).collect();
    let count = spans.len();
    let domain = RDom::named("r", spans);
    let reductions = (0..count).map(|dim| (domain.dim(dim).expr(), true));
    let all: Vec<(Expr, bool)> = vars.iter().map(|var| (*var, false)).chain(reductions).collect();
    let [a, b, to] = types;
    let mut factor = |suffix: &str, ty: ScalarType| {
        let name = format!("{name}_{suffix}");
        let earlier = earlier.filter(|_| ty == to);
        cast_to(to, operand(random, (&name, ty), suffix == "b", &all, earlier))
    };
    let (a, b) = (factor("a", a), factor("b", b));
    let mut sums = Func::new(name);
    sums[vars] = if random.one_in(2) { cast_to(to, vars[0] * 3) } else { cast_to(to, 0) };
    let before = sums.read(vars);
    sums[vars] = if random.one_in(2) { before + a * b } else { b * a + before };
    sums
}

fn draw(random: &mut Random) -> Drawn {
    let dims = 1 + random.below(3);
    let vars: Vec<Expr> = ["x", "y", "z"][..dims].iter().map(|name| Var::new(name).expr()).collect();
    let types = random.pick(&TYPES);
    let to = types[2];
    let first = sum(random, "sums", &vars, types, None);
    let more = |random: &mut Random, name: &str| {
        let earlier = Some(&first).filter(|_| random.one_in(3));
        sum(random, name, &vars, types, earlier)
    };
    let of = |sums: &Func| sums.read(&vars[..]);
    let output = match random.below(6) {
        0 => first,
        1 => crate::funcs::func("out", &vars, max(of(&first), cast_to(to, 0))),
        2 => {
            let bias = ImageParam::new("bias", to, 1);
            let shifted = crate::funcs::func("shifted", &vars, of(&first) + bias.read(&vars[..1]));
            crate::funcs::func("out", &vars, of(&shifted) * cast_to(to, 2))
        }
        3 => {
            // Two places of a sum: beside each other, or across the diagonal.
            let mut next = vars.clone();
            match random.one_in(2) {
                true => next[0] += 1,
                false => next.reverse(),
            }
            crate::funcs::func("out", &vars, of(&first) - first.read(&next[..]))
        }
        // Several sums in the tiles of one Func, as gates are, of which one may lie in another order.
        n => {
            let second = more(random, "second");
            let gate = max(of(&second), cast_to(to, 0));
            let both = of(&first) + gate;
            if n == 4 {
                return Drawn { output: crate::funcs::func("out", &vars, both), dims };
            }
            let third = more(random, "third");
            let mut turned = vars.clone();
            if random.one_in(3) {
                turned.reverse();
            }
            crate::funcs::func("out", &vars, both - third.read(&turned[..]))
        }
    };
    Drawn { output, dims }
}

/// Runs the case of a number on all engines.
pub fn check(number: u64) -> Result<Outcome, Failure> {
    let mut random = Random::new(number);
    let Drawn { output, dims } = draw(&mut random);
    let pipeline = Pipeline::new([&output]).unwrap_or_else(|e| panic!("a pipeline has mistakes: {e}"));
    let extents = |random: &mut Random, of: &[i64]| (0..dims).map(|_| random.pick(of)).collect::<Vec<i64>>();
    let estimated = extents(&mut random, &[1, 8, 16, 33, 64, 64, 200]);
    let host = Target::host();
    let bits = random.pick(&[128, 256, 512, 512]).min(host.vector_bits);
    let target = Target { vector_bits: bits, threads: random.pick(&[1, 1, 2, 3]), ..host };
    let name = pipeline.funcs[pipeline.outputs[0]].name.clone();
    let sizes = Estimates::new().output(&name, &estimated);
    let mut any = AnyAnswer::new(number);
    let options = IsaOptions::default();
    let mapped = match random.one_in(3) {
        true => pipeline.auto_isa_with(&target, &sizes, &options, &mut Heuristic),
        false => pipeline.auto_isa_with(&target, &sizes, &options, &mut any),
    };
    let schedule = match mapped {
        Ok(mapped) => mapped.schedule,
        Err(Error::Auto(AutoError::NothingMaps { .. })) => {
            return Ok(Outcome::Refused("what no instruction computes".into()));
        }
        Err(error) => return Err(failure("no schedule", format!("{error}\n{pipeline}"))),
    };
    let check = Check::new(&pipeline).target(&target).schedule("of instructions", &schedule);
    let runs = [extents(&mut random, &[1, 2, 5, 16, 17]), extents(&mut random, &[1, 3, 8, 31, 48])];
    let check = runs.iter().fold(check, |check, run| check.case(Case::new(run).seed(number)));
    match check.run() {
        Ok(_) => Ok(Outcome::Compared),
        Err(differences) => {
            let text = format!("estimated {estimated:?}, {bits} bits\n{differences}\n{pipeline}\n{schedule}");
            Err(failure("a schedule of instructions", text))
        }
    }
}
