//! The shapes: ResNet-50 as *Deep Residual Learning for Image Recognition* (He et al.) has it, and the small set of
//! DeepBench.

use super::case::{Case, Shape};

/// Input channels, output channels, width and height of the input, width of the filter, and stride of each layer of
/// ResNet-50 from the second one.
const LAYERS: [[i64; 5]; 19] = [
    [64, 256, 56, 1, 1],
    [64, 64, 56, 1, 1],
    [64, 64, 56, 3, 1],
    [256, 64, 56, 1, 1],
    [256, 512, 56, 1, 2],
    [256, 128, 56, 1, 2],
    [128, 128, 28, 3, 1],
    [128, 512, 28, 1, 1],
    [512, 128, 28, 1, 1],
    [512, 1024, 28, 1, 2],
    [512, 256, 28, 1, 2],
    [256, 256, 14, 3, 1],
    [256, 1024, 14, 1, 1],
    [1024, 256, 14, 1, 1],
    [1024, 2048, 14, 1, 2],
    [1024, 512, 14, 1, 2],
    [512, 512, 7, 3, 1],
    [512, 2048, 7, 1, 1],
    [2048, 512, 7, 1, 1],
];

/// The layers, as blocks of 16 channels.
pub fn resnet50(images: i64) -> Vec<Case> {
    let layer = |(n, [from, to, size, taps, stride]): (i64, [i64; 5])| Case {
        name: format!("resnet50_{n}_of_{images}"),
        shape: Shape::Layer { from, to, size, taps, stride, images },
    };
    (2..).zip(LAYERS).map(layer).collect()
}

/// The products of DeepBench's small set: m x k by k x n in columns, which are n rows of m in ours.
pub fn deep_bench() -> Vec<Case> {
    let square = [1760, 2048, 2560, 4096].into_iter().flat_map(|m| [16, 32, 64, 128, 7000].map(|n| [m, n, m]));
    let few = [(3072, 1024), (7680, 2560), (512, 512)].into_iter().flat_map(|(m, k)| [1, 2, 4].map(|n| [m, n, k]));
    let others = [[5124, 700, 2048], [35, 700, 2048], [1024, 700, 512], [7680, 1500, 2560], [512, 8, 500_000]];
    let case = |[m, n, k]: [i64; 3]| Case {
        name: format!("gemm_{m}_{n}_{k}"),
        shape: Shape::Product { columns: m, rows: n, sums: k },
    };
    square.chain(few).chain(others).map(case).collect()
}

/// Products of matrices of u8 and i8.
pub fn int8() -> Vec<Case> {
    let case = |n: i64| Case { name: format!("int8_{n}"), shape: Shape::Bytes { columns: n, rows: n, sums: n } };
    [1024, 2048, 4096].map(case).into()
}

/// Blocks of a transformer with 8 heads of 64 channels.
pub fn blocks() -> Vec<Case> {
    let case = |tokens: i64| Case { name: format!("block_{tokens}"), shape: Shape::Block { tokens, channels: 512 } };
    [128, 512].map(case).into()
}
