//! Facts about this machine, read from the system and not by the code that tests are about.

use crate::Need;
use std::collections::BTreeSet;
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Names of extensions, those of `CpuFeature`: Rust's, and that of Linux in `/proc/cpuinfo` where it is another.
const EXTENSIONS: [(&str, &str); 16] = [
    ("popcnt", "popcnt"),
    ("lzcnt", "abm"),
    ("bmi1", "bmi1"),
    ("bmi2", "bmi2"),
    ("avx", "avx"),
    ("avx2", "avx2"),
    ("fma", "fma"),
    ("f16c", "f16c"),
    ("avx512f", "avx512f"),
    ("avx512bw", "avx512bw"),
    ("avx512dq", "avx512dq"),
    ("avx512vl", "avx512vl"),
    ("avx512cd", "avx512cd"),
    ("avx512vbmi", "avx512vbmi"),
    ("avx512vnni", "avx512_vnni"),
    ("avxvnni", "avx_vnni"),
];

/// Drivers in software, by the start of the name of their manifest, with the features of their devices that tests need.
const DRIVERS: [(&str, &[&str]); 2] = [
    ("lvp_icd", &["int64", "float64", "subgroups", "timestamps"]),
    ("vk_swiftshader_icd", &["subgroups", "timestamps"]),
];

/// Features of devices, programs, files, systems, architectures, features of crates and targets that tests may ask for.
const DEVICE_FEATURES: [&str; 4] = ["int64", "float64", "subgroups", "timestamps"];
const PROGRAMS: [&str; 4] = ["spirv-val", "mkfifo", "chromium", "gdb"];
const FILES: [&str; 2] = ["/dev/zero", "/proc/self/statm"];
const SYSTEMS: [&str; 2] = ["linux", "unix"];
const ARCHITECTURES: [&str; 1] = ["x86_64"];
const FEATURES: [&str; 3] = ["cpu", "gpu", "runtime"];
const TARGETS: [&str; 1] = ["wasm32-unknown-unknown"];

/// Folders in which the Vulkan loader looks for manifests of drivers.
const MANIFESTS: [&str; 3] = ["/usr/share/vulkan/icd.d", "/usr/local/share/vulkan/icd.d", "/etc/vulkan/icd.d"];

/// The answer to a question about a machine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Has {
    /// It has what is needed; the words say how that is known.
    Yes(String),
    /// It lacks it; the words say what of it.
    No(String),
    /// The system does not tell.
    NotKnown,
    /// Nothing that tests are known to need.
    NoReason,
}

/// Facts about a machine.
#[derive(Clone, Debug, Default)]
pub struct Machine {
    /// Flags of the processor, where the system tells them.
    flags: Option<BTreeSet<String>>,
    /// File names of the manifests of Vulkan drivers.
    drivers: Vec<String>,
    /// Folders of programs.
    path: Vec<PathBuf>,
}

impl Machine {
    /// The facts about this machine.
    pub fn here() -> Machine {
        let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let line = info.lines().find_map(|line| line.strip_prefix("flags")?.split_once(':'));
        let flags = line.map(|(_, flags)| flags.split_whitespace().map(str::to_string).collect());
        let path = env::var_os("PATH").unwrap_or_default();
        Machine { flags, drivers: drivers(), path: env::split_paths(&path).collect() }
    }

    /// Answers if the machine has what a test says that it lacks.
    pub fn has(&self, need: Need<'_>) -> Has {
        let (known, name): (&[&str], &str) = match need {
            Need::Cpu(list) => return self.has_extensions(list),
            Need::Device => return self.has_driver(None),
            Need::DeviceFeature(name) => (&DEVICE_FEATURES, name),
            Need::Program(name) => (&PROGRAMS, name),
            Need::File(name) => (&FILES, name),
            Need::System(name) => (&SYSTEMS, name),
            Need::Architecture(name) => (&ARCHITECTURES, name),
            Need::Feature(name) => (&FEATURES, name),
            Need::Target(name) => (&TARGETS, name),
        };
        if !known.contains(&name) {
            return Has::NoReason;
        }
        match need {
            Need::DeviceFeature(_) => self.has_driver(Some(name)),
            Need::Program(_) => match self.path.iter().map(|dir| dir.join(name)).find(|file| file.is_file()) {
                Some(file) => Has::Yes(format!("{} is there", file.display())),
                None => Has::No(format!("no folder of PATH has {name}")),
            },
            Need::File(_) => answer(Path::new(name).exists(), name, "a file"),
            Need::System(_) => {
                answer(name == env::consts::OS || name == env::consts::FAMILY, name, "the system is called so")
            }
            Need::Architecture(_) => answer(name == env::consts::ARCH, name, "the processor is of this kind"),
            // Features are the choice of who builds.
            Need::Feature(_) => Has::Yes(format!("the feature {name} can be turned on")),
            _ => has_target(name),
        }
    }

    fn has_extensions(&self, list: &str) -> Has {
        let names: Option<Vec<&str>> = list
            .split(',')
            .map(|name| EXTENSIONS.iter().find(|(rust, _)| *rust == name).map(|(_, flag)| *flag))
            .collect();
        let Some(names) = names else { return Has::NoReason };
        let Some(flags) = &self.flags else { return Has::NotKnown };
        let missing: Vec<&str> = names.into_iter().filter(|name| !flags.contains(*name)).collect();
        match missing.is_empty() {
            true => Has::Yes(format!("/proc/cpuinfo lists {list}")),
            false => Has::No(format!("/proc/cpuinfo has no {}", missing.join(", "))),
        }
    }

