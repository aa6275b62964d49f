//! Reasons for a skip: the closed list of what a test may need and a machine may lack.

use std::fmt;

/// Something that a test needs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Need<'a> {
    /// Extensions of an x86-64 processor, by the names that Rust has for them, with commas between them.
    Cpu(&'a str),
    /// A device that runs kernels.
    Device,
    /// A feature of that device: `int64`, `float64`, `subgroups` or `timestamps`.
    DeviceFeature(&'a str),
    /// A program on the path.
    Program(&'a str),
    /// A file of the operating system.
    File(&'a str),
    /// An operating system, or a family of them: `linux`, `unix`.
    System(&'a str),
    /// A processor architecture.
    Architecture(&'a str),
    /// A feature of the crate under test.
    Feature(&'a str),
    /// The standard library for another target.
    Target(&'a str),
}

impl<'a> Need<'a> {
    /// The need of a text that [`fmt::Display`] made.
    pub fn parse(text: &'a str) -> Option<Need<'a>> {
        if text == "device" {
            return Some(Need::Device);
        }
        let (kind, name) = text.split_once(' ')?;
        Some(match kind {
            "cpu" => Need::Cpu(name),
            "device-feature" => Need::DeviceFeature(name),
            "program" => Need::Program(name),
            "file" => Need::File(name),
            "system" => Need::System(name),
            "architecture" => Need::Architecture(name),
            "feature" => Need::Feature(name),
            "target" => Need::Target(name),
            _ => return None,
        })
    }

    /// Returns true if `.ci/run` installs it, so that its absence there is a mistake at once.
    pub fn is_installed_by_ci(self) -> bool {
        matches!(self, Need::Device | Need::Program("spirv-val" | "chromium" | "gdb"))
    }
}

impl fmt::Display for Need<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Need::Cpu(list) => write!(f, "cpu {list}"),
            Need::Device => write!(f, "device"),
            Need::DeviceFeature(name) => write!(f, "device-feature {name}"),
            Need::Program(name) => write!(f, "program {name}"),
            Need::File(path) => write!(f, "file {path}"),
            Need::System(name) => write!(f, "system {name}"),
            Need::Architecture(name) => write!(f, "architecture {name}"),
            Need::Feature(name) => write!(f, "feature {name}"),
            Need::Target(name) => write!(f, "target {name}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_as_they_are_written() {
        for need in [
            Need::Cpu("avx2,fma"),
            Need::Device,
            Need::DeviceFeature("int64"),
            Need::Program("spirv-val"),
            Need::File("/dev/zero"),
            Need::System("linux"),
            Need::Architecture("x86_64"),
            Need::Feature("gpu"),
            Need::Target("wasm32-unknown-unknown"),
        ] {
            assert_eq!(Need::parse(&need.to_string()), Some(need));
        }
        assert_eq!(Need::parse("the moon in the seventh house"), None);
        assert_eq!(Need::parse("mood"), None);
    }
}
