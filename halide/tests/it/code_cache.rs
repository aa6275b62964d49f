//! Machine code that outlives the process: what is read is what was compiled, or it is not run.

use crate::engines_agree;
use halide::code_cache::{CacheProblem, CodeOrigin};
use halide::features::CpuFeatures;
use halide::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

/// A folder of a test, which goes with it.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Scratch {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Scratch(std::env::temp_dir().join(format!("halide-code-{}-{number}", std::process::id())))
    }
    fn cache(&self) -> CodeCache {
        CodeCache::in_folder(&self.0)
    }
    /// The files of the folder.
    fn files(&self) -> Vec<PathBuf> {
        let mut all: Vec<PathBuf> = fs::read_dir(&self.0).unwrap().map(|file| file.unwrap().path()).collect();
        all.sort();
        all
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Sums of three neighbours with a parameter, a requirement and a transcendental function.
fn blur() -> Pipeline {
    let (input, gain) = (ImageParam::new("input", F32, 2), Param::<f32>::new("gain").with_default(0.5));
    let (x, y) = vars!(x, y);
    let (mut rows, mut out) = (Func::new("rows"), Func::new("out"));
    rows[(x, y)] = input[(x, y)] + input[(x + 1, y)] + input[(x + 2, y)];
    out[(x, y)] = sin(rows[(x, y)] + rows[(x, y + 1)]) * require(gain.expr().lt(9.0), gain.expr(), "a small gain");
    Pipeline::new([&out]).unwrap()
}

const TILED: &str = "rows: compute_at(out, yo) vectorize(x, 8)
    out: split(y, yo, yi, 8) parallel(yo) vectorize(x, 16)";

fn compiled(pipeline: &Pipeline, schedule: &str, cache: &CodeCache) -> Compiled {
    let schedule = schedule.parse().unwrap();
    let compiler = Compiler::new(pipeline).schedule(&schedule).engine(crate::CPU).code_cache(cache);
    compiler.compile().unwrap_or_else(|error| panic!("{error}"))
}

fn origin(compiled: &Compiled) -> CodeOrigin {
    compiled.code_origins()[0].1.clone()
}

fn noise(extents: [i64; 2]) -> AnyBuffer {
    engines_agree::noise(F32, &Region::of_extents(extents), 7)
}

/// The reason that code was not read, if it was not.
fn because(compiled: &Compiled) -> Option<CacheProblem> {
    match origin(compiled) {
        CodeOrigin::Written { because, .. } | CodeOrigin::NotWritten { because } => Some(because),
        _ => None,
    }
}

fn run(compiled: &Compiled, size: [i64; 2]) -> Result<Vec<f32>, String> {
    let image = noise([size[0] + 2, size[1] + 1]);
    let out: Result<Buffer<f32>, Error> = compiled.inputs().image_named("input", image).realize(size);
    out.map(|out| out.to_vec()).map_err(|error| error.to_string())
}

#[test]
fn code_is_compiled_once_and_read_from_then_on() {
    let (scratch, pipeline) = (Scratch::new(), blur());
    let first = compiled(&pipeline, TILED, &scratch.cache());
    assert_eq!(because(&first), Some(CacheProblem::Absent));
    let again = scratch.cache();
    let second = compiled(&pipeline, TILED, &again);
    assert!(matches!(origin(&second), CodeOrigin::Read { .. }), "{:?}", origin(&second));
    let explained = second.explain().unwrap();
    assert!(explained.contains("code_cache\n  + main: read from "), "{explained}");
    // The second size needs the variant for small outputs, which is kept as well.
    for size in [[100, 40], [3, 2], [1, 1]] {
        assert_eq!(run(&first, size), run(&second, size), "{size:?}");
    }
    let counts = again.counts();
    assert_eq!((counts.read, counts.compiled, counts.written), (2, 0, 0));
    assert_eq!(second.code_origins().len(), 2);
}

#[test]
fn faults_of_code_that_was_read_say_the_same() {
    let (scratch, pipeline) = (Scratch::new(), blur());
    let both = [(); 2].map(|()| compiled(&pipeline, TILED, &scratch.cache()));
    let texts = both.each_ref().map(|compiled| {
        let image = noise([10, 10]);
        let call = || compiled.inputs().image_named("input", image.clone());
        let large = call().realize::<f32>([100, 100]).unwrap_err().to_string();
        let gain = call().param_named("gain", 9.5f32).realize::<f32>([2, 2]).unwrap_err().to_string();
        let wide = noise([3000, 3000]);
        let capped = compiled.inputs().image_named("input", wide).memory_cap(64).realize::<f32>([2000, 2000]);
        [large, gain, capped.unwrap_err().to_string()]
    });
    assert_eq!(texts[0], texts[1]);
    let [large, gain, capped] = &texts[1];
    assert!(large.contains("`input`") && gain.contains("a small gain") && capped.contains("64"), "{texts:?}");
}

#[test]
fn code_that_was_read_prints_the_same() {
    let (scratch, x) = (Scratch::new(), Var::new("x"));
    let mut f = Func::new("f");
    f[x] = print_when(x.expr().eq(2), x * 3, (x, "gives", cast::<f32>(x) / 2));
    let pipeline = Pipeline::new([&f]).unwrap();
    for _ in 0..2 {
        let compiled = compiled(&pipeline, "", &scratch.cache());
        let lines = Arc::new(Mutex::new(Vec::new()));
        let kept = lines.clone();
        compiled
            .inputs()
            .print_to(move |line| kept.lock().unwrap().push(line.to_string()))
            .realize::<i32>([4])
            .unwrap();
        assert_eq!(*lines.lock().unwrap(), ["6 2 gives 1.0"], "{:?}", origin(&compiled));
    }
}

/// Each byte of a file that is not as it was written makes it another one, which is not run.
#[test]
fn a_changed_byte_is_never_run() {
    let (scratch, x) = (Scratch::new(), Var::new("x"));
    let mut f = Func::new("f");
    f[x] = x * 3 + 1;
    let pipeline = Pipeline::new([&f]).unwrap();
    let schedule = "f: vectorize(x, 8)";
    compiled(&pipeline, schedule, &scratch.cache());
    let [file] = &scratch.files()[..] else { panic!("{:?}", scratch.files()) };
    let written = fs::read(file).unwrap();
    let changes = (0..written.len()).step_by(if cfg!(debug_assertions) { 13 } else { 1 });
    for at in changes.chain(0..96).chain(written.len() - 40..written.len()) {
        let mut changed = written.clone();
        changed[at] ^= 1 << (at % 8);
        fs::write(file, &changed).unwrap();
        let read = compiled(&pipeline, schedule, &scratch.cache());
        assert_eq!(because(&read), Some(CacheProblem::Torn { file: file.clone() }), "byte {at}");
        assert_eq!(read.inputs().realize::<i32>([4]).unwrap().to_vec(), [1, 4, 7, 10]);
        // It has been written again.
        assert_eq!(fs::read(file).unwrap(), written);
    }
    for end in [0, 1, 15, 16, 48, 100, written.len() - 1] {
        fs::write(file, &written[..end]).unwrap();
        let read = compiled(&pipeline, schedule, &scratch.cache());
        assert_eq!(because(&read), Some(CacheProblem::Torn { file: file.clone() }), "{end} bytes");
    }
}

#[test]
fn whatever_code_depends_on_is_part_of_its_key() {
    let scratch = Scratch::new();
    let program = |constant: i32, range: (i32, i32), schedule: &str, features: Option<&str>| {
        let (x, n) = (Var::new("x"), Param::<i32>::new("n").with_default(1).with_range(range.0, range.1));
        let mut f = Func::new("f");
        f[x] = x * constant + n;
        let target = Target { features: features.map(|list| CpuFeatures::parse(list).unwrap()), ..Target::host() };
        let compiler = Compiler::new(&Pipeline::new([&f]).unwrap()).schedule(&schedule.parse().unwrap());
        let cache = scratch.cache();
        compiler.target(&target).engine(crate::CPU).code_cache(&cache).compile().unwrap();
        cache.counts().compiled
    };
    let usual = (3, (0, 9), "f: split(x, xo, xi, 8)", None);
    let (constant, range, schedule, features) = usual;
    for _ in 0..2 {
        program(constant, range, schedule, features);
    }
    assert_eq!(scratch.files().len(), 1);
    let others = [
        program(4, range, schedule, features),
        program(constant, (0, 8), schedule, features),
        program(constant, range, "f: split(x, xo, xi, 16)", features),
        program(constant, range, "f: split(x, xo, xi, 8) unroll(xi)", features),
        program(constant, range, schedule, Some("")),
    ];
    assert_eq!(others, [1; 5]);
    assert_eq!(scratch.files().len(), 6);
}

/// A file under the name of another one has the wrong key inside.
#[test]
fn code_of_another_pipeline_is_not_run() {
    let (scratch, x) = (Scratch::new(), Var::new("x"));
    let pipelines = [1, 2].map(|n| {
        let mut f = Func::new("f");
        f[x] = x + n;
        Pipeline::new([&f]).unwrap()
    });
    pipelines.iter().for_each(|pipeline| drop(compiled(pipeline, "", &scratch.cache())));
    let files = scratch.files();
    fs::copy(&files[0], &files[1]).unwrap();
    let read = pipelines.each_ref().map(|pipeline| compiled(pipeline, "", &scratch.cache()));
    assert_eq!(read.iter().filter_map(because).collect::<Vec<_>>(), [CacheProblem::Torn { file: files[1].clone() }]);
    let values = read.map(|compiled| compiled.inputs().realize::<i32>([2]).unwrap().to_vec());
    assert_eq!(values, [[1, 2], [2, 3]]);
}

#[cfg(unix)]
#[test]
fn files_that_others_may_write_are_not_run() {
    use std::os::unix::fs::PermissionsExt;
    let allow = |path: &Path, mode: u32| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    let (scratch, pipeline) = (Scratch::new(), blur());
    compiled(&pipeline, "", &scratch.cache());
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let file = scratch.files()[0].clone();
    assert_eq!((mode(&scratch.0), mode(&file)), (0o700, 0o600));

    allow(&file, 0o620);
    let read = compiled(&pipeline, "", &scratch.cache());
    assert_eq!(because(&read), Some(CacheProblem::Writable { path: file.clone() }));
    // It was replaced by one that only the user may write.
    assert_eq!(mode(&file), 0o600);
    assert!(matches!(origin(&compiled(&pipeline, "", &scratch.cache())), CodeOrigin::Read { .. }));

    allow(&scratch.0, 0o777);
    let read = compiled(&pipeline, "", &scratch.cache());
    assert_eq!(origin(&read), CodeOrigin::NotWritten { because: CacheProblem::Writable { path: scratch.0.clone() } });
    assert!(origin(&read).to_string().ends_with("take that away by `chmod go-w`"), "{}", origin(&read));
    assert!(run(&read, [5, 5]).is_ok());
}

#[test]
fn folders_that_cannot_be_used_are_told() {
    let (scratch, pipeline) = (Scratch::new(), blur());
    fs::create_dir(&scratch.0).unwrap();
    let file = scratch.0.join("file");
    fs::write(&file, "no folder").unwrap();
    let cache = CodeCache::in_folder(file.join("code"));
    let read = compiled(&pipeline, "", &cache);
    let CodeOrigin::NotWritten { because: CacheProblem::System { path, error } } = origin(&read) else {
        panic!("{:?}", origin(&read))
    };
    assert_eq!((path.as_path(), error.is_empty()), (cache.folder(), false));
    assert!(run(&read, [5, 5]).is_ok());
    let explained = read.explain().unwrap();
    assert!(explained.contains("code_cache\n  - main: compiled and not written, since "), "{explained}");
    assert_eq!(cache.counts().compiled, 1);
}

#[test]
fn a_folder_keeps_what_was_used_last() {
    let (scratch, x) = (Scratch::new(), Var::new("x"));
    let of = |n: i32, cache: &CodeCache| {
        let mut f = Func::new("f");
        f[x] = x + n;
        compiled(&Pipeline::new([&f]).unwrap(), "", cache)
    };
    of(1, &scratch.cache());
    let size = fs::metadata(&scratch.files()[0]).unwrap().len();
    let cache = scratch.cache().most_bytes(3 * size + size / 2);
    for n in 2..4 {
        std::thread::sleep(std::time::Duration::from_millis(20));
        of(n, &cache);
    }
    std::thread::sleep(std::time::Duration::from_millis(20));
    assert!(matches!(origin(&of(1, &cache)), CodeOrigin::Read { .. }));
    std::thread::sleep(std::time::Duration::from_millis(20));
    of(4, &cache);
    assert_eq!(scratch.files().len(), 3);
    let read = [1, 2, 3, 4].map(|n| matches!(origin(&of(n, &scratch.cache())), CodeOrigin::Read { .. }));
    assert_eq!(read, [true, false, true, true]);
}

#[test]
fn many_threads_share_a_folder() {
    let (scratch, pipeline) = (Scratch::new(), blur());
    let expected = run(&compiled(&pipeline, TILED, &scratch.cache()), [40, 30]);
    fs::remove_file(&scratch.files()[0]).unwrap();
    std::thread::scope(|s| {
        for _ in 0..8 {
            s.spawn(|| assert_eq!(run(&compiled(&pipeline, TILED, &scratch.cache()), [40, 30]), expected));
        }
    });
    assert!(scratch.files().iter().all(|file| file.extension().is_some_and(|ending| ending == "code")));
}

#[test]
fn profiles_are_taken_of_code_that_was_read() {
    let (scratch, pipeline) = (Scratch::new(), blur());
    let both = [(); 2].map(|()| compiled(&pipeline, TILED, &scratch.cache()));
    let image = noise([102, 41]);
    for compiled in &both {
        let call = compiled.inputs().image_named("input", image.clone()).profile();
        call.realize::<f32>([100, 40]).unwrap();
        let origins = compiled.code_origins();
        let (key, origin) = origins.last().unwrap();
        assert!(key.marks);
        assert_eq!(*origin, CodeOrigin::NotWritten { because: CacheProblem::Text });
    }
}

/// Names and messages with letters that text has other uses for.
#[test]
fn names_and_messages_of_any_letters_are_kept() {
    let odd = "gr\u{f6}\u{df}e \"of\" \\ {a}\n\t\u{1f600} $1#2 // no comment";
    let (input, x) = (ImageParam::new(odd, I32, 1), Var::new("x"));
    let n = Param::<i32>::new("n \"n\"").with_default(1);
    let mut f = Func::new("f #b0: \u{e9}");
    f[x] = require(n.expr().lt(5), input[x], odd);
    let pipeline = Pipeline::new([&f]).unwrap();
    let scratch = Scratch::new();
    let texts = [(); 2].map(|()| {
        let compiled = compiled(&pipeline, "", &scratch.cache());
        let image = engines_agree::noise(I32, &Region::of_extents([4]), 3);
        let call = || compiled.inputs().image_named(odd, image.clone());
        let small = call().realize::<i32>([5]).unwrap_err().to_string();
        let large = call().param_named("n \"n\"", 7).realize::<i32>([4]).unwrap_err().to_string();
        (
            matches!(origin(&compiled), CodeOrigin::Read { .. }),
            small,
            large,
            call().realize::<i32>([4]).unwrap().to_vec(),
        )
    });
    let [first, second] = texts;
    assert!(!first.0 && second.0);
    assert_eq!((first.1, first.2, first.3), (second.1, second.2, second.3));
}
