//! Loops with conditions.

use super::*;

/// A condition is asked before each iteration, the first one included, of memory as it then is.
#[test]
fn conditions_end_loops() {
    let old = || load(BufId(0), U16, int(0), None);
    let down = |first: i64, extent: i64| {
        let body = store(0, int(0), sub(old(), u16c(1)));
        let condition = Some(binary(BinOp::Gt, old(), u16c(3)));
        let l = crate::For { id: LoopId(0), kind: ForKind::Serial, min: int(-2), extent: int(extent), condition, body };
        run_small(Stage::Shaped, block([store(0, int(0), u16c(first)), loop_of(l)])).unwrap()[0]
    };
    assert_eq!(down(9, i64::MAX / 2), 3);
    assert_eq!((down(9, 2), down(9, 6), down(9, 7)), (7, 3, 3));
    assert_eq!((down(3, 5), down(2, 5), down(4, 1)), (3, 2, 3));
    assert_eq!(down(9, 0), 9);
}
