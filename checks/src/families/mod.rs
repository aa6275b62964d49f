//! Families of pipelines that are written for one part of the compiler each, where random pipelines seldom get: narrow
//! integer arithmetic, reads behind conditions on data, coordinates made of floats, operations whose laws schedules
//! rest on, groups of stages with regions of their own, kernels with threads of three dimensions.
//!
//! Schedules are lines that are kept where they are legal, so each case is. What a family draws is made to be served: a
//! case that is refused is a failure, where the family says so.

mod ahead;
mod blocks;
mod borders;
mod columns;
mod coordinates;
mod decisions;
mod deep;
mod drawn;
mod empties;
mod folds;
mod guards;
mod indices;
mod kept;
mod loops;
mod narrow;
mod overlong;
mod planes;
mod scatters;
mod settled;
mod sides;
mod sums;
mod tails;
mod tiles;
mod updates;
mod wraps;

use crate::case::{Case, TARGET};
use crate::engines;
use crate::failure::{Failure, Outcome, failure};
use crate::legal::legal;
use crate::runs::caught;
use crate::shrink;
use drawn::Drawn;
use halide::buffer::Span;
use halide::prelude::*;
use halide_ir::target::Gpu;
use halide_testing::pipelines::Random;
use std::time::Duration;

/// The time for which a failing case is made smaller.
const SHRINKING: Duration = Duration::from_secs(20);

/// A family: its name, what draws its cases, and whether they are for a GPU.
struct Family {
    name: &'static str,
    draw: fn(&mut Random) -> Drawn,
    gpu: bool,
    /// True if every case must be served.
    served: bool,
}

const FAMILIES: [Family; 39] = {
    const fn family(name: &'static str, draw: fn(&mut Random) -> Drawn, served: bool) -> Family {
        Family { name, draw, gpu: false, served }
    }
    [
        family("narrow", narrow::arithmetic, true),
        family("guards", guards::guarded, true),
        family("floats", coordinates::floats, true),
        family("updates", updates::monoids, true),
        Family { gpu: true, ..family("tiles", tiles::tiles, false) },
        family("gathers", coordinates::gathers, true),
        family("strides", narrow::strides, true),
        family("groups", loops::groups, true),
        family("slides", loops::slides, true),
        family("masks", updates::masks, true),
        family("legality", loops::legality, false),
        family("folds", folds::pieces, true),
        family("wraps", wraps::wraps, true),
        Family { gpu: true, ..family("planes", planes::planes, false) },
        Family { gpu: true, ..family("lanes", planes::lanes, true) },
        family("borders", borders::borders, false),
        family("halves", borders::halves, true),
        family("boxes", borders::boxes, true),
        family("products", sums::products, true),
        family("ends", sums::ends, false),
        family("marks", borders::marks, true),
        family("triples", borders::triples, false),
        family("levels", loops::levels, false),
        family("slants", folds::slants, true),
        family("decisions", decisions::decisions, true),
        family("columns", columns::columns, true),
        family("variants", folds::variants, true),
        family("deep", deep::deep, true),
        Family { gpu: true, ..family("sides", sides::sides, true) },
        family("empties", empties::empties, true),
        family("tails", tails::tails, true),
        family("overlong", overlong::overlong, true),
        family("kept", kept::kept, false),
        family("scatters", scatters::scatters, false),
        Family { gpu: true, ..family("blocks", blocks::blocks, false) },
        family("indices", indices::indices, false),
        family("moved", tails::moved, false),
        family("ahead", ahead::ahead, false),
        family("settled", settled::settled, false),
    ]
};

/// The number of families. Numbers take them in turn: so many in a row have one case of each.
pub const COUNT: u64 = FAMILIES.len() as u64;

/// A case of a family: which family, and the seed that it is drawn from. Records name families, so that others may be
/// added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Member {
    family: usize,
    seed: u64,
}

/// The name of the family of a number.
pub fn name(number: u64) -> &'static str {
    Member::of(number).name()
}

/// Compares what the final programs of the case of a number give with the interpreter.
pub fn check(number: u64) -> Result<Outcome, Failure> {
    let member = Member::of(number);
    let case = member.case(None);
    if std::env::var_os("HALIDE_FUZZ_SHOW").is_some() {
        println!("{case}");
    }
    member.check(case)
}

/// The distance between the seeds of recorded schedules.
const APART: u64 = 11;

