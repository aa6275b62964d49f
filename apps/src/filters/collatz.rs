//! The Collatz problem: the steps in which a number becomes 1, halved where it is even, and else tripled and one more.

use super::plane;
use halide::prelude::*;
use halide_tool::app::{App, Settings, Shows, Takes};
use halide_tool::schedules;

/// The app.
pub const APP: App = App {
    name: "collatz",
    about: "steps in which numbers become 1, as i32; loops without a bound that end",
    settings: &[],
    takes: Takes::Nothing,
    shows: Shows::Nothing,
    schedules: schedules!["schedules/collatz": cpu, root],
    pipeline,
    inputs: |_, _, _| Vec::new(),
    output: plane,
    size: (1024, 512),
    operations: None,
};

/// The algorithm. Parameter: the length of a row of numbers, which begin at 1.
pub fn pipeline(_: &Settings) -> Result<Pipeline, AlgorithmErrors> {
    let row = Param::<i32>::new("row").with_default(1024).with_range(1, 1 << 15);
    let (x, y) = vars!(x, y);
    let (mut z, mut output) = (Func::new("z"), Func::new("output"));
    z[(x, y)] = tuple([cast::<i64>(y * row + x + 1), 0.expr()]);
    let r = RDom::named("r", [(0, i32::MAX)]);
    // Points that a schedule computes beyond those asked for end, too: 0 and negative numbers are not of the problem.
    r.where_(z[(x, y)].at(0).gt(1));
    let n = z[(x, y)].at(0);
    z[(x, y)] = tuple([select((n % 2).eq(0), n / 2, 3 * n + 1), r.x + 1]);
    output[(x, y)] = z[(x, y)].at(1);
    Pipeline::new([&output])
}
