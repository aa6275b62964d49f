//! Strided stores that fill a stretch of memory as one dense store.

use super::strided_store::{Family, Part, strided};
use super::{MOST_STRIDE, tile_stores};
use halide_ir::hash::{Map, Set};
use halide_ir::visit;
use halide_ir::{BufId, Expr, ExprKind, Stmt, Sym, build};

/// The statements of a block with groups of strided stores merged.
pub(super) fn interleave(list: Vec<Stmt>, rows: &Map<BufId, Vec<i64>>) -> Stmt {
    let mut done = Vec::new();
    let mut run = Run::default();
    for s in list {
        match run.push(s) {
            None => {}
            Some(refused) => {
                done.extend(std::mem::take(&mut run).finish(rows));
                done.extend(run.push(refused));
            }
        }
    }
    done.extend(run.finish(rows));
    build::block(done)
}

/// Consecutive stores, with the names they use, that read nothing that any of them writes: they may change places.
#[derive(Default)]
struct Run {
    bindings: Vec<(Sym, Expr)>,
    stores: Vec<Stmt>,
    loaded: Set<BufId>,
    stored: Set<BufId>,
    /// The statements as they were, for a run in which nothing is merged.
    original: Vec<Stmt>,
}

impl Run {
    /// Takes `s` in, or gives it back if it does not fit.
    fn push(&mut self, s: Stmt) -> Option<Stmt> {
        let mut uses = Uses::default();
        if !uses.collect(&s) {
            return Some(s);
        }
        let clash = |a: &Set<BufId>, b: &Set<BufId>| !a.is_disjoint(b);
        if clash(&uses.loaded, &uses.stored) || clash(&uses.loaded, &self.stored) || clash(&self.loaded, &uses.stored) {
            return Some(s);
        }
        self.loaded.extend(uses.loaded);
        self.stored.extend(uses.stored);
        self.original.push(s.clone());
        take_apart(s, &mut self.bindings, &mut self.stores);
        None
    }

    fn finish(self, rows: &Map<BufId, Vec<i64>>) -> Vec<Stmt> {
        let mut stores: Vec<Option<Stmt>> = self.stores.into_iter().map(Some).collect();
        let mut merged = false;
        for family in families(&stores) {
            for (parts, whole) in family.chunk_by(|a, b| b.first == a.first + 1).flat_map(|run| dense(run, rows)) {
                for part in parts {
                    stores[part.at] = None;
                }
                stores[parts[0].at] = Some(whole);
                merged = true;
            }
        }
        if !merged {
            return self.original;
        }
        vec![build::let_in(self.bindings, build::block(stores.into_iter().flatten()))]
    }
}

/// The buffers that a statement uses.
#[derive(Default)]
struct Uses {
    loaded: Set<BufId>,
    stored: Set<BufId>,
}

impl Uses {
    /// Records the uses of `s`; returns true if it consists of names, stores, counts and prefetches only.
    fn collect(&mut self, s: &Stmt) -> bool {
        if let Stmt::Store { buf, .. } = s {
            self.stored.insert(*buf);
        }
        visit::for_each_expr(s, |e| {
            visit::for_each_node(e, &mut |n| {
                if let ExprKind::Load { buf, .. } = n.kind() {
                    self.loaded.insert(*buf);
                }
            });
        });
        let mut simple = matches!(
            s,
            Stmt::Store { .. } | Stmt::Let { .. } | Stmt::Block(_) | Stmt::Count { .. } | Stmt::Prefetch { .. }
        );
        visit::for_each_stmt(s, |inner| simple = simple && self.collect(inner));
        simple
    }
}

fn take_apart(s: Stmt, bindings: &mut Vec<(Sym, Expr)>, stores: &mut Vec<Stmt>) {
    match s {
        Stmt::Let { bindings: more, body } => {
            bindings.extend(more);
            take_apart(*body, bindings, stores);
        }
        Stmt::Block(list) => list.into_iter().for_each(|s| take_apart(s, bindings, stores)),
        other => stores.push(other),
    }
}

/// The strided stores by family, each in the order of memory. A family ends at the next store to its buffer that is not
/// one of its own: that one may overlap it. Families whose own stores overlap are left out.
fn families(stores: &[Option<Stmt>]) -> Vec<Vec<Part>> {
    let mut families: Vec<Vec<Part>> = Vec::new();
    let mut open: Map<BufId, usize> = Map::default();
    for (at, s) in stores.iter().enumerate() {
        let Some(Stmt::Store { buf, .. }) = s else { continue };
        let Some(part) = s.as_ref().and_then(|s| strided(at, s)) else {
            open.remove(buf);
            continue;
        };
        match open.get(buf).filter(|&&place| families[place][0].family == part.family) {
            Some(&place) => families[place].push(part),
            None => {
                open.insert(*buf, families.len());
                families.push(vec![part]);
            }
        }
    }
    families.retain_mut(|parts| {
        parts.sort_by_key(|p| p.first);
        are_disjoint(parts)
    });
    families
}

/// Returns true if no two of the sorted `parts` store to one element.
fn are_disjoint(parts: &[Part]) -> bool {
    let Family { stride, lanes, .. } = parts[0].family;
    let mut next: Map<i64, i64> = Map::default();
    parts.iter().all(|p| {
        let free = next.entry(p.first.rem_euclid(stride)).or_insert(i64::MIN);
        let fits = p.first >= *free;
        *free = p.first + stride * i64::from(lanes);
        fits
    })
}

/// The neighbouring `parts` that dense stores can take the place of, with these: as many as their stride, if that is
/// small, or columns of a tile.
fn dense<'a>(parts: &'a [Part], rows: &Map<BufId, Vec<i64>>) -> Vec<(&'a [Part], Stmt)> {
    let stride = parts[0].family.stride;
    if stride <= MOST_STRIDE {
        return parts.chunks_exact(stride as usize).filter_map(|c| Some((c, merge(c)?))).collect();
    }
    let strides = rows.get(&parts[0].family.buf).map_or(&[][..], Vec::as_slice);
    let (mut made, mut left) = (Vec::new(), parts);
    while !left.is_empty() {
        let tile = tile_stores::rows(left, strides);
        let columns = tile.as_ref().map_or(1, |(_, columns)| *columns);
        made.extend(tile.map(|(stores, _)| (&left[..columns], stores)));
        left = &left[columns..];
    }
    made
}

/// The dense store of neighbouring `parts`, as many as their stride.
fn merge(parts: &[Part]) -> Option<Stmt> {
    let Part { first, rest, family, .. } = &parts[0];
    let (stride, lanes) = (family.stride as u16, family.lanes);
    stride.checked_mul(lanes)?;
    let picked = (0..stride * lanes).map(|l| l % stride * lanes + l / stride).collect();
    let index = build::ramp(build::offset(rest.clone(), *first), build::int(1), stride * lanes);
    let value = build::shuffle(parts.iter().map(|p| p.value.clone()).collect(), picked);
    Some(Stmt::Store { buf: family.buf, index, value, mask: None })
}
