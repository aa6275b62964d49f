//! Tests by brute force over small boxes.

use super::*;
use halide_core::ids::RDomId;

const EXTENTS: [i64; 3] = [4, 3, 5];
const MINS: [i64; 3] = [0, -2, 1];

struct Random(u64);
impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % n
    }
}

fn atom(v: usize) -> Atom {
    Atom::RVar(RDomId(0), v as u8)
}

fn coordinate(random: &mut Random) -> Option<Affine> {
    if random.below(8) == 0 {
        return None;
    }
    let factors = [0, 0, 1, 1, -1, 2, 4, 12, -5];
    let terms = (0..3).map(|v| (atom(v), factors[random.below(9) as usize])).filter(|(_, c)| *c != 0).collect();
    Some(Affine { terms, offset: random.below(9) as i128 - 4 })
}

fn iterations() -> Vec<[i64; 3]> {
    let mut all = Vec::new();
    for a in 0..EXTENTS[0] {
        for b in 0..EXTENTS[1] {
            all.extend((0..EXTENTS[2]).map(|c| [MINS[0] + a, MINS[1] + b, MINS[2] + c]));
        }
    }
    all
}

/// The element, with coordinates that are not affine left out: they may be anything.
fn element(access: &[Option<Affine>], at: &[i64; 3]) -> Vec<Option<i128>> {
    let value = |form: &Affine| {
        form.offset + (0..3).map(|v| form.terms.get(&atom(v)).unwrap_or(&0) * i128::from(at[v])).sum::<i128>()
    };
    access.iter().map(|form| form.as_ref().map(value)).collect()
}

fn may_meet(a: &[Option<i128>], b: &[Option<i128>]) -> bool {
    a.iter().zip(b).all(|(a, b)| a.is_none() || b.is_none() || a == b)
}

/// Claims of independence hold for every two iterations, and enough are made.
#[test]
fn iterations_that_are_told_apart_never_meet() {
    let mut random = Random(7);
    let mut claims = 0;
    for case in 0..1500 {
        let dims = 1 + random.below(2) as usize;
        let access = |random: &mut Random| (0..dims).map(|_| coordinate(random)).collect::<Vec<_>>();
        let store = access(&mut random);
        let loads: Vec<_> = (0..random.below(2)).map(|_| access(&mut random)).collect();
        let range = |v: usize, random: &mut Random| match random.below(4) {
            0 => Range::default(),
            1 => Range { min: None, extent: Some(EXTENTS[v]) },
            _ => Range { min: Some(MINS[v]), extent: Some(EXTENTS[v]) },
        };
        let variables = (0..3).map(|v| (atom(v), range(v, &mut random))).collect();
        let equal: BTreeSet<usize> = (0..3).filter(|_| random.below(4) == 0).collect();
        let apart = Accesses::new(variables, store.clone(), loads.clone()).told_apart(&equal);
        claims += apart.iter().filter(|a| a.is_ok()).count();
        for i in &iterations() {
            for j in &iterations() {
                let others = [&store].into_iter().chain(&loads);
                let stored = element(&store, i);
                let comparable = equal.iter().all(|&v| i[v] == j[v]);
                if comparable && others.into_iter().any(|o| may_meet(&stored, &element(o, j))) {
                    let wrong = (0..3).find(|&v| apart[v].is_ok() && i[v] != j[v] && !equal.contains(&v));
                    assert_eq!(wrong, None, "case {case}: {i:?} and {j:?}\n{store:?}\n{loads:?}\nequal {equal:?}");
                }
            }
        }
    }
    assert!(claims > 1000, "only {claims}");
}