impl Member {
    /// Each family in turn.
    fn of(number: u64) -> Member {
        Member { family: (number % COUNT) as usize, seed: number }
    }

    /// The case of a family that a record names.
    pub(crate) fn named(name: &str, seed: u64) -> Option<Member> {
        let family = FAMILIES.iter().position(|family| family.name == name)?;
        Some(Member { family, seed })
    }

    /// The first case of each family.
    pub(crate) fn first() -> impl Iterator<Item = Member> {
        (0..FAMILIES.len()).map(|family| Member { family, seed: 0 })
    }

    /// The family of storage outside of loops that run at once.
    pub(crate) fn of_levels(seed: u64) -> Option<Member> {
        Member::named("levels", seed)
    }

    /// The families whose schedules are about what is legal, in turn.
    pub(crate) fn of_schedules(number: u64) -> Option<Member> {
        let all = ["updates", "groups", "updates", "tiles", "legality", "legality"];
        let member = Member::named(all[(number % all.len() as u64) as usize], 0)?;
        Some(Member { seed: number * APART + member.family as u64, ..member })
    }

    /// Another case of the same family.
    pub(crate) fn with_seed(self, seed: u64) -> Member {
        Member { seed, ..self }
    }

    fn family(self) -> &'static Family {
        &FAMILIES[self.family]
    }

    pub(crate) fn name(self) -> &'static str {
        self.family().name
    }

    /// The pipeline and the lines of its schedule, and the machine that it is for.
    ///
    /// # Panics
    /// Where a family draws a pipeline with mistakes.
    fn drawn(self) -> (Pipeline, Target, Drawn, Random) {
        let Member { seed, .. } = self;
        let family = self.family();
        let mut random = Random::new(seed);
        let drawn = (family.draw)(&mut random);
        let pipeline = Pipeline::new(drawn.outputs.iter().collect::<Vec<&Func>>());
        let pipeline = pipeline.unwrap_or_else(|e| panic!("the pipeline of {} {seed} has mistakes: {e}", family.name));
        let gpu = family.gpu.then_some(Gpu { subgroup: Some(8), ..Gpu::LEAST });
        (pipeline, Target { gpu, ..TARGET }, drawn, random)
    }

    /// The case; with the schedule that is given, in place of the one that would be drawn.
    pub(crate) fn case(self, schedule: Option<Schedule>) -> Case {
        let (pipeline, target, drawn, random) = self.drawn();
        let schedule = schedule.unwrap_or_else(|| legal(&pipeline, &target, &drawn.lines).0);
        let mut long = Random::new(!self.seed);
        let case = Case::with(pipeline, schedule, target, random);
        // Rows of many points, so that elements of all kinds meet.
        let longer = |region: &Region| match region.spans() {
            [span] => Region::new(vec![Span { extent: span.extent + long.below(64) as i64, ..*span }]),
            _ => region.clone(),
        };
        Case { far: drawn.far, regions: case.regions.iter().map(longer).collect(), ..case }
    }

    /// The lines of the schedule, each with what the compiler says of it after those before that are legal.
    pub(crate) fn answers(self) -> Vec<(String, String)> {
        let (pipeline, target, drawn, _) = self.drawn();
        let (_, said) = legal(&pipeline, &target, &drawn.lines);
        drawn.lines.into_iter().zip(said).collect()
    }

    fn check(self, case: Case) -> Result<Outcome, Failure> {
        let outcome = engines::check_final(case)?;
        match &outcome {
            Outcome::Refused(why) if self.family().served => {
                Err(failure(format!("{} refused: {why}", self.name()), "this family is made to be served"))
            }
            _ => Ok(outcome),
        }
    }
}

/// The case of a number that fails, made smaller, and the first pass after which it is wrong.
pub fn report(number: u64, kind: &str) -> String {
    let member = Member::of(number);
    let fails = |c: &Case| caught(|| member.check(c.clone())).and_then(|r| r).is_err_and(|f| kind.ends_with(&f.kind));
    let small = shrink::smallest(&member.case(None), SHRINKING, fails);
    let blame = caught(|| engines::blame(&small)).ok().flatten().unwrap_or_default();
    let text = caught(|| member.check(small.clone())).and_then(|r| r).err().map_or(String::new(), |f| f.text);
    let head = |text: &str| text.lines().take(60).collect::<Vec<_>>().join("\n");
    format!("{} {number}\n{small}\n-- {}\n-- {}", name(number), head(&text), head(&blame))
}
