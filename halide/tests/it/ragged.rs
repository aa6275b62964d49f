//! Rows whose offsets are data: what is promised of these is checked, on every engine, before anything is read by them.

use halide::prelude::*;

/// Sums of rows that lie one after the other; `offsets` says where each begins.
fn sums_of_rows() -> Pipeline {
    let offsets = ImageParam::new("offsets", I32, 1);
    offsets.promise_growing(0);
    offsets.promise_values(0, 1 << 20);
    let values = ImageParam::new("values", I16, 1);
    let (row, k) = vars!(row, k);
    let (mut twice, mut sums) = (Func::new("twice"), Func::new("sums"));
    twice[k] = values[k] * 2;
    sums[row] = cast::<i16>(0);
    let r = RDom::named("r", [(0.expr(), values.width())]);
    r.where_(r.x.ge(offsets[row]) & r.x.lt(offsets[row + 1]));
    sums[row] += twice[r.x];
    Pipeline::new([&sums]).unwrap()
}

const SCHEDULES: [&str; 5] = [
    "twice: compute_root() vectorize(k, 8)\n sums.update(0): parallel(row)",
    "twice: compute_at(sums.update(0), row) vectorize(k, 8, GuardWithIf)",
    "twice: compute_at(sums.update(0), row)\n sums.update(0): parallel(row)",
    "sums.update(0): split(r.x, ro, ri, 4) atomic() vectorize(ri)",
    "sums: vectorize(row, 4)\n sums.update(0): vectorize(row, 4)\n twice: compute_root()",
];

fn run(engine: Engine, schedule: &str, offsets: &[i32]) -> Result<Vec<i16>, String> {
    let compiled =
        Compiler::new(&sums_of_rows()).engine(engine).schedule(&schedule.parse().unwrap()).compile().unwrap();
    let values: Vec<i16> = (0..20).map(|k| k * 3 - 11).collect();
    let offsets = Buffer::<i32>::from_slice([offsets.len() as i32], offsets).unwrap();
    let values = Buffer::<i16>::from_slice([20], &values).unwrap();
    let rows = offsets.as_any().extent(0) - 1;
    let given = compiled.inputs().image_named("offsets", offsets.into_any()).image_named("values", values.into_any());
    let out = given.realize_all(&[Region::of_extents([rows])]).map_err(|e| e.to_string())?;
    Ok(out[0].typed::<i16>().unwrap().to_vec())
}

#[test]
fn engines_agree_on_ragged_rows() {
    for offsets in [&[0, 3, 3, 9, 20][..], &[5, 5], &[0, 20], &[2, 4, 4, 4, 7, 19, 19, 19, 19, 20], &[20, 20, 20]] {
        let row = |w: &[i32]| (w[0]..w[1]).map(|k| 2 * (k as i16 * 3 - 11)).sum::<i16>();
        let expected: Vec<i16> = offsets.windows(2).map(row).collect();
        for schedule in SCHEDULES {
            for engine in [Engine::Interp, Engine::Eval, crate::CPU] {
                assert_eq!(run(engine, schedule, offsets).as_ref(), Ok(&expected), "{engine:?} {schedule} {offsets:?}");
            }
        }
    }
}

#[test]
fn broken_promises_are_errors() {
    for schedule in SCHEDULES {
        for engine in [Engine::Interp, Engine::Eval, crate::CPU] {
            assert_eq!(
                run(engine, schedule, &[0, 7, 3, 9]).unwrap_err(),
                "input `offsets` falls from 7 to 3 at [2], but its elements are promised to grow along dimension 0; \
                 give other data, or take the promise back"
            );
            assert_eq!(
                run(engine, schedule, &[-2, 7, 9]).unwrap_err(),
                "input `offsets` has -2 at [0], but its elements are promised to be in 0 to 1048576; \
                 give other data, or change the promise"
            );
            // Offsets behind the end keep the promise, and the domain ends with the values.
            assert!(run(engine, schedule, &[0, 7, 400_000]).is_ok(), "{engine:?} {schedule}");
        }
    }
}

#[test]
fn promises_that_cannot_be() {
    let image = ImageParam::new("image", F32, 1);
    image.promise_growing(0);
    let x = vars!(x);
    let mut f = Func::new("f");
    f[x] = image[x];
    let errors = Pipeline::new([&f]).unwrap_err().to_string();
    assert!(
        errors.contains(
            "a promise about the elements of `image` cannot hold: its elements are f32, and promises are of integers"
        ),
        "{errors}"
    );
}
