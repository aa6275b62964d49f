//! Shaders as text, of a few kernels.

use crate::harness::*;
use expect_test::{Expect, expect};
use halide_core::types::ScalarType::*;
use halide_core::value::Scalar;
use halide_core::{Func, ImageParam, Pipeline, vars};
use halide_gpu::codegen::{Features, Options, compile};
use halide_ir::target::{Arch, Budget, Gpu, Target};
use halide_ir::{BufId, KernelId, Program, Shared, Stmt, Sym, Type, Writes, build};
use halide_sched::lower::{LowerOptions, lower};

const IN: BufId = BufId(0);
const OUT: BufId = BufId(1);

#[track_caller]
fn text(p: &Program, id: KernelId, expected: Expect) {
    expected.assert_eq(&compiled(p, id, &ALL).wgsl().unwrap());
}

/// Small elements, four a thread: read where they are, stored as a word.
#[test]
fn average_of_bytes() {
    let mut p = program(&[U8], &[U8]);
    let width = Sym::Temp(0);
    let id = kernel(&mut p, [16, 1, 1], |p, block| {
        phase(p, build::int(16), |t| {
            let at = build::mul(build::add(build::mul(block, build::int(16)), t), build::int(4));
            let wide = |k| build::cast_data(U16, build::load(IN, U8, dense(build::offset(at.clone(), k), 4), None));
            let sum = build::add(wide(0), wide(1));
            let two = build::broadcast(build::constant(Scalar::from(2u16)), 4);
            let inside = build::lt(at.clone(), build::sym(width));
            let average = build::cast_data(U8, build::div(sum, two));
            build::if_else(inside, store(OUT, dense(at, 4), average), build::nothing())
        })
    });
    p.kernels[id].captures.push((width, Type::INDEX));
    uses(&mut p, id, IN, true, Writes::None);
    uses(&mut p, id, OUT, false, Writes::Words);
    text(
        &p,
        id,
        expect![[r#"
            @group(0) @binding(0) 
            var<storage> scalars: array<u32>;
            @group(0) @binding(1) 
            var<storage> in0_: array<u32>;
            @group(0) @binding(2) 
            var<storage, read_write> out0_: array<u32>;

            @compute @workgroup_size(16, 1, 1) 
            fn main(@builtin(local_invocation_id) thread: vec3<u32>, @builtin(workgroup_id) block: vec3<u32>) {
                let zero = scalars[0];
                let t = bitcast<i32>(thread.x);
                let _e15 = scalars[1];
                let block_1 = (bitcast<i32>(_e15) + bitcast<i32>(block.x));
                let _e23 = scalars[6];
                let t0_ = bitcast<i32>(_e23);
                let _e27 = scalars[4];
                let _e30 = scalars[5];
                let _e36 = (((block_1 * 16i) + t) * 4i);
                if (_e36 < t0_) {
                    let _e44 = in0_[((_e27 + bitcast<u32>(_e36)) >> 2u)];
                    let _e59 = ((_e27 + bitcast<u32>((_e36 + 1i))) >> 2u);
                    let _e61 = in0_[_e59];
                    let _e64 = in0_[(_e59 + 1u)];
                    out0_[((_e30 + bitcast<u32>(_e36)) >> 2u)] = ((((((_e44 & 255u) + ((_e61 >> 8u) & 255u)) >> 1u) | (((((_e44 >> 8u) & 255u) + ((_e61 >> 16u) & 255u)) >> 1u) << 8u)) | (((((_e44 >> 16u) & 255u) + (_e61 >> 24u)) >> 1u) << 16u)) | ((((_e44 >> 24u) + (_e64 & 255u)) >> 1u) << 24u));
                }
            }
        "#]],
    );
}

/// A tile in the memory of the block.
#[test]
fn tile_of_floats() {
    let mut p = program(&[F32], &[F32]);
    let tile = internal(&mut p, F32);
    let id = kernel(&mut p, [8, 1, 1], |p, block| {
        let first = build::mul(block, build::int(6));
        let fill = phase(p, build::int(8), |t| {
            store(tile, t.clone(), build::load(IN, F32, build::add(first.clone(), t), None))
        });
        let drain = phase(p, build::int(6), |t| {
            let at = |k| build::load(tile, F32, build::offset(t.clone(), k), None);
            let half = build::constant(Scalar::from(0.5f32));
            let value = build::add(build::mul(build::add(at(0), at(2)), half), at(1));
            store(OUT, build::add(first.clone(), t.clone()), value)
        });
        let body = Box::new(build::block([fill, Stmt::Barrier, drain]));
        Stmt::Alloc { buf: tile, count: build::int(8), constant: Some(8), body }
    });
    p.kernels[id].shared.push(Shared { buf: tile, first_word: 0, words: 8 });
    p.kernels[id].shared_words = 8;
    uses(&mut p, id, IN, true, Writes::None);
    uses(&mut p, id, OUT, false, Writes::Words);
    text(
        &p,
        id,
        expect![[r#"
        @group(0) @binding(0) 
        var<storage> scalars: array<u32>;
        @group(0) @binding(1) 
        var<storage> in0_: array<u32>;
        @group(0) @binding(2) 
        var<storage, read_write> out0_: array<u32>;
        var<workgroup> shared_words: array<u32, 8>;

        @compute @workgroup_size(8, 1, 1) 
        fn main(@builtin(local_invocation_id) thread: vec3<u32>, @builtin(workgroup_id) block: vec3<u32>) {
            let zero = scalars[0];
            let t = bitcast<i32>(thread.x);
            let _e15 = scalars[1];
            let block_1 = (bitcast<i32>(_e15) + bitcast<i32>(block.x));
            let _e23 = scalars[4];
            let _e26 = scalars[5];
            let _e35 = in0_[(_e23 + bitcast<u32>(((block_1 * 6i) + t)))];
            shared_words[bitcast<u32>(t)] = bitcast<u32>(bitcast<f32>(_e35));
            workgroupBarrier();
            if (t < 6i) {
                let _e44 = shared_words[bitcast<u32>(t)];
                let _e50 = shared_words[bitcast<u32>((t + 2i))];
                let _e62 = shared_words[bitcast<u32>((t + 1i))];
                out0_[(_e26 + bitcast<u32>(((block_1 * 6i) + t)))] = bitcast<u32>((bitcast<f32>((bitcast<u32>((bitcast<f32>((bitcast<u32>((bitcast<f32>(_e44) + bitcast<f32>(_e50))) ^ zero)) * 0.5f)) ^ zero)) + bitcast<f32>(_e62)));
            }
        }
    "#]],
    );
}

/// A scatter of bytes, by a loop.
#[test]
fn scatter_of_bytes() {
    let mut p = program(&[U8], &[U8]);
    let id = kernel(&mut p, [1, 1, 1], |p, block| {
        let i = new_loop(p, "i");
        phase(p, build::int(1), |_| {
            let at = build::add(build::mul(block, build::int(5)), build::loop_var(i));
            let value = build::load(IN, U8, at.clone(), None);
            let to = build::to_index(value.clone());
            build::for_loop(i, halide_ir::ForKind::Serial, build::int(0), build::int(5), store(OUT, to, value))
        })
    });
    uses(&mut p, id, IN, true, Writes::None);
    uses(&mut p, id, OUT, false, Writes::Pieces);
    text(
        &p,
        id,
        expect![[r#"
            @group(0) @binding(0) 
            var<storage> scalars: array<u32>;
            @group(0) @binding(1) 
            var<storage> in0_: array<u32>;
            @group(0) @binding(2) 
            var<storage, read_write> out0_: array<atomic<u32>>;

            @compute @workgroup_size(1, 1, 1) 
            fn main(@builtin(local_invocation_id) thread: vec3<u32>, @builtin(workgroup_id) block: vec3<u32>) {
                var i: i32;

                let zero = scalars[0];
                let t = bitcast<i32>(thread.x);
                let _e15 = scalars[1];
                let block_1 = (bitcast<i32>(_e15) + bitcast<i32>(block.x));
                let _e23 = scalars[4];
                let _e26 = scalars[5];
                i = 0i;
                loop {
                    let i_1 = i;
                    if (i_1 >= 5i) {
                        break;
                    }
                    let _e35 = (_e23 + bitcast<u32>(((block_1 * 5i) + i_1)));
                    let _e43 = in0_[(_e35 >> 2u)];
                    let _e46 = ((_e43 >> ((_e35 & 3u) << 3u)) & 255u);
                    let _e49 = (_e26 + bitcast<u32>(bitcast<i32>(_e46)));
                    let _e52 = ((_e49 & 3u) << 3u);
                    let _e54 = (255u << _e52);
                    atomicAnd((&out0_[(_e49 >> 2u)]), (_e54 ^ 4294967295u));
                    atomicOr((&out0_[(_e49 >> 2u)]), ((_e46 << _e52) & _e54));
                    continuing {
                        let _e60 = i;
                        i = (_e60 + 1i);
                    }
                }
            }
        "#]],
    );
}

/// Lanes take their positions from their subgroup, and shuffle what others hold. Twelve threads are two subgroups of
/// eight.
#[test]
fn values_of_other_lanes() {
    let input = ImageParam::new("in", F32, 2);
    let (x, y) = vars!(x, y);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[(x, y)] = -input[(x, y)];
    g[(x, y)] = f[(x, y)] + f[(x + 1, y)];
    let pipeline = Pipeline::new([&g]).unwrap();
    let schedule = "g: tile(x, y, xo, yo, xi, yi, 4, 3) gpu_blocks(xo, yo) gpu_threads(yi) gpu_lanes(xi)\n \
                    f: compute_at(g, yi) split(x, x, xi, 4, RoundUp) gpu_lanes(xi) store_in(Register)";
    let gpu = Some(Gpu { subgroup: Some(8), ..Gpu::LEAST });
    let target = Target {
        arch: Arch::X86_64,
        vector_bits: 128,
        features: None,
        threads: 2,
        cache_bytes: 1 << 20,
        gpu,
        budget: Budget::DEFAULT,
    };
    let plan = halide_sched::plan::resolve(&pipeline, &schedule.parse().unwrap(), &target).unwrap();
    let program = lower(&plan, &LowerOptions::default()).unwrap().program;
    let id = program.kernels.ids().next().expect("there is a kernel");
    text(
        &program,
        id,
        expect![[r#"
            @group(0) @binding(0) 
            var<storage> scalars: array<u32>;
            @group(0) @binding(1) 
            var<storage> in: array<u32>;
            @group(0) @binding(2) 
            var<storage, read_write> g: array<u32>;

            @compute @workgroup_size(16, 1, 1) 
            fn main(@builtin(subgroup_id) subgroup: u32, @builtin(workgroup_id) block: vec3<u32>, @builtin(subgroup_invocation_id) lane: u32) {
                var f_0_: f32;
                var f_1_: f32;
                var f_u002e_x: i32;

                let zero = scalars[0];
                let _e8 = ((subgroup * 8u) + lane);
                let _e12 = (_e8 / 4u);
                let f_u002e_xi = bitcast<i32>((_e8 % 4u));
                let g_u002e_yi = bitcast<i32>((_e12 % 3u));
                let _e19 = (_e8 < 12u);
                let _e22 = scalars[1];
                let g_u002e_xo = (bitcast<i32>(_e22) + bitcast<i32>(block.x));
                let _e30 = scalars[2];
                let g_u002e_yo = (bitcast<i32>(_e30) + bitcast<i32>(block.y));
                let _e38 = scalars[6];
                let g_1 = bitcast<i32>(_e38);
                let _e42 = scalars[7];
                let g_2 = bitcast<i32>(_e42);
                let _e45 = scalars[8];
                let in_1 = bitcast<i32>(_e45);
                let _e49 = scalars[9];
                let in_2 = bitcast<i32>(_e49);
                let _e53 = scalars[10];
                let in_3 = bitcast<i32>(_e53);
                let _e57 = scalars[11];
                let g_3 = bitcast<i32>(_e57);
                let _e60 = scalars[12];
                let g_4 = bitcast<i32>(_e60);
                let _e64 = scalars[13];
                let g_5 = bitcast<i32>(_e64);
                let _e67 = scalars[4];
                let _e70 = scalars[5];
                f_u002e_x = 0i;
                loop {
                    let f_u002e_x_1 = f_u002e_x;
                    if (f_u002e_x_1 >= 2i) {
                        break;
                    }
                    if _e19 {
                        let f = ((g_3 + min((g_1 - g_3), ((g_u002e_xo * 4i) + 3i))) - 3i);
                        let f_1 = (((g_4 + g_u002e_yi) + min((g_2 - g_4), ((g_u002e_yo * 3i) + 2i))) - 2i);
                        let t6_ = (f_u002e_x_1 * 4i);
                        let _e102 = in[(_e67 + bitcast<u32>(((((f + t6_) + f_u002e_xi) + (in_3 * (f_1 - in_2))) - in_1)))];
                        let _e110 = bitcast<f32>((bitcast<u32>(bitcast<f32>((bitcast<u32>(bitcast<f32>(_e102)) ^ 2147483648u))) ^ zero));
                        let _e115 = bitcast<u32>(((t6_ + f_u002e_xi) + (g_u002e_yi * 8i)));
                        let _e118 = ((_e115 >> 2u) % 2u);
                        if (_e118 == 0u) {
                            f_0_ = _e110;
                        }
                        if (_e118 == 1u) {
                            f_1_ = _e110;
                        }
                    }
                    continuing {
                        let _e123 = f_u002e_x;
                        f_u002e_x = (_e123 + 1i);
                    }
                }
                if _e19 {
                    let _e129 = min((g_1 - g_3), ((g_u002e_xo * 4i) + 3i));
                    let t7_ = ((g_3 + _e129) - 3i);
                    let _e136 = min((g_2 - g_4), ((g_u002e_yo * 3i) + 2i));
                    let t8_ = (((g_4 + g_u002e_yi) + _e136) - 2i);
                    let _e139 = (g_u002e_yi * 8i);
                    let _e141 = bitcast<u32>((f_u002e_xi + _e139));
                    let _e144 = ((_e141 >> 2u) % 2u);
                    let _e147 = ((lane - (lane & 3u)) | (_e141 & 3u));
                    let _e148 = f_0_;
                    let _e150 = subgroupShuffle(bitcast<u32>(_e148), _e147);
                    let _e153 = f_1_;
                    let _e155 = subgroupShuffle(bitcast<u32>(_e153), _e147);
                    let _e162 = bitcast<u32>(((f_u002e_xi + 1i) + _e139));
                    let _e165 = ((_e162 >> 2u) % 2u);
                    let _e168 = ((lane - (lane & 3u)) | (_e162 & 3u));
                    let _e169 = f_0_;
                    let _e171 = subgroupShuffle(bitcast<u32>(_e169), _e168);
                    let _e174 = f_1_;
                    let _e176 = subgroupShuffle(bitcast<u32>(_e174), _e168);
                    g[(_e70 + bitcast<u32>((((f_u002e_xi + (g_5 * ((g_u002e_yi + _e136) - 2i))) + _e129) - 3i)))] = bitcast<u32>((select(bitcast<f32>(_e150), bitcast<f32>(_e155), (_e144 == 1u)) + select(bitcast<f32>(_e171), bitcast<f32>(_e176), (_e165 == 1u))));
                }
            }
        "#]],
    );
    let without = Options { features: Features { subgroup: Some(2), ..ALL.features }, ..ALL };
    let error = compile(&program, id, &without).expect_err("its subgroups are too small");
    expect!["kernel `g` needs subgroups of 4 lanes or a multiple, and the device's have 2"]
        .assert_eq(&error.to_string());
}
