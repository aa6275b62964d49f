//! Updates: scans, histograms, predicates, tuples, stages that are pure in different dimensions.

use super::Build;
use crate::buffer::{Buffer, Region};
use crate::interp::Inputs;
use crate::ops::BinOp;
use crate::pipeline::{DimField, Kind};
use crate::types::ScalarType::*;
use crate::value::Scalar;

#[test]
fn histogram_and_its_cumulative_scan() {
    let mut b = Build::default();
    let [i] = b.vars(["i"]);
    let vi = b.var(i);
    let input = b.image("input", U8, 2);
    let zero = b.lit(0);
    let histogram = b.func("histogram", &[i], &[zero]);
    let dims: Vec<_> =
        (0..2).map(|d| (b.image_dim(input, d, DimField::Min), b.image_dim(input, d, DimField::Extent))).collect();
    let r = b.rdom_of(&dims);
    let (rx, ry) = (b.rvar(r, 0), b.rvar(r, 1));
    let pixel = b.read(input, &[rx, ry]);
    let bin = b.cast(I32, pixel);
    let count = b.call(histogram, &[bin]);
    let more = b.plus(count, 1);
    b.update(histogram, Some(r), &[bin], &[more]);

    let value = b.call(histogram, &[vi]);
    let scan = b.func("scan", &[i], &[value]);
    let s = b.rdom(&[(1, 255)]);
    let rs = b.rvar(s, 0);
    let previous = b.plus(rs, -1);
    let (before, now) = (b.call(scan, &[previous]), b.call(scan, &[rs]));
    let sum = b.add(before, now);
    b.update(scan, Some(s), &[rs], &[sum]);

    let photo =
        Buffer::from_fn(&Region::of_spans([(-7, 61), (3, 23)]), |at| (at[0] * at[1] * 31 + at[1]) as u8).unwrap();
    let mut counts = [0i64; 256];
    photo.to_vec().iter().for_each(|v| counts[*v as usize] += 1);
    let inputs = Inputs::new().image("input", &photo);
    b.check(histogram, &inputs, (0, 256), &counts);
    let sums: Vec<i64> = counts
        .iter()
        .scan(0, |s, c| {
            *s += c;
            Some(*s)
        })
        .collect();
    b.check(scan, &inputs, (0, 256), &sums);
    b.check(scan, &inputs, (-2, 3), &[0, 0, sums[0]]);
    b.check(scan, &inputs, (255, 2), &[sums[255], 0]);
}

#[test]
fn sums_with_a_predicate_per_point() {
    let mut b = Build::default();
    let [x] = b.vars(["x"]);
    let vx = b.var(x);
    let zero = b.lit(0);
    let f = b.func("f", &[x], &[zero]);
    let r = b.rdom(&[(0, 10), (-1, 3)]);
    let (rx, ry) = (b.rvar(r, 0), b.rvar(r, 1));
    // Where r.x <= x the sum takes r.x * r.y + x; the image read is legal only there.
    let input = b.image("input", I32, 1);
    let predicate = b.bin(BinOp::Le, rx, vx);
    b.p.rdoms[r].predicate = Some(predicate);
    let difference = b.bin(BinOp::Sub, vx, rx);
    let pixel = b.read(input, &[difference]);
    let product = b.bin(BinOp::Mul, pixel, ry);
    let term = b.add(product, vx);
    let current = b.call(f, &[vx]);
    let sum = b.add(current, term);
    b.update(f, Some(r), &[vx], &[sum]);
    let table = Buffer::from_fn(&Region::of_extents([400]), |at| at[0] * at[0]).unwrap();
    let expected: Vec<i64> = (0..400i64)
        .map(|x| {
            let terms = (-1..2).flat_map(|ry| (0..10).map(move |rx| (rx, ry))).filter(|(rx, _)| *rx <= x);
            terms.map(|(rx, ry)| (x - rx) * (x - rx) * ry + x).sum()
        })
        .collect();
    b.check(f, &Inputs::new().image("input", &table), (0, 400), &expected);
}

