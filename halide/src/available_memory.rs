//! The memory that this machine has left, as its operating system tells it.
//!
//! On Linux that is the least of what the kernel could hand out without swapping (`MemAvailable`) and what each memory
//! control group around this process leaves, where files that are merely cached count as free. Elsewhere nobody is
//! asked.

use std::path::Path;

/// Returns how many bytes of memory can be had; `None` where the operating system does not tell.
pub fn available_memory() -> Option<u64> {
    if cfg!(target_os = "linux") { available_below(Path::new("/")) } else { None }
}

/// Reads it from the files of Linux below a folder.
fn available_below(root: &Path) -> Option<u64> {
    let read = |path: &Path| std::fs::read_to_string(path).ok();
    let machine = read(&root.join("proc/meminfo")).and_then(|text| row(&text, "MemAvailable:")).map(|kib| kib << 10);
    let groups = read(&root.join("proc/self/cgroup")).unwrap_or_default();
    let of_groups = groups.lines().filter_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, path) = (fields.next()?, fields.next()?);
        let top = root.join("sys/fs/cgroup");
        match controllers {
            "" => left_in_groups(&top, path, &NEW),
            list if list.split(',').any(|c| c == "memory") => left_in_groups(&top.join("memory"), path, &OLD),
            _ => None,
        }
    });
    of_groups.chain(machine).min()
}

/// The names of the files of a control group.
struct Names {
    limit: &'static str,
    usage: &'static str,
    /// The row of `memory.stat` with the bytes of cached files that can be dropped.
    cached: &'static str,
}

const NEW: Names = Names { limit: "memory.max", usage: "memory.current", cached: "inactive_file" };
const OLD: Names =
    Names { limit: "memory.limit_in_bytes", usage: "memory.usage_in_bytes", cached: "total_inactive_file" };

/// The least that a group and those around it leave. In a container its path may be one of the host, which is not
/// there: then only the top is asked.
fn left_in_groups(top: &Path, path: &str, names: &Names) -> Option<u64> {
    let own = top.join(path.trim_start_matches('/'));
    let around = own.ancestors().take_while(|group| group.starts_with(top));
    around.filter_map(|group| left_in(group, names)).min()
}

fn left_in(group: &Path, names: &Names) -> Option<u64> {
    let read = |name: &str| std::fs::read_to_string(group.join(name)).ok();
    // Without a limit it is the word `max`, which is no number.
    let limit: u64 = read(names.limit)?.trim().parse().ok()?;
    let usage: u64 = read(names.usage)?.trim().parse().ok()?;
    let cached = read("memory.stat").and_then(|text| row(&text, names.cached)).unwrap_or(0);
    Some(limit.saturating_sub(usage.saturating_sub(cached)))
}

/// The number behind a word that begins a line.
fn row(text: &str, word: &str) -> Option<u64> {
    let mut words =
        text.lines().map(str::split_whitespace).find_map(|mut words| (words.next()? == word).then_some(words))?;
    words.next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use crate::available_memory::*;

    fn at(files: &[(&str, &str)]) -> Option<u64> {
        let root = std::env::temp_dir().join(format!("halide-machine-{:?}", std::thread::current().id()));
        let _ = std::fs::remove_dir_all(&root);
        for (path, text) in files {
            let path = root.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let found = available_below(&root);
        let _ = std::fs::remove_dir_all(&root);
        found
    }

    const MEMORY: (&str, &str) = ("proc/meminfo", "MemTotal:  900 kB\nMemFree: 100 kB\nMemAvailable:    500 kB\n");

    #[test]
    fn the_least_of_machine_and_groups_counts() {
        assert_eq!(at(&[]), None);
        assert_eq!(at(&[MEMORY]), Some(500 << 10));
        let new = ("proc/self/cgroup", "0::/a/b\n");
        let limit = ("sys/fs/cgroup/a/memory.max", "400000\n");
        let usage = ("sys/fs/cgroup/a/memory.current", "150000\n");
        let inner = [("sys/fs/cgroup/a/b/memory.max", "max\n"), ("sys/fs/cgroup/a/b/memory.current", "9\n")];
        assert_eq!(at(&[MEMORY, new, limit, usage, inner[0], inner[1]]), Some(250_000), "of the group around");
        let stat = ("sys/fs/cgroup/a/memory.stat", "anon 7\ninactive_file 100000\n");
        assert_eq!(at(&[MEMORY, new, limit, usage, stat]), Some(350_000), "files that are cached are free");
        assert_eq!(at(&[MEMORY, new, limit]), Some(500 << 10), "a group that tells half is not asked");
        let old = ("proc/self/cgroup", "12:pids:/x\n4:cpu,memory:/x\n");
        let limit = ("sys/fs/cgroup/memory/memory.limit_in_bytes", "5000\n");
        let usage = ("sys/fs/cgroup/memory/memory.usage_in_bytes", "6000\n");
        assert_eq!(at(&[MEMORY, old, limit, usage]), Some(0), "the path is the host's, and the top is asked");
        assert_eq!(at(&[("proc/meminfo", "MemAvailable: much\n")]), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_machine_has_memory() {
        assert!(available_memory().is_some_and(|bytes| bytes > 1 << 20));
    }
}
