//! The rules beside VEC-TSS.

use crate::support::{matmul, server};
use halide_auto::tss::{TssOptions, reuse, rules};

#[test]
fn sizes_of_the_rules() {
    let (nest, machine, options) = (matmul(1599, 1599), server(), TssOptions::default());
    assert_eq!(rules::untiled(&nest), [1599, 1599, 1599]);
    assert_eq!(rules::cube(&nest, 32), [32, 32, 32]);
    assert_eq!(rules::cube(&matmul(20, 20), 32), [20, 20, 20]);
    assert_eq!(rules::cube(&nest, 0), [1, 1, 1]);
    let sica = rules::sica(&nest, &machine, 1, &options).unwrap();
    assert_eq!(sica, [47, 47, 40]);
    assert!(reuse(&nest, &sica).working_bytes <= 48 << 10);
    let tts = rules::tts(&nest, &machine, 1, &options).unwrap();
    assert_eq!(tts[2], 1599);
    assert!(tts[0] == tts[1] && reuse(&nest, &tts).working_bytes <= 12 << 20);
    assert!(reuse(&nest, &[tts[0] + 1, tts[1] + 1, 1599]).working_bytes > 12 << 20, "the largest that fits");
}

#[test]
fn candidates_are_all_combinations() {
    let (nest, machine, options) = (matmul(20, 20), server(), TssOptions::default());
    let all: Vec<Vec<u64>> = rules::candidates(&nest, &machine, 1, &options, usize::MAX).unwrap().collect();
    assert_eq!(all.len(), 20 * 2 * 3);
    assert_eq!(all[0], [1, 8, 8]);
    assert_eq!(all[1], [1, 8, 16]);
    assert_eq!(all[2], [1, 8, 20], "the whole row");
    assert_eq!(all[3], [1, 16, 8]);
    assert_eq!(all[all.len() - 1], [20, 16, 20]);
    assert!(all.is_sorted());
}

#[test]
fn candidates_get_sparse() {
    let (machine, options) = (server(), TssOptions::default());
    for n in [1, 7, 100, 3199, 1 << 40, i64::MAX as u64, u64::MAX] {
        for most in [0, 1, 2, 3, 10, 100, usize::MAX] {
            let candidates = rules::candidates(&matmul(n, 8), &machine, 1, &options, most).unwrap();
            let total = candidates.total();
            assert!(total <= (most as u64).clamp(1, 1 << 20).pow(3), "{n}, {most}: {total}");
            let some: Vec<Vec<u64>> = candidates.take(200).collect();
            assert!(some.is_sorted() && some.iter().flatten().all(|size| (1..=n).contains(size)));
            let whole = |sizes: &Vec<u64>| sizes[2] == n;
            assert!(!(2..=200).contains(&most) || some.iter().any(whole), "{n}, {most}: the longest is among them");
        }
    }
}
