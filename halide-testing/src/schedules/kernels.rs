//! Random kernels for GPUs.

use super::random::Draw;
use halide_sched::schedule::{Amount, Directive, LoopKind, Subject, Tail, Verb};

impl Draw<'_> {
    /// Loops over blocks and threads, where they may be.
    pub(super) fn kernel(&mut self, subject: &Subject) {
        if self.one_in(8) && self.say(subject, Verb::GpuSingleThread) {
            return;
        }
        for _ in 0..3 {
            let tiled = self.tiles(subject);
            if !tiled.is_empty() && self.propose(tiled) {
                break;
            }
        }
        for _ in 0..self.below(4) {
            let loops = self.current_loops(subject);
            let Some(var) = self.pick(&loops) else { return };
            let verb = match self.below(5) {
                0 => Verb::Mark { kind: LoopKind::GpuThreads, var, factor: None, tail: Tail::Auto },
                1 => {
                    let kind = self.one_of([LoopKind::GpuThreads, LoopKind::GpuLanes]);
                    Verb::Mark { kind, var, factor: None, tail: Tail::Auto }
                }
                2 => Verb::Mark { kind: LoopKind::GpuBlocks, var, factor: None, tail: Tail::Auto },
                _ => self.loop_verb(var, &loops),
            };
            self.say(subject, verb);
        }
    }

    /// Tiles of one to three loops as blocks, the points of a tile as threads. What is not tiled goes inside of all, or
    /// between blocks and threads.
    fn tiles(&mut self, subject: &Subject) -> Vec<Directive> {
        let mut rest = self.current_loops(subject);
        let (mut outer, mut inner, mut verbs) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..1 + self.below(3) {
            if rest.is_empty() {
                break;
            }
            let var = rest.remove(self.below(rest.len()));
            let (o, i) = (self.new_name(), self.new_name());
            let factor = Amount::Const(self.one_of([1, 2, 3, 4, 8]));
            verbs.push(Verb::Split { var, outer: o.clone(), inner: i.clone(), factor, tail: self.tail() });
            outer.push(o);
            inner.push(i);
        }
        let threads: Vec<String> = inner.clone();
        let inside = if self.one_in(3) { inner.into_iter().chain(rest) } else { rest.into_iter().chain(inner) };
        verbs.push(Verb::Reorder(inside.chain(outer.clone()).collect()));
        let mark = |kind, var| Verb::Mark { kind, var, factor: None, tail: Tail::Auto };
        verbs.extend(outer.into_iter().map(|var| mark(LoopKind::GpuBlocks, var)));
        let most = self.below(threads.len() + 1);
        // The innermost may be lanes of a subgroup.
        let lanes = self.one_in(3);
        for (i, var) in threads.into_iter().take(most + 1).enumerate() {
            verbs.push(mark(if lanes && i == 0 { LoopKind::GpuLanes } else { LoopKind::GpuThreads }, var));
        }
        verbs.into_iter().map(|verb| Directive { subject: subject.clone(), verb, at: None }).collect()
    }
}
