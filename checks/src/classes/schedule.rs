//! Schedules of a class: its two directives one after the other, its place, and others around them.

use super::algorithm::{Algorithm, Loops};
use super::nest::Nest;
use crate::coverage::Product;
use halide::schedule::Tail;
use halide_testing::pipelines::Random;
use halide_testing::schedules::aim::LoopWord;

/// Tails of directives around those of the class.
const AROUND: [Tail; 6] =
    [Tail::Auto, Tail::Auto, Tail::GuardWithIf, Tail::Predicate, Tail::RoundUp, Tail::ShiftInwards];

/// Draws the lines of a schedule; `plain` leaves out what the class does not ask for.
pub(super) fn draw(random: &mut Random, class: &Product, algorithm: &Algorithm, plain: bool) -> Vec<String> {
    let mut lines = Vec::new();
    let mut host = algorithm.host.as_ref().map(nest);
    let site = host.as_mut().map(|host| place(random, class.place, host, plain));
    if let Some(host) = &mut host {
        if algorithm.has_reader {
            let at = random.pick(&["compute_root()", "compute_root()", "compute_at(f, x)"]);
            lines.push(format!("c: {at}"));
        }
        lines.append(&mut host.lines);
    }
    let mut stage = nest(&algorithm.stage);
    lines.extend(site.iter().flat_map(|(_, verbs)| verbs).map(|verb| format!("s: {verb}")));
    pair(random, class, algorithm, &mut stage, plain);
    for (name, may_be_inlined) in &algorithm.sources {
        let mut sites = vec!["compute_root()".to_string(); 2];
        if !plain {
            let at = random.below(stage.depth());
            sites.push(format!("compute_at({})", stage.site(at)));
            sites.extend(
                site.iter().filter(|(level, _)| !level.is_empty()).map(|(level, _)| format!("compute_at({level})")),
            );
        }
        if !(*may_be_inlined && random.one_in(3)) {
            stage.lines.push(format!("{name}: {}", sites[random.below(sites.len())]));
        }
    }
    if algorithm.stage.name != "s" && !plain && random.one_in(4) {
        stage.lines.push(format!("s: {}", random.pick(&["vectorize(x, 4)", "unroll(x, 2)", "parallel(x)"])));
    }
    lines.append(&mut stage.lines);
    lines
}

fn nest(stage: &Loops) -> Nest {
    Nest::new(&stage.name, &stage.vars, &stage.rvars)
}

/// Draws the loops of the stage that reads `s`. Returns the level at which `s` is computed, and what says so.
fn place(random: &mut Random, place: &str, host: &mut Nest, plain: bool) -> (String, Vec<String>) {
    let tail = if plain { Tail::Auto } else { random.pick(&AROUND) };
    let is_inner = place == "inner loop";
    if (is_inner && host.depth() < 2) || random.one_in(3) {
        host.word(random, LoopWord::Split, Some(tail));
    }
    if host.depth() > 1 && random.one_in(6) {
        host.word(random, LoopWord::Reorder, None);
    }
    if place == "root" {
        if random.one_in(4) {
            host.word(random, LoopWord::Vectorize, Some(tail));
        }
        return (String::new(), vec!["compute_root()".into()]);
    }
    let last = host.depth() - 1;
    let at = match place {
        "outermost loop" => last,
        "inner loop" => random.below(last),
        _ => random.below(last + 1),
    };
    let level = host.site(at);
    let mut verbs = vec![format!("compute_at({level})")];
    if place == "stored outside" {
        verbs.push(match at == last || random.one_in(3) {
            true => "store_root()".into(),
            false => format!("store_at({})", host.site(at + 1 + random.below(last - at))),
        });
    }
    if random.one_in(5) {
        let name = host.name(at + random.below(last + 1 - at)).to_string();
        host.say(&format!("{}({name})", random.pick(&["parallel", "parallel", "unroll"])));
    }
    if at > 0 && random.one_in(4) {
        let name = host.name(0).to_string();
        host.say(&format!("{}({name}, 4, {})", random.pick(&["vectorize", "unroll"]), tail.word()));
    }
    (level, verbs)
}

/// Draws the loops of the stage of the class.
fn pair(random: &mut Random, class: &Product, algorithm: &Algorithm, stage: &mut Nest, plain: bool) {
    if algorithm.reads_itself && !algorithm.stage.rvars.is_empty() && random.one_in(4) {
        stage.say("atomic()");
    }
    let is_several = |word: LoopWord| matches!(word, LoopWord::Fuse | LoopWord::Reorder);
    if stage.depth() < 2 && is_several(class.second) && random.one_in(2) {
        stage.word(random, LoopWord::Split, Some(Tail::Auto));
    } else if !plain && random.one_in(4) {
        let word = random.pick(&[LoopWord::Split, LoopWord::SplitByOne, LoopWord::Reorder, LoopWord::Fuse]);
        if stage.depth() > 1 || !is_several(word) {
            let tail = random.pick(&AROUND);
            stage.word(random, word, Some(tail));
        }
    }
    stage.word(random, class.first, Some(class.tail));
    let second = if random.one_in(2) { Some(random.pick(&Tail::ALL)) } else { None };
    let second = if plain { second.map(|_| Tail::Auto) } else { second };
    stage.word(random, class.second, second);
    let blends = matches!(class.tail, Tail::ShiftInwardsAndBlend | Tail::RoundUpAndBlend);
    if blends && class.first == LoopWord::Parallel {
        // Chunks that load what others store may not run at the same time in the end.
        return stage.run_in_order();
    }
    if !plain && random.one_in(3) {
        let word = random.pick(&LoopWord::ALL);
        if stage.depth() > 1 || !is_several(word) {
            let tail = random.one_in(2).then(|| random.pick(&AROUND));
            stage.word(random, word, tail);
        }
    }
}