#[test]
fn tuple_elements_update_at_once() {
    let mut b = Build::default();
    let [x] = b.vars(["x"]);
    let vx = b.var(x);
    let (zero, one) = (b.lit(0), b.lit(1));
    let fib = b.func("fib", &[], &[zero, one]);
    let r = b.rdom(&[(0, 10)]);
    let (a, c) = (b.element(fib, 0, &[]), b.element(fib, 1, &[]));
    let sum = b.add(a, c);
    b.update(fib, Some(r), &[], &[c, sum]);
    let f = b.func("f", &[x], &[a]);
    b.check(f, &Inputs::new(), (0, 2), &[55, 55]);
    // argmax keeps the first of equals.
    let input = b.image("input", F32, 1);
    let lowest = b.lit(f32::NEG_INFINITY);
    let best = b.func("best", &[], &[zero, lowest]);
    let r = b.rdom(&[(0, 7)]);
    let rx = b.rvar(r, 0);
    let pixel = b.read(input, &[rx]);
    let (at, value) = (b.element(best, 0, &[]), b.element(best, 1, &[]));
    let better = b.bin(BinOp::Gt, pixel, value);
    let (at, value) = (b.select(better, rx, at), b.select(better, pixel, value));
    b.update(best, Some(r), &[], &[at, value]);
    let at = b.element(best, 0, &[]);
    let g = b.add(at, vx);
    let g = b.func("g", &[x], &[g]);
    let table = Buffer::from_slice([7], &[1.0f32, -2.0, 9.5, 3.0, 9.5, f32::NAN, 0.0]).unwrap();
    b.check(g, &Inputs::new().image("input", &table), (0, 1), &[2]);
}

/// A recursive filter down the columns, then along the rows, then a point, then a row again.
#[test]
fn stages_pure_in_different_dimensions() {
    let mut b = Build::default();
    let [x, y] = b.vars(["x", "y"]);
    let (vx, vy) = (b.var(x), b.var(y));
    let (three, five) = (b.lit(3), b.lit(5));
    let (tx, ty) = (b.bin(BinOp::Mul, vx, three), b.bin(BinOp::Mul, vy, five));
    let start = b.add(tx, ty);
    let f = b.func("f", &[x, y], &[start]);
    let (w, h) = (7, 9);
    let down = b.rdom(&[(1, h - 1)]);
    let r = b.rvar(down, 0);
    let above = b.plus(r, -1);
    let (p, q) = (b.call(f, &[vx, above]), b.call(f, &[vx, r]));
    let sum = b.add(p, q);
    b.update(f, Some(down), &[vx, r], &[sum]);
    let along = b.rdom(&[(1, w - 1)]);
    let r = b.rvar(along, 0);
    let left = b.plus(r, -1);
    let (p, q) = (b.call(f, &[left, vy]), b.call(f, &[r, vy]));
    let sum = b.add(p, q);
    b.update(f, Some(along), &[r, vy], &[sum]);
    let (two, four) = (b.lit(2), b.lit(4));
    let (p, q) = (b.call(f, &[two, four]), b.call(f, &[three, four]));
    let product = b.bin(BinOp::Mul, p, q);
    b.update(f, None, &[two, four], &[product]);
    let p = b.call(f, &[vx, four]);
    let more = b.plus(p, 1);
    b.update(f, None, &[vx, four], &[more]);

    let value = |x: i32, y: i32| x.wrapping_mul(3) + y * 5;
    let mut grid: Vec<Vec<i32>> = (-2..h + 2).map(|y| (-2..w + 2).map(|x| value(x, y)).collect()).collect();
    for y in 3..(h + 2) as usize {
        let above = grid[y - 1].clone();
        grid[y].iter_mut().zip(above).for_each(|(v, a)| *v += a);
    }
    for row in &mut grid {
        (3..(w + 2) as usize).for_each(|x| row[x] += row[x - 1]);
    }
    grid[6][4] *= grid[6][5];
    grid[6].iter_mut().for_each(|v| *v += 1);
    for spans in [[(-2, w + 4), (-2, h + 4)], [(3, 1), (4, 1)], [(2, 1), (4, 1)], [(0, 5), (8, 1)]] {
        let out = b.run(f, &Inputs::new(), &spans).unwrap();
        for at in out[0].coords() {
            let expected = grid[(at[1] + 2) as usize][(at[0] + 2) as usize];
            assert_eq!(out[0].get(&at), Some(expected.into()), "{at:?} of {spans:?}");
        }
    }
}

