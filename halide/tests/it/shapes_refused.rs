//! Shapes of calls that cannot be, and code that could not be made for a shape.

use halide::prelude::*;

fn ramp(rule: impl FnOnce(&Func)) -> (Func, Pipeline) {
    let x = vars!(x);
    let mut f = Func::new("f");
    f[x] = x * 2;
    rule(&f);
    let pipeline = Pipeline::new([&f]).unwrap();
    (f, pipeline)
}

fn of(extents: impl IntoIterator<Item = i64>) -> Shapes {
    Shapes::of_outputs(extents.into_iter().map(|n| Region::of_extents([n])))
}

/// A failure neither stays nor drives out code that is there.
#[test]
fn failures_are_not_kept() {
    let (_, pipeline) = ramp(|_| ());
    let cache = ShapeCache::new(Compiler::new(&pipeline)).keep(1);
    cache.get(&of([8])).unwrap();
    for _ in 0..2 {
        assert!(cache.get(&of([8, 9])).is_err());
        assert_eq!(cache.shapes(), [of([8])]);
    }
    cache.get(&of([9])).unwrap();
    assert_eq!(cache.shapes(), [of([9])]);
    //    assert!(format!("{cache:?}").starts_with("ShapeCache"));
}
