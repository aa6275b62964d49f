//! Loops written by hand: escape times in vectors of AVX-512, and prefix sums one after the other.

use crate::{Job, Kernel, noise};

/// The sum so far at each element.
pub(crate) fn prefix_sum(job: Job) -> Kernel {
    let input: Vec<f32> = noise(job.width, 1).map(|v| v as f32).collect();
    let mut output = vec![0f32; input.len()];
    Box::new(move || {
        let mut sum = 0f32;
        for (to, from) in output.iter_mut().zip(std::hint::black_box(&input)) {
            sum += from;
            *to = sum;
        }
        std::hint::black_box(&mut output);
    })
}

/// Escape times of the Mandelbrot set as the app shows them: four vectors of 16 points at once, until all have escaped.
#[cfg(target_arch = "x86_64")]
pub(crate) fn escape_times(job: Job) -> Kernel {
    assert!(std::arch::is_x86_feature_detected!("avx512f"), "this machine has no AVX-512");
    assert_eq!(job.width % 64, 0, "rows are whole vectors");
    let (width, height) = (job.width, job.height);
    let mut output = vec![0u8; width * height];
    Box::new(move || {
        for y in 0..height {
            // SAFETY: the machine has the feature, and a row has whole vectors.
            unsafe { row(&mut output[y * width..][..width], -1.0 + y as f32 / 512.0) };
        }
        std::hint::black_box(&mut output);
    })
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn row(output: &mut [u8], top: f32) {
    use std::arch::x86_64::*;
    const AT_ONCE: usize = 4;
    const STEPS: i32 = 256;
    let lanes = _mm512_cvtepi32_ps(_mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
    let (four, two, one) = (_mm512_set1_ps(4.0), _mm512_set1_ps(2.0), _mm512_set1_epi32(1));
    let imaginary = _mm512_set1_ps(top);
    for (n, to) in output.chunks_exact_mut(16 * AT_ONCE).enumerate() {
        let mut real = [_mm512_setzero_ps(); AT_ONCE];
        for (v, real) in real.iter_mut().enumerate() {
            let x = _mm512_add_ps(lanes, _mm512_set1_ps((16 * (AT_ONCE * n + v)) as f32));
            *real = _mm512_fmadd_ps(x, _mm512_set1_ps(1.0 / 512.0), _mm512_set1_ps(-2.0));
        }
        let (mut re, mut im) = ([_mm512_setzero_ps(); AT_ONCE], [_mm512_setzero_ps(); AT_ONCE]);
        let mut steps = [_mm512_setzero_si512(); AT_ONCE];
        for _ in 0..STEPS {
            let mut left = 0;
            for v in 0..AT_ONCE {
                let (re2, im2) = (_mm512_mul_ps(re[v], re[v]), _mm512_mul_ps(im[v], im[v]));
                let inside = _mm512_cmp_ps_mask::<_CMP_LE_OQ>(_mm512_add_ps(re2, im2), four);
                let product = _mm512_mul_ps(re[v], im[v]);
                re[v] = _mm512_mask_add_ps(re[v], inside, _mm512_sub_ps(re2, im2), real[v]);
                im[v] = _mm512_mask_mov_ps(im[v], inside, _mm512_fmadd_ps(product, two, imaginary));
                steps[v] = _mm512_mask_add_epi32(steps[v], inside, steps[v], one);
                left |= inside;
            }
            if left == 0 {
                break;
            }
        }
        for (v, steps) in steps.iter().enumerate() {
            let mut counts = [0i32; 16];
            // SAFETY: 16 integers are as large as a vector.
            unsafe { _mm512_storeu_si512(counts.as_mut_ptr().cast(), *steps) };
            for (to, steps) in to[16 * v..][..16].iter_mut().zip(counts) {
                *to = if steps == STEPS { 0 } else { (steps * 8 % 224 + 32) as u8 };
            }
        }
    }
}