    /// Answers if there is a driver, and one whose devices have this feature.
    fn has_driver(&self, feature: Option<&str>) -> Has {
        let devices = self.drivers.iter().filter_map(|file| {
            let (_, features) = DRIVERS.iter().find(|(start, _)| file.starts_with(start))?;
            Some((file, features))
        });
        let mut able = devices.filter(|(_, features)| feature.is_none_or(|f| features.contains(&f)));
        match (able.next(), self.drivers.is_empty()) {
            (Some((file, _)), _) => Has::Yes(format!("the driver of {file} has it")),
            (None, true) => Has::No("no Vulkan driver is installed".into()),
            // Those of GPUs may be installed where there is none.
            (None, false) => Has::No(format!("none of {} is known to have it", self.drivers.join(", "))),
        }
    }
}

fn answer(has: bool, name: &str, how: &str) -> Has {
    if has { Has::Yes(format!("{name}: {how}")) } else { Has::No(format!("{name}: not so here")) }
}

/// Asks the compiler for the folder of another target's standard library.
fn has_target(name: &str) -> Has {
    let rustc = Command::new("rustc").args(["--print", "target-libdir", "--target", name]).output();
    let Ok(said) = rustc else { return Has::NotKnown };
    let folder = String::from_utf8_lossy(&said.stdout).trim().to_string();
    match !folder.is_empty() && Path::new(&folder).is_dir() {
        true => Has::Yes(format!("{folder} is there")),
        false => Has::No(format!("the toolchain has no standard library for {name}")),
    }
}

/// Returns the names of the manifests that the Vulkan loader finds: those that the environment names, or all.
fn drivers() -> Vec<String> {
    let list = env::var_os("VK_DRIVER_FILES").or_else(|| env::var_os("VK_ICD_FILENAMES"));
    let places: Vec<PathBuf> = match list {
        Some(list) => env::split_paths(&list).collect(),
        None => MANIFESTS.iter().map(PathBuf::from).collect(),
    };
    places.iter().flat_map(|place| manifests(place)).collect()
}

/// Returns the names of the manifests at a place, which is one itself, or a folder of some.
fn manifests(place: &Path) -> Vec<String> {
    let name = |path: &Path| Some(path.file_name()?.to_string_lossy().into_owned());
    if place.is_file() {
        return name(place).into_iter().collect();
    }
    let paths = std::fs::read_dir(place).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut found: Vec<String> =
        paths.filter(|path| path.extension().is_some_and(|end| end == "json")).filter_map(|path| name(&path)).collect();
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(flags: &str, drivers: &[&str]) -> Machine {
        Machine {
            flags: Some(flags.split_whitespace().map(str::to_string).collect()),
            drivers: drivers.iter().map(|d| d.to_string()).collect(),
            path: vec!["/nowhere".into()],
        }
    }

    #[test]
    fn every_extension_of_a_list_must_be_there() {
        let small = machine("fma avx2 abm", &[]);
        assert_eq!(small.has(Need::Cpu("avx2,fma")), Has::Yes("/proc/cpuinfo lists avx2,fma".into()));
        assert_eq!(small.has(Need::Cpu("lzcnt")), Has::Yes("/proc/cpuinfo lists lzcnt".into()));
        assert_eq!(small.has(Need::Cpu("avx2,avx512vnni")), Has::No("/proc/cpuinfo has no avx512_vnni".into()));
        assert_eq!(small.has(Need::Cpu("avx1024")), Has::NoReason);
        assert_eq!(Machine::default().has(Need::Cpu("avx2")), Has::NotKnown);
        assert_eq!(Machine::default().has(Need::Cpu("avx1024")), Has::NoReason);
    }

    #[test]
    fn drivers_in_software_are_devices() {
        let none = machine("", &[]);
        assert_eq!(none.has(Need::Device), Has::No("no Vulkan driver is installed".into()));
        let lavapipe = machine("", &["intel_icd.x86_64.json", "lvp_icd.x86_64.json"]);
        assert!(matches!(lavapipe.has(Need::Device), Has::Yes(_)));
        assert!(matches!(lavapipe.has(Need::DeviceFeature("int64")), Has::Yes(_)));
        let swiftshader = machine("", &["vk_swiftshader_icd.json"]);
        assert!(matches!(swiftshader.has(Need::Device), Has::Yes(_)));
        assert!(matches!(swiftshader.has(Need::DeviceFeature("int64")), Has::No(_)));
        assert!(matches!(machine("", &["intel_icd.x86_64.json"]).has(Need::Device), Has::No(_)));
    }

    #[test]
    fn manifests_are_files_or_in_folders() {
        let folder = env::temp_dir().join(format!("halide-skips-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        for name in ["lvp_icd.json", "intel_icd.json", "read.me"] {
            std::fs::write(folder.join(name), "{}").unwrap();
        }
        assert_eq!(manifests(&folder), ["intel_icd.json", "lvp_icd.json"]);
        assert_eq!(manifests(&folder.join("lvp_icd.json")), ["lvp_icd.json"]);
        assert_eq!(manifests(&folder.join("none.json")), [""; 0]);
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn only_what_is_listed_is_a_reason() {
        let here = machine("", &[]);
        assert!(matches!(here.has(Need::Program("mkfifo")), Has::No(_)));
        assert!(matches!(here.has(Need::Feature("gpu")), Has::Yes(_)));
        assert!(matches!(here.has(Need::System(env::consts::FAMILY)), Has::Yes(_) | Has::NoReason));
        for need in [Need::Program("luck"), Need::File("/dev/luck"), Need::Feature("luck"), Need::System("luck")] {
            assert_eq!(here.has(need), Has::NoReason, "{need}");
        }
    }
}
