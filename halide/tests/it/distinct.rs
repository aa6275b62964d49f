//! Inputs without equal elements (`promise_distinct`).

use halide::prelude::*;

/// Sends each value to its place, and counts what comes there.
fn sent() -> (Pipeline, Schedule) {
    let (values, order) = (ImageParam::new("values", I32, 1), ImageParam::new("order", I32, 1));
    order.promise_values(0, 9999);
    order.promise_distinct();
    let (x, mut f) = (vars!(x), Func::new("f"));
    f[x] = -1.expr();
    let r = RDom::over(&order);
    f[order[r.x]] = values[r.x];
    (Pipeline::new([&f]).unwrap(), "f.update(0): split(r.x, ro, ri, 64) parallel(ro)".parse().unwrap())
}

#[test]
fn scatter_in_threads() {
    let (pipeline, schedule) = sent();
    for engine in [Engine::Interp, Engine::Eval, crate::CPU] {
        let compiled = Compiler::new(&pipeline).engine(engine).schedule(&schedule).compile().unwrap();
        for n in [0, 1, 7, 1000] {
            let order: Vec<i32> = (0..n).map(|i| (i * 7 + 3) % n.max(1)).collect();
            let order: Vec<i32> = if n == 7 { (0..n).rev().collect() } else { order };
            let values: Vec<i32> = (0..n).map(|i| i * i).collect();
            let mut want = vec![-1; 10_000];
            order.iter().zip(&values).for_each(|(at, value)| want[*at as usize] = *value);
            let of = |all: &[i32]| Buffer::<i32>::from_slice([all.len() as i32], all).unwrap();
            let call = compiled.inputs().image_named("values", of(&values)).image_named("order", of(&order));
            assert_eq!(call.threads(2).realize::<i32>([10_000]).unwrap().to_vec(), want, "{engine:?} {n}");
        }
    }
}

#[test]
fn equal_elements_are_errors() {
    let (pipeline, schedule) = sent();
    let compiled = pipeline.compile(&schedule, &Target::host()).unwrap();
    let run = |order: Vec<i32>| {
        let values = Buffer::<i32>::from_slice([order.len() as i32], &vec![0; order.len()]).unwrap();
        let order = Buffer::<i32>::from_slice([order.len() as i32], &order).unwrap();
        let call = compiled.inputs().image_named("values", values).image_named("order", order);
        call.realize::<i32>([10_000]).unwrap_err().to_string()
    };
    expect_test::expect![[r#"
        input `order` has 5 at [0] and at [3], but its elements are promised to be distinct; give other data, or take the promise back
        input `order` has 8 at [0] and at [1], but its elements are promised to be distinct; give other data, or take the promise back
        input `order` has 1 at [0] and at [1], but its elements are promised to be distinct; give other data, or take the promise back"#]].assert_eq(&[run(vec![5, 0, 9999, 5]), run(vec![8, 8]), run(vec![1; 100])].join("\n"));
}

/// A promise that was found to hold is not checked again until the memory may have been written, of the same elements.
#[test]
fn promises_are_remembered_with_the_memory() {
    let (index, table, x) = (ImageParam::new("index", I32, 1), ImageParam::new("table", I32, 1), Var::new("x"));
    index.promise_values(0, 3);
    index.promise_growing(0);
    let mut f = Func::new("f");
    f[x] = table[index[x]];
    let compiled = Pipeline::new([&f]).unwrap().compile(&Schedule::new(), &Target::host()).unwrap();
    let table = Buffer::from_slice([4], &[10, 11, 12, 13]).unwrap();
    let run = |index: &AnyBuffer| {
        let call = compiled.inputs().image_named("index", index.clone()).image_named("table", &table);
        call.realize_region::<i32>(&index.region()).map(|out| out.to_vec())
    };
    let mut all = Buffer::from_slice([6], &[0, 1, 3, 3, 2, 9]).unwrap().into_any();
    let crop = |all: &AnyBuffer, min: i64, extent: i64| all.crop(&Region::of_spans([(min, extent)])).unwrap();
    for _ in 0..3 {
        assert_eq!(run(&crop(&all, 0, 4)).unwrap(), [10, 11, 13, 13]);
        // Other elements of the same memory.
        assert!(run(&crop(&all, 1, 4)).is_err());
        assert!(run(&crop(&all, 4, 2)).is_err());
        assert!(run(&all).is_err());
    }
    all.set([1], Scalar::from(7)).unwrap();
    assert!(run(&crop(&all, 0, 4)).is_err());
    all.set([1], Scalar::from(2)).unwrap();
    assert_eq!(run(&crop(&all, 0, 4)).unwrap(), [10, 12, 13, 13]);
}
