//! Schedules that are chosen: the same ones on any number of threads, with the values of plain loops at any size.

use halide::prelude::*;

fn blur() -> Pipeline {
    let input = ImageParam::new("input", U16, 2);
    let (x, y) = vars!(x, y);
    let edges = repeat_edge(&input);
    let (mut across, mut down) = (Func::new("across"), Func::new("down"));
    across[(x, y)] = (edges[(x - 1, y)] + edges[(x, y)] + edges[(x + 1, y)]) / 3;
    down[(x, y)] = (across[(x, y - 1)] + across[(x, y)] + across[(x, y + 1)]) / 3;
    Pipeline::new([&down]).unwrap()
}

/// Counts of the values of an input, over rows and columns that its size does not decide.
fn counts(columns: i64, rows: i64) -> Pipeline {
    let input = ImageParam::new("input", U16, 2);
    let i = Var::new("i");
    let r = RDom::named("r", [(0, columns), (0, rows)]);
    let mut counts = Func::new("counts");
    counts[i] = 0u32.expr();
    let bin = cast::<i32>(input[(r.x, r.y)] % 64u16);
    counts[&bin] += 1u32;
    Pipeline::new([&counts]).unwrap()
}

/// Sums of the squares of rows.
fn sums(columns: i64) -> Pipeline {
    let input = ImageParam::new("input", U16, 2);
    let y = Var::new("y");
    let r = RDom::named("r", [(0, columns)]);
    let mut sums = Func::new("sums");
    sums[y] = 0u32.expr();
    let element = cast::<u32>(input[(r.x, y)]);
    sums[y] += element * element;
    Pipeline::new([&sums]).unwrap()
}

#[test]
fn choices_are_the_same_on_any_number_of_threads() {
    let target = Target { threads: 4, ..Target::host() };
    let cases = [
        (blur(), Estimates::new().output("down", [1931, 1201])),
        (counts(1201, 907), Estimates::new().output("counts", [64])),
        (sums(1024), Estimates::new().output("sums", [777])),
    ];
    for (pipeline, sizes) in &cases {
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let auto = pool.install(|| pipeline.auto_schedule(&target, sizes)).unwrap();
            assert_eq!(auto.refused, Vec::<String>::new());
            (auto.schedule.to_string(), auto.predicted_ns.to_bits(), auto.priced)
        };
        assert_eq!(on(1), on(3));
    }
}

/// Parts of a sum are put together whatever their number is: the last one may have fewer terms.
#[test]
fn sums_in_parts_have_the_values_of_plain_loops() {
    let sizes = [(1, 400_009), (601, 1009), (1024, 640), (300_007, 3), (5, 33), (1, 1)];
    let host = Target::host();
    let widths = [128, 256, 512].into_iter().filter(|bits| *bits <= host.vector_bits);
    for (vector_bits, (columns, rows)) in widths.flat_map(|bits| sizes.map(|size| (bits, size))) {
        let target = Target { threads: 4, vector_bits, ..host };
        let pipeline = counts(columns, rows);
        let chosen = pipeline.auto_schedule(&target, &Estimates::new().output("counts", [64])).unwrap().schedule;
        let is_in_parts = chosen.to_string().contains("rfactor");
        assert_eq!(is_in_parts, columns * rows > 1000, "{columns} x {rows}:\n{chosen}");
        let input =
            Buffer::from_fn(&Region::of_extents([columns, rows]), |at| (at[0] * 31 + at[1] * 57 + at[1] % 7) as u16);
        let input: Buffer<u16> = input.unwrap();
        let of = |schedule: &Schedule| {
            let compiled = pipeline.compile(schedule, &target).unwrap();
            compiled.inputs().image_named("input", &input).realize_all(&[Region::of_extents([64])]).unwrap()
        };
        assert!(of(&chosen) == of(&Schedule::new()), "{columns} x {rows}:\n{chosen}");
    }
}
