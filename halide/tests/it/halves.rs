//! f16 and bf16: every value through every operation of one operand, and random pairs through those of two.

use halide::prelude::*;
use halide_core::value::{bf16, f16};

/// All 65536 patterns of 16 bits.
fn all() -> Buffer<u16> {
    let every: Vec<u16> = (0..=u16::MAX).collect();
    Buffer::from_slice([every.len()], &every).unwrap()
}

/// Every engine gives what the interpreter gives, for all values of a Func over 65536 points.
fn agree(f: &Func, images: &[(&str, Buffer<u16>)], eval: bool) -> Vec<AnyBuffer> {
    let pipeline = Pipeline::new([f]).unwrap();
    let region = [Region::of_extents([1 << 16])];
    let run = |engine, schedule: String| {
        let compiled = Compiler::new(&pipeline).engine(engine).schedule(&schedule.parse().unwrap()).compile().unwrap();
        let call = images.iter().fold(compiled.inputs(), |call, (name, b)| call.image_named(name, b.clone()));
        call.realize_all(&region).unwrap()
    };
    let expected = run(Engine::Interp, String::new());
    let name = f.name();
    let mut others = vec![(crate::CPU, String::new()), (crate::CPU, format!("{name}: vectorize(x, 8)"))];
    if eval {
        others.push((Engine::Eval, format!("{name}: vectorize(x, 4)")));
    }
    for (engine, schedule) in others {
        for (n, (got, want)) in run(engine, schedule.clone()).iter().zip(&expected).enumerate() {
            assert_eq!(got.first_difference(want), None, "value {n}, {schedule} {engine:?}");
        }
    }
    expected
}

#[test]
fn every_value_through_every_operation_of_one_operand() {
    let (x, bits) = (vars!(x), ImageParam::new("bits", U16, 1));
    for ty in [F16, BF16] {
        let v = bits[x].reinterpret(ty);
        let parts: [Vec<Expr>; 3] = [
            vec![-v, abs(v), floor(v), ceil(v), round(v), trunc(v), sqrt(v)],
            vec![
                is_nan(v),
                is_inf(v),
                is_finite(v),
                v.cast(F32),
                v.cast(F64),
                v.cast(if ty == F16 { BF16 } else { F16 }),
            ],
            [I8, U8, I16, U16, I32, U32, I64, U64].map(|to| v.cast(to)).into(),
        ];
        for values in parts {
            let mut f = Func::new("f");
            f[x] = tuple(values);
            agree(&f, &[("bits", all())], ty == F16);
        }
    }
}

#[test]
fn conversions_to_them_round_to_nearest_even() {
    let (x, bits) = (vars!(x), ImageParam::new("bits", U16, 1));
    let mut f = Func::new("f");
    // Every f16 as an f32, and what is just below, above and half way to the next.
    let wide = cast::<u32>(bits[x]) * 40503 + cast::<u32>(x) * 65521;
    let single = wide.reinterpret(F32);
    let near = bits[x].reinterpret(F16).cast(F32).reinterpret(U32);
    let tie = (near + 0x1000).reinterpret(F32);
    let integer = wide.reinterpret(I32) >> (x % 31);
    f[x] = tuple([
        single.cast(F16),
        single.cast(BF16),
        tie.cast(F16),
        (near + 0xfff).reinterpret(F32).cast(F16),
        (near + 0x1001).reinterpret(F32).cast(F16),
        integer.cast(F16),
        integer.cast(BF16),
        (single.cast(F64) * 1.000000001).cast(BF16),
    ]);
    let out = agree(&f, &[("bits", all())], true);
    // By the definition of rounding, on the two neighbours of each value.
    let halves = out[2].typed::<f16>().unwrap();
    for i in 0..1 << 16 {
        let own = f16::from_bits(i as u16).to_f32();
        let tie = f32::from_bits(own.to_bits().wrapping_add(0x1000));
        // Below the smallest normal number, the next one is elsewhere.
        let subnormal = own.abs() < 2f32.powi(-14);
        if !own.is_finite() || own.abs() >= 65504.0 || subnormal {
            continue;
        }
        let next = f16::from_bits(i as u16 + 1);
        let even = if i % 2 == 0 { f16::from_bits(i as u16) } else { next };
        assert_eq!(halves.get([i]).unwrap().to_bits(), even.to_bits(), "half way after {own}: {tie}");
    }
    let brains = out[1].typed::<bf16>().unwrap();
    for i in 0..1 << 16 {
        let wide = (i as u32).wrapping_mul(40503).wrapping_add((i as u32).wrapping_mul(65521));
        if f32::from_bits(wide).is_nan() {
            assert!(brains.get([i]).unwrap().to_f64().is_nan());
            continue;
        }
        let (kept, rest) = (wide >> 16, wide & 0xffff);
        let up = rest > 0x8000 || (rest == 0x8000 && kept % 2 == 1);
        assert_eq!(u32::from(brains.get([i]).unwrap().to_bits()), kept + u32::from(up));
    }
}

#[test]
fn random_pairs_through_every_operation_of_two_operands() {
    let (x, bits, more) = (vars!(x), ImageParam::new("bits", U16, 1), ImageParam::new("more", U16, 1));
    let mut seed = 77u64;
    let mut next = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 41) as u16
    };
    let random: Vec<u16> = (0..1 << 16).map(|_| next()).collect();
    let random = Buffer::from_slice([random.len()], &random).unwrap();
    for ty in [F16, BF16] {
        let (a, b) = (bits[x].reinterpret(ty), more[x].reinterpret(ty));
        for values in [
            vec![a + b, a - b, a * b, a / b, a % b, min(a, b), max(a, b), absd(a, b)],
            vec![a.eq(b), a.ne(b), a.lt(b), a.le(b), a.gt(b), a.ge(b), fma(a, b, a)],
        ] {
            let mut f = Func::new("f");
            f[x] = tuple(values);
            agree(&f, &[("bits", all()), ("more", random.clone())], false);
        }
    }
}
