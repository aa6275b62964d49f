//! The choice of a device by a person.

use std::fmt;

/// A choice of one of a machine's devices.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum Choice {
    /// The one that is fastest by its kind: a discrete one before an integrated one, software last.
    #[default]
    Fastest,
    /// One that runs on the processor's cores.
    Software,
    /// The one at this place of [`super::list_devices`].
    Index(usize),
    /// The first whose name contains this text, whatever the case of letters.
    Named(String),
}

impl Choice {
    /// Parses `text`: nothing or `default`, `software`, a number, or a part of a name.
    pub fn parse(text: &str) -> Choice {
        let text = text.trim();
        match text {
            "" | "default" => Choice::Fastest,
            "software" => Choice::Software,
            _ => text.parse().map_or_else(|_| Choice::Named(text.to_string()), Choice::Index),
        }
    }
    /// Parses the environment variable `HALIDE_DEVICE`; `Fastest` if it is not set.
    pub fn from_env() -> Choice {
        std::env::var("HALIDE_DEVICE").map_or(Choice::Fastest, |text| Choice::parse(&text))
    }
    /// The place in `devices` of what is asked for.
    pub fn find(&self, devices: &[DeviceInfo]) -> Option<usize> {
        match self {
            Choice::Fastest => (0..devices.len()).min_by_key(|&i| devices[i].kind),
            Choice::Software => devices.iter().position(|d| d.kind == DeviceKind::Software),
            Choice::Index(i) => (*i < devices.len()).then_some(*i),
            Choice::Named(part) => {
                let part = part.to_lowercase();
                devices.iter().position(|d| d.name.to_lowercase().contains(&part))
            }
        }
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Choice::Fastest => write!(f, "any device"),
            Choice::Software => write!(f, "a software device"),
            Choice::Index(i) => write!(f, "device {i}"),
            Choice::Named(part) => write!(f, "a device whose name contains \"{part}\""),
        }
    }
}

/// The kinds of devices, from the fastest to the slowest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DeviceKind {
    /// A processor with memory of its own.
    Discrete,
    /// A processor that shares the host's memory.
    Integrated,
    /// A part of a device of another machine.
    Virtual,
    /// The driver does not say.
    Unknown,
    /// The host's own cores.
    Software,
}

impl fmt::Display for DeviceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DeviceKind::Discrete => "discrete",
            DeviceKind::Integrated => "integrated",
            DeviceKind::Virtual => "virtual",
            DeviceKind::Unknown => "of unknown kind",
            DeviceKind::Software => "software",
        })
    }
}

/// A device as `halide list` shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceInfo {
    /// The name that its driver gives it.
    pub name: String,
    /// The interface that it is used through: `vulkan`, `metal`, `dx12`, `webgpu`.
    pub backend: String,
    /// The kind of the device.
    pub kind: DeviceKind,
    /// Name and version of its driver; may be empty.
    pub driver: String,
}

impl fmt::Display for DeviceInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}, {}", self.name, self.kind, self.backend)?;
        if !self.driver.is_empty() {
            write!(f, ", {}", self.driver)?;
        }
        write!(f, ")")
    }
}

#[cfg(test)]
mod tests {
    use crate::runtime::choice::*;

    fn devices() -> Vec<DeviceInfo> {
        let device =
            |name: &str, kind| DeviceInfo { name: name.into(), backend: "vulkan".into(), kind, driver: String::new() };
        vec![
            device("llvmpipe", DeviceKind::Software),
            device("Arc A770", DeviceKind::Discrete),
            device("UHD 630", DeviceKind::Integrated),
        ]
    }

    #[test]
    fn text_says_which_device() {
        let found = |text: &str| Choice::parse(text).find(&devices());
        assert_eq!(found(""), Some(1), "discrete before integrated before software");
        assert_eq!(found("software"), Some(0));
        assert_eq!(found("2"), Some(2));
        assert_eq!(found("3"), None);
        assert_eq!(found("uhd"), Some(2));
        assert_eq!(found("GeForce"), None);
    }

    #[test]
    fn devices_are_told_apart_by_their_text() {
        assert_eq!(devices()[0].to_string(), "llvmpipe (software, vulkan)");
    }
}
