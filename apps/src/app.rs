//! What an app is: an algorithm, its schedules, and what it makes of an image.

use halide::prelude::*;
use halide::schedule::ParseErrors;

/// One app.
#[derive(Clone, Copy)]
pub struct App {
    /// What it is called on the command line.
    pub name: &'static str,
    /// One line about it.
    pub about: &'static str,
    /// Which channels of an image one run takes.
    pub channels: Channels,
    /// What the values of an image become.
    pub levels: Levels,
    /// Its schedules by name, the best one first: it is the default. Those for graphics processors begin with `gpu`.
    pub schedules: &'static [NamedSchedule],
    /// The algorithm: one image `input` of u16, one output of u16.
    pub pipeline: fn(Edges) -> Result<Pipeline, AlgorithmErrors>,
    /// The extents of a synthetic input for an output of this width and height, with [`Edges::Inside`].
    pub input_extents: fn(i64, i64) -> Vec<i64>,
}

/// Which channels of an image one run takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channels {
    /// One run per channel, alpha too; the input has the dimensions x and y.
    Each,
    /// One run for red, green and blue; the input has the dimensions x, y and channel. Grey runs as three equal channels,
    /// and alpha is passed on.
    Rgb,
}

/// What the values of an 8-bit image become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Levels {
    /// 0 to 255 as they are.
    AsStored,
    /// Scaled to 0 to 65535.
    Full,
}

/// What an app reads beyond the edges of its output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edges {
    /// The nearest pixel of the input: the output is as large as the input.
    Repeat,
    /// The input, which is large enough. For apps that always repeat edges this is the same.
    Inside,
}

/// A schedule that comes with an app, as text.
#[derive(Clone, Copy, Debug)]
pub struct NamedSchedule {
    /// What it is called on the command line.
    pub name: &'static str,
    /// The file in the repository that it comes from.
    pub file: &'static str,
    /// The text of that file.
    pub text: &'static str,
}

impl NamedSchedule {
    /// The schedule; places in messages name the file.
    pub fn parse(&self) -> Result<Schedule, ParseErrors> {
        Schedule::parse(self.text, self.file)
    }
}

impl NamedSchedule {
    /// Whether it gives work to a graphics processor.
    pub fn is_for_gpu(&self) -> bool {
        self.name.starts_with("gpu")
    }
}

impl App {
    /// The best schedule, for a machine with a graphics processor if `gpu`.
    pub fn best(&self, gpu: bool) -> &'static NamedSchedule {
        let suits = self.schedules.iter().find(|s| s.is_for_gpu() == gpu);
        suits.unwrap_or(&self.schedules[0])
    }
    /// The schedule called `name`.
    pub fn schedule(&self, name: &str) -> Option<&'static NamedSchedule> {
        self.schedules.iter().find(|s| s.name == name)
    }
}

/// Every app.
pub const APPS: &[App] = &[crate::local_laplacian::APP, crate::blur::APP];

/// The app called `name`.
pub fn find(name: &str) -> Option<&'static App> {
    APPS.iter().find(|app| app.name == name)
}

/// The schedules of an app from the files of these names.
macro_rules! schedules {
    ($app:literal: $($name:ident),+) => {
        &[$($crate::app::NamedSchedule {
            name: stringify!($name),
            file: concat!("apps/schedules/", $app, "/", stringify!($name), ".sched"),
            text: include_str!(concat!("../schedules/", $app, "/", stringify!($name), ".sched")),
        }),+]
    };
}
pub(crate) use schedules;
