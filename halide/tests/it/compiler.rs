//! The compiler's settings, each with each: they work together, or one is refused with a reason.

use crate::engines_agree::noise;
use halide::prelude::*;

fn blur() -> Pipeline {
    let input = ImageParam::new("input", U16, 2);
    let (x, y) = vars!(x, y);
    let (mut across, mut down) = (Func::new("across"), Func::new("down"));
    across[(x, y)] = (input[(x, y)] + input[(x + 1, y)] + input[(x + 2, y)]) / 3;
    down[(x, y)] = (across[(x, y)] + across[(x, y + 1)] + across[(x, y + 2)]) / 3;
    Pipeline::new([&down]).unwrap()
}

const FOR_CPU: &str = "down: split(y, yo, yi, 4) vectorize(x, 8)\n across: compute_at(down, yo)";

fn image() -> AnyBuffer {
    noise(U16, &Region::of_extents([34, 18]), 3)
}

fn region() -> Region {
    Region::of_extents([32, 16])
}

fn run(compiled: &Compiled) -> AnyBuffer {
    compiled.inputs().image_named("input", image()).realize_all(&[region()]).unwrap().swap_remove(0)
}

/// No shapes, those of outputs, and those of outputs and the input.
fn shapes() -> [Option<Shapes>; 3] {
    let outputs = Shapes::of_outputs([region()]);
    [None, Some(outputs.clone()), Some(outputs.input("input", image().region()))]
}

fn with(compiler: Compiler, shapes: &Option<Shapes>) -> Compiler {
    match shapes {
        Some(shapes) => compiler.shapes(shapes),
        None => compiler,
    }
}

#[test]
fn without_settings_it_is_this_machine_and_the_fastest_engine() {
    let compiled = Compiler::new(&blur()).compile().unwrap();
    assert_eq!((compiled.engine(), compiled.plan().target), (Engine::default(), Target::host()));
    let same = blur().compile(&Schedule::new(), &Target::host()).unwrap();
    assert_eq!(compiled.ir().unwrap(), same.ir().unwrap());
}

#[test]
fn every_engine_takes_shapes_and_targets() {
    let (pipeline, schedule) = (blur(), FOR_CPU.parse().unwrap());
    let want = run(&Compiler::new(&pipeline).engine(Engine::Interp).compile().unwrap());
    let targets = [None, Some(Target { threads: 1, vector_bits: 128, features: None, ..Target::host() })];
    for engine in [Engine::Interp, Engine::Eval, crate::CPU] {
        for (shapes, target) in shapes().iter().flat_map(|shapes| targets.iter().map(move |target| (shapes, target))) {
            let compiler = with(Compiler::new(&pipeline).schedule(&schedule).engine(engine), shapes);
            let compiler = match target {
                Some(target) => compiler.target(target),
                None => compiler,
            };
            let compiled = compiler.compile().unwrap();
            assert_eq!(compiled.engine(), engine);
            assert_eq!(run(&compiled).first_difference(&want), None, "{engine:?} {shapes:?} {target:?}");
        }
    }
}

#[test]
fn a_wrong_schedule_is_refused_whatever_the_settings() {
    let compiler = Compiler::new(&blur()).schedule(&"down: vectorize(z, 8)".parse().unwrap());
    for engine in [Engine::Interp, Engine::Eval, crate::CPU] {
        for shapes in shapes() {
            let error = with(compiler.clone().engine(engine), &shapes).compile().unwrap_err();
            assert!(matches!(&error, Error::Schedule(reasons) if reasons.len() == 1), "{engine:?} {shapes:?} {error}");
        }
    }
}

#[cfg(feature = "gpu")]
mod on_gpu {
    use super::*;
    use crate::gpu::gpu;

    const FOR_GPU: &str = "down: gpu_tile(x, y, xo, yo, xi, yi, 8, 4)\n across: compute_at(down, xo) gpu_threads(x, y)";

