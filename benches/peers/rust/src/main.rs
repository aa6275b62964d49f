//! One crate's kernel in a process of its own: `halide-peers KERNEL PEER WIDTH HEIGHT THREADS`, then one number of runs
//! per line of standard input; prints the milliseconds of each run as a JSON list. `halide-peers list` names what there
//! is.

mod filters;
mod images;
mod loops;
mod products;

use std::io::{BufRead, Write};
use std::time::Instant;

/// A kernel on its inputs: one call is one run.
type Kernel = Box<dyn FnMut()>;

/// Width, height and threads of a run.
#[derive(Clone, Copy)]
struct Job {
    width: usize,
    height: usize,
    threads: usize,
}

/// All measurements: kernel, peer, and the function that sets it up.
const ALL: &[(&str, &str, fn(Job) -> Kernel)] = &[
    ("matmul", "faer", products::faer),
    ("matmul", "gemm", products::gemm),
    ("matmul", "matrixmultiply", products::matrixmultiply),
    ("matmul_f64", "faer", products::faer_f64),
    ("matmul_f64", "gemm", products::gemm_f64),
    ("matmul_f64", "matrixmultiply", products::matrixmultiply_f64),
    ("resize_half_f32", "fast_image_resize", images::half_f32),
    ("resize_double_u8", "fast_image_resize", images::double_u8),
    ("resize_double_u8", "image", images::double_u8_image),
    ("blur", "imageproc", filters::blur),
    ("hist", "imageproc", filters::equalise),
    ("max_filter", "imageproc", filters::dilate),
    ("bilateral_grid", "imageproc", filters::bilateral),
    ("cumsum", "by_hand", loops::prefix_sum),
    ("cumsum_large", "by_hand", loops::prefix_sum),
    #[cfg(target_arch = "x86_64")]
    ("mandelbrot", "by_hand", loops::escape_times),
];

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.first().is_some_and(|w| w == "list") {
        ALL.iter().for_each(|(kernel, peer, _)| println!("{kernel} {peer}"));
        return;
    }
    let [kernel, peer, numbers @ ..] = &words[..] else { return usage() };
    let numbers: Vec<usize> = numbers.iter().filter_map(|n| n.parse().ok()).collect();
    let [width, height, threads] = numbers[..] else { return usage() };
    let Some((.., set_up)) = ALL.iter().find(|(k, p, _)| k == kernel && p == peer) else { return usage() };
    rayon::ThreadPoolBuilder::new().num_threads(threads).build_global().expect("the first pool");
    let mut run = set_up(Job { width, height, threads });
    run();
    for line in std::io::stdin().lock().lines() {
        let runs: usize = line.ok().and_then(|l| l.trim().parse().ok()).unwrap_or(0);
        let times: Vec<String> = (0..runs)
            .map(|_| {
                let start = Instant::now();
                run();
                format!("{:.6}", start.elapsed().as_secs_f64() * 1e3)
            })
            .collect();
        println!("[{}]", times.join(","));
        std::io::stdout().flush().expect("standard output");
    }
}

fn usage() {
    eprintln!("usage: halide-peers KERNEL PEER WIDTH HEIGHT THREADS, or halide-peers list");
    std::process::exit(2);
}

/// Numbers from 0 to 1 that depend on nothing.
fn noise(count: usize, mut state: u64) -> impl Iterator<Item = f64> {
    (0..count).map(move |_| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 40) as f64 / (1u64 << 24) as f64
    })
}
