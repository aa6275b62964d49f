//! Regions by the values of Funcs and the predicates of domains.

use crate::matrix::{TARGET, check, random_image};
use halide_core::buffer::{AnyBuffer, Region};
use halide_core::expr::*;
use halide_core::types::*;
use halide_core::{Func, ImageParam, Pipeline, RDom, vars};
use halide_ir::eval;
use halide_sched::lower::{LowerOptions, lower_to_bounded};

/// Returns the most elements of `func` that are stored at once, under a schedule.
fn stored(pipeline: &Pipeline, schedule: &str, images: &[(&str, AnyBuffer)], region: &Region, func: &str) -> u64 {
    let plan = halide_sched::plan::resolve(pipeline, &schedule.parse().unwrap(), &TARGET).unwrap();
    let options = LowerOptions { exact_tails: true, ..Default::default() };
    let program = lower_to_bounded(&plan, &options).unwrap().program;
    let given = |name: &str| images.iter().find(|(n, _)| *n == name).unwrap().1.clone();
    let bound: Vec<AnyBuffer> = pipeline.images.iter().map(|i| given(&i.name)).collect();
    let mut outputs = [AnyBuffer::with_region(I32, region).unwrap()];
    let stats = eval::run(&program, &[], &bound, &mut outputs).unwrap();
    let at = program.buffers.enumerate().find(|(_, b)| b.name == func).unwrap().0;
    stats.buffers[at].peak_elements
}

/// `out(x) = table(index(x))`, under schedules that store `index` in every way.
fn check_table(index: &Func, table_elements: u64) {
    let (x, i) = vars!(x, i);
    let (mut table, mut out) = (Func::new("table"), Func::new("out"));
    table[i] = i * 7 + 1;
    out[x] = table[index[x]];
    let pipeline = Pipeline::new([&out]).unwrap();
    let name = index.name();
    for extent in [1, 8, 19] {
        let region = Region::of_extents([extent]);
        let images = [
            ("bytes", random_image(U8, &Region::of_extents([40]), 5)),
            ("ints", random_image(I32, &Region::of_extents([40]), 6)),
        ];
        let images: Vec<(&str, AnyBuffer)> =
            images.into_iter().filter(|(n, _)| pipeline.images.iter().any(|i| i.name == *n)).collect();
        for schedule in [
            format!("table: compute_root()\n {name}: compute_root()"),
            format!("table: compute_root()\n {name}: compute_root() vectorize(x, 4)\n out: vectorize(x, 8)"),
            format!("table: compute_root()\n {name}: store_root() compute_at(out, x)"),
            format!(
                "table: compute_root()\n {name}: store_root() compute_at(out, x$o) vectorize(x, 4)\n \
                 out: split(x, x$o, xi, 8) vectorize(xi)"
            ),
            format!(
                "out: split(x, xo, xi, 4)\n table: compute_at(out, xo)\n {name}: store_at(out, xo) compute_at(out, xi)"
            ),
        ] {
            check(&pipeline, &schedule, &images, &region);
            assert_eq!(stored(&pipeline, &schedule, &images, &region, "table"), table_elements, "{name}: {schedule}");
        }
    }
}

#[test]
fn a_table_is_as_large_as_what_its_index_can_be() {
    let (bytes, ints) = (ImageParam::new("bytes", U8, 1), ImageParam::new("ints", I32, 1));
    let x = vars!(x);
    let mut byte = Func::new("byte");
    byte[x] = bytes[x];
    check_table(&byte, 256);
    let mut clamped = Func::new("clamped");
    clamped[x] = clamp(ints[x], -3, 40);
    check_table(&clamped, 44);
    let mut quotient = Func::new("quotient");
    quotient[x] = cast::<i32>(bytes[x]) / 4 + min(cast::<i32>(bytes[x + 1]), 10);
    check_table(&quotient, 74);
    let mut sized = Func::new("sized");
    sized[x] = clamp(ints[x], 0, bytes.dim(0).extent() - 1) + cast::<i32>(bytes[x]) / 256;
    check_table(&sized, 40);
    let mut through = Func::new("through");
    through[x] = clamped[x] + clamped[x + 1];
    check_table(&through, 87);
    let mut chosen = Func::new("chosen");
    chosen[x] = select(bytes[x].lt(60), cast::<i32>(bytes[x]), 256 - cast::<i32>(bytes[x]));
    check_table(&chosen, 197);
    let mut cut = Func::new("cut");
    cut[x] = select(byte[x].gt(20), 20, byte[x]);
    check_table(&cut, 21);
    // An update that reads what it updates, and one that grows without end.
    let r = RDom::named("r", [(0, 3)]);
    let mut largest = Func::new("largest");
    largest[x] = 5.expr();
    largest[x] = max(largest[x], cast::<i32>(bytes[x + r.x]) / 8);
    check_table(&largest, 27);
    let mut grown = Func::new("grown");
    grown[x] = cast::<u8>(5);
    grown[x] += bytes[x + r.x] / 8;
    check_table(&grown, 256);
}

#[test]
fn a_predicate_narrows_what_is_read() {
    let input = ImageParam::new("ints", I32, 1);
    let x = vars!(x);
    let r = RDom::named("r", [(0, 100)]);
    r.where_(r.x.ge(2) & (r.x + 1).lt(9));
    let (mut f, mut out) = (Func::new("f"), Func::new("out"));
    f[x] = input[x] * 3;
    out[x] = 0.expr();
    out[x] += f[x + r.x];
    let pipeline = Pipeline::new([&out]).unwrap();
    for schedule in [
        "f: compute_root()",
        "f: compute_root() vectorize(x, 4)\n out.update(0): vectorize(x, 4)",
        "f: compute_root()\n out.update(0): split(r.x, ro, ri, 8) unroll(ri)",
        // What is computed inside of the loop over the domain is computed at points that are not admitted too.
        "f: compute_at(out.update(0), x)",
    ] {
        for extent in [1, 5, 8] {
            let region = Region::of_extents([extent]);
            let images = [("ints", random_image(I32, &Region::of_spans([(2, extent + 5)]), 6))];
            check(&pipeline, schedule, &images, &region);
        }
    }
    let images = [("ints", random_image(I32, &Region::of_extents([120]), 6))];
    let region = Region::of_extents([4]);
    check(&pipeline, "f: compute_at(out.update(0), r.x)", &images, &region);
    assert_eq!(stored(&pipeline, "f: compute_root()", &images, &region, "f"), 4 + 5);
}
