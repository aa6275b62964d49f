use halide_core::buffer::AnyBuffer;
use halide_core::ids::ParamId;
use halide_core::types::ScalarType;
use halide_core::value::Scalar;
use halide_ir::verify::verify;
use halide_ir::{BufId, Elem, Expr, LoopId, Program, Stage, Sym, Type, eval};
use halide_testing::programs::{self, Random, Vocabulary};

/// Words of many types.
fn words(linear: bool) -> Vocabulary {
    let mut symbols: Vec<(Sym, Type)> = (0..3).map(|i| (Sym::Loop(LoopId(i)), Type::INDEX)).collect();
    for (n, ty) in ScalarType::ALL.into_iter().enumerate() {
        symbols.push((Sym::Temp(n as u32), Type::data(ty)));
        symbols.push((Sym::Temp(100 + n as u32), Type::data(ty).with_lanes(4)));
    }
    let buffers = ScalarType::ALL.into_iter().enumerate();
    let buffers = buffers.map(|(i, elem)| programs::BufferWord { buf: BufId(i as u32), elem, dims: i % 4, extent: 9 });
    let params = vec![(ParamId(0), ScalarType::F32), (ParamId(1), ScalarType::U8)];
    Vocabulary { symbols, params, buffers: buffers.collect(), linear }
}

#[test]
fn random_expressions_round_trip() {
    for seed in 0..4000 {
        let mut random = Random::new(seed);
        let elem = match random.below(3) {
            0 => Elem::Index,
            _ => Elem::Data(*random.pick(&ScalarType::ALL)),
        };
        let ty = Type { elem, lanes: *random.pick(&[1, 1, 4]) };
        let size = random.below(60) as u32;
        let e = programs::expr(&mut random, &words(seed % 2 == 0), ty, size);
        let text = e.to_string();
        let back: Expr = text.parse().unwrap_or_else(|err| panic!("seed {seed}: {text}\n{err}"));
        assert_eq!(e.ty(), ty, "seed {seed}");
        assert!(back == e, "seed {seed}: {text}\n{back}");
    }
}

#[test]
fn random_programs_round_trip_verify_and_run() {
    let mut finished = 0;
    for seed in 0..1500 {
        let mut random = Random::new(seed);
        let stage = *random.pick(&[Stage::Nest, Stage::Bounded, Stage::Flat, Stage::Shaped, Stage::Final]);
        let p = programs::program(&mut random, stage, 30);
        let text = p.to_string();
        if let Err(errors) = verify(&p) {
            panic!("seed {seed}: {text}\n{errors:#?}");
        }
        let back: Program = text.parse().unwrap_or_else(|e| panic!("seed {seed}: {text}\n{e}"));
        assert!(back == p, "seed {seed}: {text}\n{back}");
        if stage != Stage::Nest {
            let image = AnyBuffer::new(ScalarType::U8, [4, 4]).unwrap();
            let mut outputs =
                [AnyBuffer::new(ScalarType::U16, [4, 4]).unwrap(), AnyBuffer::new(ScalarType::F32, [4]).unwrap()];
            let params = [Scalar::int(ScalarType::I32, 7), Scalar::float(ScalarType::F32, 0.5)];
            finished += eval::run(&p, &params, &[image], &mut outputs).is_ok() as u32;
        }
    }
    assert!(finished > 300, "only {finished} runs finished");
}