#[test]
fn a_diagonal_store_and_a_scatter() {
    let mut b = Build::default();
    let [x, y] = b.vars(["x", "y"]);
    let (vx, vy) = (b.var(x), b.var(y));
    let zero = b.lit(0);
    let f = b.func("f", &[x, y], &[zero]);
    let p = b.call(f, &[vx, vx]);
    let p = b.add(p, vx);
    b.update(f, None, &[vx, vx], &[p]);
    let r = b.rdom(&[(0, 4)]);
    let rx = b.rvar(r, 0);
    let (two, three) = (b.lit(2), b.lit(3));
    let at = b.bin(BinOp::Mul, rx, two);
    let at = b.bin(BinOp::Mod, at, three);
    let sum = b.add(rx, vy);
    b.update(f, Some(r), &[at, vy], &[sum]);
    let out = b.run(f, &Inputs::new(), &[(0, 5), (0, 5)]).unwrap();
    for at in out[0].coords() {
        // 0 and 3 store to 0, 1 to 2, 2 to 1; the last store stays.
        let stored = [Some(3), Some(2), Some(1), None, None][at[0] as usize].map(|r| r + at[1]);
        let diagonal = if at[0] == at[1] { at[0] } else { 0 };
        assert_eq!(out[0].get(&at), Some(stored.unwrap_or(diagonal).into()), "{at:?}");
    }
}

#[test]
fn domains_without_points_change_nothing() {
    let mut b = Build::default();
    let [x] = b.vars(["x"]);
    let vx = b.var(x);
    let f = b.func("f", &[x], &[vx]);
    let n = b.param("n", I32, Some(Scalar::from(3)));
    let n = b.node(Kind::Param(n), I32);
    let (zero, two) = (b.lit(0), b.lit(2));
    let r = b.rdom_of(&[(zero, two), (zero, n)]);
    let p = b.call(f, &[vx]);
    let more = b.plus(p, 1);
    b.update(f, Some(r), &[vx], &[more]);
    b.check(f, &Inputs::new(), (10, 2), &[16, 17]);
    b.check(f, &Inputs::new().param("n", 0), (10, 2), &[10, 11]);
    b.check(f, &Inputs::new().param("n", -5), (10, 2), &[10, 11]);
}

#[test]
fn reads_of_an_update_see_what_was_stored_before() {
    // Every prime knocks out its multiples: f(r.x * r.y) = 0 where f(r.x) still holds.
    let mut b = Build::default();
    let [x] = b.vars(["x"]);
    let one = b.lit(1);
    let f = b.func("sieve", &[x], &[one]);
    let r = b.rdom(&[(2, 48), (2, 48)]);
    let (ry, rx) = (b.rvar(r, 0), b.rvar(r, 1));
    let at = b.bin(BinOp::Mul, rx, ry);
    let (zero, prime) = (b.lit(0), b.call(f, &[rx]));
    let predicate = b.bin(BinOp::Ne, prime, zero);
    b.p.rdoms[r].predicate = Some(predicate);
    b.update(f, Some(r), &[at], &[zero]);
    let expected: Vec<i64> = (2..50).map(|n| (2..n).all(|d| n % d != 0) as i64).collect();
    b.check(f, &Inputs::new(), (2, 48), &expected);
}

#[test]
fn a_long_reduction_with_a_computed_operand() {
    let mut b = Build::default();
    let [x] = b.vars(["x"]);
    let vx = b.var(x);
    let square = b.bin(BinOp::Mul, vx, vx);
    let squares = b.func("squares", &[x], &[square]);
    let zero = b.lit(0);
    let total = b.func("total", &[], &[zero]);
    let r = b.rdom(&[(0, 200), (0, 100)]);
    let (rx, ry) = (b.rvar(r, 0), b.rvar(r, 1));
    let at = b.add(rx, ry);
    let (term, current) = (b.call(squares, &[at]), b.call(total, &[]));
    let sum = b.add(current, term);
    b.update(total, Some(r), &[], &[sum]);
    let read = b.call(total, &[]);
    let f = b.func("f", &[x], &[read]);
    let expected = (0..100i64).flat_map(|y| (0..200).map(move |x| (x + y) * (x + y))).sum::<i64>();
    b.check(f, &Inputs::new(), (0, 1), &[expected as i32 as i64]);
}