    #[test]
    fn every_engine_takes_a_gpu_and_shapes() {
        let Some(gpu) = gpu() else { return };
        let (pipeline, schedule) = (blur(), FOR_GPU.parse().unwrap());
        let want = run(&Compiler::new(&pipeline).engine(Engine::Interp).compile().unwrap());
        for shapes in shapes() {
            let compiler = with(Compiler::new(&pipeline).schedule(&schedule).gpu(gpu), &shapes);
            assert_eq!(compiler.compile().unwrap().engine(), Engine::Gpu, "a GPU that is set is used");
            for engine in [Engine::Interp, Engine::Eval, Engine::Gpu] {
                let compiler = compiler.clone().engine(engine);
                let compiled = compiler.compile().unwrap();
                assert_eq!((compiled.engine(), compiled.plan().target.gpu), (engine, Some(gpu.limits())));
                assert_eq!(run(&compiled).first_difference(&want), None, "{engine:?} {shapes:?}");
                let compiled = gpu.wait(compiler.compile_async()).unwrap();
                let call = compiled.inputs().image_named("input", image());
                let got = gpu.wait(call.realize_all_async(&[region()])).unwrap();
                assert_eq!(got[0].first_difference(&want), None, "{engine:?} {shapes:?}, without waiting");
            }
        }
    }

    #[cfg(feature = "cpu")]
    #[test]
    fn machine_code_alone_takes_no_kernels() {
        let Some(gpu) = gpu() else { return };
        let compiler = Compiler::new(&blur()).gpu(gpu).engine(Engine::Cpu);
        for shapes in shapes() {
            let compiler = with(compiler.clone().schedule(&FOR_GPU.parse().unwrap()), &shapes);
            let error = compiler.compile().unwrap_err();
            assert!(matches!(error, Error::NoDevice { .. }), "{error}");
        }
        let want = run(&Compiler::new(&blur()).engine(Engine::Interp).compile().unwrap());
        let on_cpu = compiler.schedule(&FOR_CPU.parse().unwrap());
        assert_eq!(run(&on_cpu.compile().unwrap()).first_difference(&want), None);
    }

    #[test]
    fn a_shape_cache_has_the_gpu_of_its_compiler() {
        let Some(gpu) = gpu() else { return };
        let cache = ShapeCache::new(Compiler::new(&blur()).schedule(&FOR_GPU.parse().unwrap()).gpu(gpu));
        let compiled = cache.get(&Shapes::of_outputs([region()])).unwrap();
        assert_eq!(compiled.engine(), Engine::Gpu);
        let want = run(&Compiler::new(&blur()).engine(Engine::Interp).compile().unwrap());
        assert_eq!(run(&compiled).first_difference(&want), None);
    }

    /// One device serves all shapes: what one run copied to it is there for the next.
    #[test]
    fn a_shape_cache_opens_one_gpu() {
        if gpu().is_none() {
            return;
        }
        let cache = ShapeCache::new(Compiler::new(&blur()).schedule(&FOR_GPU.parse().unwrap()).engine(Engine::Gpu));
        let input = image();
        let uploads = [[32, 16], [16, 8]].map(|extents| {
            let compiled = cache.get(&Shapes::of_outputs([Region::of_extents(extents)])).unwrap();
            let mut out = AnyBuffer::new(U16, extents).unwrap();
            let call = compiled.inputs().image_named("input", &input);
            call.realize_all_into(&mut [out.view_mut().unwrap()]).unwrap().gpu.unwrap().uploads
        });
        assert_eq!(uploads, [1, 0]);
    }

    /// An engine without a device compiles at once.
    #[test]
    fn other_engines_compile_without_waiting() {
        use std::future::Future;
        use std::task::{Context, Poll, Waker};
        for engine in [Engine::Interp, Engine::Eval, crate::CPU] {
            let compiler = Compiler::new(&blur()).engine(engine);
            let compiling = std::pin::pin!(compiler.compile_async());
            let Poll::Ready(compiled) = compiling.poll(&mut Context::from_waker(Waker::noop())) else {
                panic!("{engine:?} waits")
            };
            assert_eq!(compiled.unwrap().engine(), engine);
        }
    }
}
