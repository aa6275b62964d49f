//! Themes that cases are drawn for. The theme of a seed, and the class within it, are functions of the seed alone:
//! sixteen seeds in a row have every theme, and a few hundred times as many have every class of each.

use halide_testing::pipelines::{Coordinate, PipelineOptions, Random, Structure, Update};
use halide_testing::schedules::aim::Aim;
use halide_testing::schedules::random::RandomOptions;

/// The structure that a case is drawn for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Theme {
    /// Nothing in particular.
    Anything,
    /// Directives that act on each other's loops.
    Loops,
    /// Storage outside of the loops that fill it.
    Folds,
    /// Stages that are computed together.
    Groups,
    /// Wrappers and copies of wrappers and copies.
    Wrappers,
    /// Each kind of coordinate.
    Coordinates,
    /// Coordinates that nothing keeps near.
    Far,
    /// Each kind of update.
    Updates,
    /// Updates that read themselves, under all directives.
    OwnUpdates,
    /// Stages that one arm of a choice needs, and specialisations that choose it.
    Arms,
    /// Promises about what is computed in loops.
    Promises,
    /// Factors far above the extents.
    Code,
}

const THEMES: [Theme; 16] = {
    use Theme::*;
    [
        Anything,
        Loops,
        Folds,
        Far,
        Groups,
        OwnUpdates,
        Wrappers,
        Coordinates,
        Folds,
        Arms,
        Loops,
        Folds,
        Updates,
        Far,
        Promises,
        Code,
    ]
};

/// The seed of the case of a number among those with factors far above the extents.
pub(crate) fn with_code(number: u64) -> u64 {
    let at = THEMES.iter().position(|theme| *theme == Theme::Code).unwrap_or_default();
    number * THEMES.len() as u64 + at as u64
}

/// Draws the options of the pipeline and the schedule of `seed`.
pub(crate) fn of(seed: u64, random: &mut Random) -> (PipelineOptions, RandomOptions) {
    let theme = THEMES[(seed % 16) as usize];
    // Of themes that stand in several places, each has its share of the classes.
    let places = |list: &[Theme]| list.iter().filter(|t| **t == theme).count() as u64;
    let number = seed / 16 * places(&THEMES) + places(&THEMES[..(seed % 16) as usize]);
    let single = seed / 16;
    let structure = match theme {
        Theme::Anything | Theme::Wrappers => None,
        Theme::Loops if number.is_multiple_of(3) => {
            Some(Structure::Update(Update::ALL[number as usize / 3 % Update::ALL.len()]))
        }
        Theme::Loops => (number % 3 == 1).then_some(Structure::Stencils),
        Theme::Folds | Theme::Promises => Some(Structure::Stencils),
        Theme::Code => single.is_multiple_of(2).then_some(Structure::Stencils),
        Theme::Groups => Some(Structure::Siblings),
        Theme::Coordinates => Some(Structure::Coordinate(coordinate(single))),
        Theme::Far => Some(Structure::Coordinate(Coordinate::FAR[number as usize % Coordinate::FAR.len()])),
        Theme::Updates => Some(Structure::Update(Update::ALL[single as usize % Update::ALL.len()])),
        Theme::OwnUpdates if single % 4 == 3 => Some(Structure::Update(Update::OwnElements)),
        Theme::OwnUpdates => Some(Structure::Update(Update::OwnPredicate)),
        Theme::Arms => Some(Structure::Arms),
    };
    let aim = match theme {
        Theme::Anything => Aim::Anything,
        Theme::Loops => Aim::Loops(number as u32),
        Theme::Folds => Aim::Folds(number as u32),
        Theme::Groups => Aim::Groups,
        Theme::Wrappers => Aim::Wrappers,
        Theme::Arms => Aim::Arms,
        Theme::Promises => Aim::Promises,
        Theme::Code => Aim::Far,
        Theme::OwnUpdates if !single.is_multiple_of(4) => Aim::Folds(number as u32),
        Theme::Coordinates | Theme::Far | Theme::Updates | Theme::OwnUpdates => match random.below(3) {
            0 => Aim::Anything,
            1 => Aim::Folds(number as u32),
            _ => Aim::Loops(number as u32),
        },
    };
    let most = if theme == Theme::Anything { 6 } else { 3 };
    let boxes = matches!(theme, Theme::Anything | Theme::Loops | Theme::Folds | Theme::Code | Theme::Promises);
    let pipeline = PipelineOptions {
        stages: 1 + random.below(most).min(random.below(most)),
        exact: boxes && random.one_in(2) && !matches!(structure, Some(Structure::Update(_))),
        given: Random::new(!seed).one_in(if theme == Theme::Anything { 2 } else { 10 }),
        far: theme == Theme::Far,
        structure,
    };
    // A schedule that promises something about shapes is refused by most of them.
    let any_shape = match theme {
        Theme::Promises => true,
        Theme::Loops => number % 2 == 1,
        Theme::Folds => random.one_in(3),
        _ => random.one_in(6),
    };
    let floats = Random::new(!seed).one_in(if theme == Theme::Anything { 4 } else { 12 });
    (pipeline, RandomOptions { any_shape, long: random.one_in(3), floats, aim })
}

/// Each kind of coordinate in turn.
fn coordinate(number: u64) -> Coordinate {
    let all = Coordinate::NEAR.len() + Coordinate::FAR.len();
    let n = number as usize % all;
    Coordinate::NEAR.get(n).copied().unwrap_or_else(|| Coordinate::FAR[n - Coordinate::NEAR.len()])
}

/// Draws the options of the pipeline of a case for a GPU.
pub(crate) fn of_gpu(seed: u64, random: &mut Random) -> PipelineOptions {
    let number = seed / 4;
    let structure = match seed % 4 {
        0 => Some(Structure::Coordinate(coordinate(number))),
        1 => Some(Structure::Update(Update::ALL[number as usize % Update::ALL.len()])),
        2 if number.is_multiple_of(2) => Some(Structure::Stencils),
        _ => None,
    };
    PipelineOptions {
        stages: 1 + random.below(5).min(random.below(6)),
        exact: random.one_in(2) && !matches!(structure, Some(Structure::Coordinate(_) | Structure::Update(_))),
        given: Random::new(!seed).one_in(3),
        far: false,
        structure,
    }
}
