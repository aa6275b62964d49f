//! Devices, and small programs whose kernels are shaders written as text.

use halide_core::buffer::{AnyBuffer, Buffer, Dim, Region};
use halide_core::ids::{Id, ImageId};
use halide_core::types::ScalarType;
use halide_gpu::GpuError;
use halide_gpu::codegen::{KernelCode, Options, compile};
use halide_gpu::runtime::{Choice, Gpu, GpuProgram, GpuRun};
use halide_ir::device::{Device, DeviceFault};
use halide_ir::{
    BufId, BufferInfo, BufferRole, Kernel, KernelBuffer, KernelId, Memory, Program, Side, Stage, Sym, Type, Writes,
    build,
};
use halide_skips::{Need, skip};
use naga::valid::{Capabilities, ValidationFlags, Validator};

/// A device of its own for a test; `None` if this machine has none, and the test skips what needs it.
pub(crate) fn gpu() -> Option<Gpu> {
    Gpu::open(&Choice::from_env()).inspect_err(|error| skip(Need::Device, error)).ok()
}

/// A program without statements, with buffers of one dimension.
pub(crate) fn program(inputs: &[ScalarType], outputs: &[ScalarType], allocations: &[ScalarType]) -> Program {
    let mut p = Program::empty(Stage::Final);
    let mut add = |name: String, elem: ScalarType, role: BufferRole| {
        p.buffers.push(BufferInfo {
            name,
            elem,
            dims: 1,
            role,
            order: vec![0],
            align: vec![1],
            fold: vec![None],
            unit_stride: Some(0),
            memory: Memory::Auto,
            keeps: false,
            stream: halide_ir::Stream::Never,
            side: Side::Both,
        })
    };
    for (i, ty) in inputs.iter().enumerate() {
        add(format!("in{i}"), *ty, BufferRole::Input(ImageId::new(i)));
    }
    for (i, ty) in outputs.iter().enumerate() {
        add(format!("out{i}"), *ty, BufferRole::Output(i as u32));
    }
    for (i, ty) in allocations.iter().enumerate() {
        add(format!("tmp{i}"), *ty, BufferRole::Internal);
    }
    p
}

/// The buffer with this number: inputs come first, then outputs, then allocations.
pub(crate) fn b(i: usize) -> BufId {
    BufId::new(i)
}

/// A kernel of one block dimension that reads some buffers and writes words of others (`true`), in the order of its
/// bindings.
pub(crate) fn kernel(
    p: &mut Program,
    name: &str,
    threads: [u32; 3],
    buffers: &[(BufId, bool)],
    captures: usize,
) -> KernelId {
    let block = p.loops.push(format!("{name}.bx").into());
    let used = |&(buf, written): &(BufId, bool)| KernelBuffer {
        buf,
        reads: !written,
        writes: if written { Writes::Words } else { Writes::None },
        word_strides: Vec::new(),
    };
    p.kernels.push(Kernel {
        name: name.into(),
        blocks: vec![block],
        threads,
        captures: (0..captures).map(|i| (Sym::Temp(i as u32), Type::INDEX)).collect(),
        params: Vec::new(),
        buffers: buffers.iter().map(used).collect(),
        shared: Vec::new(),
        shared_words: 0,
        lanes: None,
        body: build::nothing(),
    })
}

/// The shader of a kernel from WGSL, in which these names mean something: `b0`, `b1`, ... the buffers, `at0`, ... the
/// element offsets, `c0`, ... the captures, and `i` the number of the thread in a grid of one dimension.
pub(crate) fn code(p: &Program, id: KernelId, body: &str) -> KernelCode {
    let k = &p.kernels[id];
    // The code of an empty body, of which only the layout is used.
    let made = compile(p, id, &Options::default()).unwrap();
    let layout = &made.layout;
    let mut text = "@group(0) @binding(0) var<storage, read> s: array<u32>;\n".to_string();
    for (i, binding) in layout.bindings.iter().enumerate() {
        let access = if binding.written { "read_write" } else { "read" };
        text += &format!("@group(0) @binding({}) var<storage, {access}> b{i}: array<u32>;\n", 1 + i);
    }
    let [x, y, z] = k.threads;
    text += &format!(
        "@compute @workgroup_size({x}, {y}, {z}) fn main(@builtin(workgroup_id) g: vec3<u32>, \
         @builtin(local_invocation_index) t: u32) {{\nlet i = (g.x + s[1]) * {}u + t;\n",
        x * y * z
    );
    let buffers = layout.bindings.len();
    for i in 0..buffers {
        text += &format!("let at{i} = s[{}];\n", 4 + i);
    }
    for i in 0..k.captures.len() {
        text += &format!("let c{i} = s[{}];\n", 4 + buffers + i);
    }
    text += body;
    text += "}\n";
    let module = naga::front::wgsl::parse_str(&text).unwrap_or_else(|e| panic!("{}", e.emit_to_string(&text)));
    let info = Validator::new(ValidationFlags::all(), Capabilities::empty()).validate(&module).unwrap();
    KernelCode { module, info, ..made }
}

/// `out0[i] = factor * in0[i]` for `i < n`; the captures are `n` and `factor`.
pub(crate) fn scale(gpu: &Gpu) -> GpuProgram {
    let mut p = program(&[ScalarType::U32], &[ScalarType::U32], &[]);
    let id = kernel(&mut p, "scale", [64, 1, 1], &[(b(0), false), (b(1), true)], 2);
    let code = code(&p, id, "if (i < c0) { b1[at1 + i] = c1 * b0[at0 + i]; }");
    GpuProgram::from_code(gpu, &p, vec![code]).unwrap()
}

/// Dispatches [`scale`] over `n` elements.
pub(crate) fn dispatch_scale(run: &mut GpuRun, n: usize, factor: u64) -> Result<(), DeviceFault> {
    run.dispatch(KernelId(0), &[n.div_ceil(64) as i64], &[n as u64, factor], &[&[], &[]])
}

/// A run of [`scale`] from the host and to it, and how many copies to the device it made.
pub(crate) fn scaled(program: &GpuProgram, input: &AnyBuffer, factor: u64) -> Result<(Vec<u32>, u64), GpuError> {
    let n = input.len() as usize;
    let mut run = program.start();
    run.bind_input(b(0), input)?;
    run.bind_output(b(1), &dense(n))?;
    dispatch_scale(&mut run, n, factor)?;
    let mut out = vec![0; 4 * n];
    run.finish_output(b(1), &mut out)?;
    let uploads = run.finish()?.uploads;
    Ok((words(&out), uploads))
}

pub(crate) fn dense(n: usize) -> Vec<Dim> {
    vec![Dim { min: 0, extent: n as i64, stride: 1 }]
}

/// 0, 1, 2, ...
pub(crate) fn counting(n: usize) -> Buffer<u32> {
    Buffer::from_fn(&Region::of_extents([n as i64]), |at| at[0] as u32).unwrap()
}

pub(crate) fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.as_chunks::<4>().0.iter().map(|b| u32::from_ne_bytes(*b)).collect()
}

pub(crate) fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|w| w.to_ne_bytes()).collect()
}
