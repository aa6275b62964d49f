//! Changes of schedules, one kind a function. A change may be illegal: who asks for it resolves the result.

mod hints;
mod loops;
mod marks;
mod numbers;
mod place;
mod storage;
mod template;
mod transfer;

use crate::tune::edit::Draft;
use crate::tune::outcome::MoveKind;
use crate::tune::random::Random;
use crate::tune::scene::Scene;
use halide_sched::schedule::Schedule;

/// A change of `draft`, whose scene this is; `None` if there is nothing that this kind could change. `other` is the
/// schedule that [`MoveKind::Cross`] takes from.
pub(crate) fn change(
    kind: MoveKind,
    draft: &mut Draft,
    scene: &Scene,
    other: &Schedule,
    random: &mut Random,
) -> Option<()> {
    match kind {
        MoveKind::Number => numbers::number(draft, scene, random),
        MoveKind::Place => place::place(draft, scene, random),
        MoveKind::Store => place::store(draft, scene, random),
        MoveKind::Order => loops::order(draft, scene, random),
        MoveKind::Split => loops::split(draft, scene, random),
        MoveKind::Join => loops::join(draft, scene, random),
        MoveKind::Unroll => marks::unroll(draft, scene, random),
        MoveKind::Parallel => marks::parallel(draft, scene, random),
        MoveKind::Vectorize => marks::vectorize(draft, scene, random),
        MoveKind::Storage => storage::storage(draft, scene, random),
        MoveKind::Hint => hints::hint(draft, scene, random),
        MoveKind::Copy => transfer::copy(draft, scene, random),
        MoveKind::Template => template::template(draft, scene, random),
        MoveKind::Cross => transfer::cross(draft, other, random),
    }
}
