//! Copies between two layouts of one region, as few and as long as the layouts allow.

use super::shape::Shape;

/// A dimension that both layouts have: its extent and the strides of source and target.
#[derive(Clone, Copy)]
struct Both {
    extent: i64,
    from: i64,
    to: i64,
}

/// Copies every element of `source` to its point in `target`. The shapes have equal extents.
pub(super) fn copy_elements<T: Copy>(from: &[T], source: &Shape, to: &mut [T], target: &Shape) {
    let Some((row, outer)) = joined_dims(source, target) else { return };
    let (mut start, mut place) = (source.offset, target.offset);
    let mut at = vec![0i64; outer.len()];
    loop {
        copy_row(&from[start as usize..], &mut to[place as usize..], row);
        let Some(next) = (0..outer.len()).find(|&d| at[d] + 1 < outer[d].extent) else { return };
        for (c, dim) in at.iter_mut().zip(&outer).take(next) {
            start -= *c * dim.from;
            place -= *c * dim.to;
            *c = 0;
        }
        at[next] += 1;
        start += outer[next].from;
        place += outer[next].to;
    }
}

/// Returns the innermost dimension and those around it, in the target's order in memory; dimensions that follow each
/// other in both layouts are one. `None` if there is no element.
fn joined_dims(source: &Shape, target: &Shape) -> Option<(Both, Vec<Both>)> {
    let mut dims: Vec<Both> = Vec::new();
    for d in target.memory_order() {
        let (from, to) = (source.dims[d], target.dims[d]);
        if to.extent <= 0 {
            return None;
        }
        match dims.last_mut() {
            _ if to.extent == 1 => {}
            Some(last) if from.stride == last.from * last.extent && to.stride == last.to * last.extent => {
                last.extent *= to.extent;
            }
            _ => dims.push(Both { extent: to.extent, from: from.stride, to: to.stride }),
        }
    }
    if dims.is_empty() {
        return Some((Both { extent: 1, from: 1, to: 1 }, dims));
    }
    let row = dims.remove(0);
    Some((row, dims))
}

fn copy_row<T: Copy>(from: &[T], to: &mut [T], row: Both) {
    let Both { extent, from: step, to: to_step } = row;
    if (step, to_step) == (1, 1) {
        to[..extent as usize].copy_from_slice(&from[..extent as usize]);
        return;
    }
    for i in 0..extent {
        to[(i * to_step) as usize] = from[(i * step) as usize];
    }
}
