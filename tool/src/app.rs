//! An app: an algorithm, its schedules, and its treatment of images.

use crate::input::Input;
use crate::params::check_once;
use halide::Tier;
use halide::prelude::*;
use halide::schedule::{ParseErrors, closest};

/// One app.
#[derive(Clone, Copy)]
pub struct App {
    /// Its name on the command line.
    pub name: &'static str,
    /// One line about it.
    pub about: &'static str,
    /// The choices that are made before there is a pipeline.
    pub settings: &'static [Setting],
    /// The part of an image that one run takes.
    pub takes: Takes,
    /// The meaning of its output as an image.
    pub shows: Shows,
    /// Its schedules by name, the best one first: it is the default. Those for GPUs begin with `gpu`.
    /// One called as another with `_` and the name of a [`Tier`] at the end takes its place on machines up to that
    /// tier, which have fewer registers.
    pub schedules: &'static [NamedSchedule],
    /// The algorithm. It has one output.
    pub pipeline: fn(&Settings) -> Result<Pipeline, AlgorithmErrors>,
    /// The inputs of a run; those that are not named are read from the image as their type and dimensions say. With
    /// [`Edges::Inside`] the numbers are width and height of the output, with
    /// [`Edges::Repeat`] those of an image.
    pub inputs: fn(&Settings, i64, i64) -> Vec<Input>,
    /// The extents of the output, of which the first two that are not channels are width and height: those given, or
    /// what the app makes of an image of this size. Empty: as large as the image.
    pub output: fn(&Settings, i64, i64) -> Vec<i64>,
    /// Width and height of the output that benches use.
    pub size: (i64, i64),
    /// The operations on floats that one element of an output of these extents is made of, for apps whose speed is
    /// told in such operations.
    pub operations: Option<fn(&[i64]) -> i64>,
}

/// The part of an image that one run takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// One channel, alpha too: there are as many runs as channels. Inputs have the dimensions x and y.
    EachChannel,
    /// Every channel at once, alpha too, as the dimension after x and y of inputs and output. Random inputs have three.
    Channels,
    /// Red, green and blue; the inputs have the dimensions x, y and channel. Grey is three equal channels, and alpha is
    /// passed on where the output is as large as the image.
    Rgb,
    /// Red, green, blue and alpha, which is everywhere 1 if the image has none.
    Rgba,
    /// A channel for inputs of two dimensions, every channel for inputs of three, and nothing where there is no input.
    AsRead,
    /// Nothing: it works on numbers.
    Nothing,
}

/// The meaning of an output as an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shows {
    /// Values on the scale of the first input; floats from 0 to 1 where there is none.
    AsInput,
    /// Values from 0 to this.
    Full(u32),
    /// Values from 0 to the largest of the output's type; to 1 if that is a type of floats.
    FullType,
    /// Values of both signs and of many magnitudes: 0 is grey in the middle, what is darker was negative. The scale is
    /// that of the largest values but for a few outliers, and small ones are raised.
    Signed,
    /// No image.
    Nothing,
}

/// The pixels that an app reads beyond the edges of its output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edges {
    /// The nearest pixel of the input: the output is as large as the input.
    Repeat,
    /// The input, which is large enough. For apps that always repeat edges this is the same.
    Inside,
}

/// A choice that makes another pipeline of an app: a type, say.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Its name on the command line.
    pub name: &'static str,
    /// The values to choose from, the default first.
    pub values: &'static [&'static str],
}

/// The choices made for an app.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The pixels that are read beyond the edges.
    pub edges: Edges,
    chosen: Vec<(&'static str, &'static str)>,
}

impl Settings {
    /// The defaults of an app.
    pub fn new(app: &App, edges: Edges) -> Settings {
        Settings { edges, chosen: app.settings.iter().map(|s| (s.name, s.values[0])).collect() }
    }
    /// Takes the choices out of `NAME=VALUE` pairs; the rest speak of parameters.
    ///
    /// # Errors
    /// In words, where a setting has no such value, and where a name is given twice.
    pub fn take(&mut self, app: &App, given: &[(String, String)]) -> Result<Vec<(String, String)>, String> {
        check_once(given)?;
        let mut rest = Vec::new();
        for (name, value) in given {
            let Some(at) = app.settings.iter().position(|s| s.name == name) else {
                rest.push((name.clone(), value.clone()));
                continue;
            };
            let values = app.settings[at].values;
            let chosen = values.iter().find(|v| *v == value).ok_or_else(|| {
                let near = closest(value, values.iter().copied());
                let hint = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
                format!("`{name}` is one of {}, and not `{value}`{hint}", values.join(", "))
            })?;
            self.chosen[at].1 = chosen;
        }
        Ok(rest)
    }
    /// Returns the number of pixels that an input has more than its output in each direction, for an app that reads
    /// `pixels` beyond it.
    pub fn border(&self, pixels: i64) -> i64 {
        match self.edges {
            Edges::Repeat => 0,
            Edges::Inside => pixels,
        }
    }
    /// Returns the value that was chosen for the setting called `name`, which the app has.
    pub fn get(&self, name: &str) -> &'static str {
        self.chosen.iter().find(|(n, _)| *n == name).map_or("", |(_, value)| value)
    }
}

/// A schedule that comes with an app, as text.
#[derive(Clone, Copy, Debug)]
pub struct NamedSchedule {
    /// Its name on the command line.
    pub name: &'static str,
    /// The file in the repository that it comes from.
    pub file: &'static str,
    /// The text of that file.
    pub text: &'static str,
}

impl NamedSchedule {
    /// The schedule that says nothing.
    pub const NONE: NamedSchedule = NamedSchedule::new("none", "");

    /// A schedule in the text of the program.
    pub const fn new(name: &'static str, text: &'static str) -> NamedSchedule {
        NamedSchedule { name, file: name, text }
    }
    /// The schedule; places in messages name the file.
    pub fn parse(&self) -> Result<Schedule, ParseErrors> {
        Schedule::parse(self.text, self.file)
    }
    /// Returns true if it gives work to a GPU.
    pub fn is_for_gpu(&self) -> bool {
        self.name.starts_with("gpu")
    }
    /// The tier up to which it takes the place of another, and the name of that, if it is such a schedule.
    pub fn instead_of(&self) -> Option<(&'static str, Tier)> {
        let (other, tier) = self.name.rsplit_once('_')?;
        Some((other, Tier::named(tier)?))
    }
}

impl App {
    /// An app of one pipeline with one output, which takes its inputs from an image: inputs of two dimensions are a
    /// channel of it, and there is a run for each channel; those of three have all channels. Beyond its edges an image
    /// goes on with the nearest pixel, unless the algorithm has a boundary condition. Other treatments are fields.
    pub const fn new(
        name: &'static str,
        about: &'static str,
        pipeline: fn(&Settings) -> Result<Pipeline, AlgorithmErrors>,
    ) -> App {
        App {
            name,
            about,
            settings: &[],
            takes: Takes::AsRead,
            shows: Shows::AsInput,
            schedules: &[],
            pipeline,
            inputs: |_, _, _| Vec::new(),
            output: |_, _, _| Vec::new(),
            size: (1536, 1024),
            operations: None,
        }
    }

    /// The app with these schedules, the best one first: see [`schedules!`](crate::schedules).
    pub const fn schedules(self, schedules: &'static [NamedSchedule]) -> App {
        App { schedules, ..self }
    }

    /// The best schedule for a machine with vectors of so many bits, and with a GPU if `gpu`.
    pub fn best(&self, gpu: bool, vector_bits: u32) -> &'static NamedSchedule {
        let suits = self.schedules.iter().find(|s| s.is_for_gpu() == gpu && s.instead_of().is_none());
        let best = suits.or(self.schedules.first()).unwrap_or(&NamedSchedule::NONE);
        let replaces = |s: &&NamedSchedule| {
            s.instead_of().is_some_and(|(other, tier)| other == best.name && vector_bits <= tier.vector_bits())
        };
        let narrowest = |s: &&NamedSchedule| s.instead_of().map(|(_, tier)| tier);
        self.schedules.iter().filter(replaces).min_by_key(narrowest).unwrap_or(best)
    }
    /// The schedule called `name`.
    pub fn schedule(&self, name: &str) -> Option<&'static NamedSchedule> {
        self.schedules.iter().find(|s| s.name == name)
    }
    /// The algorithm with the default settings.
    pub fn default_pipeline(&self, edges: Edges) -> Result<Pipeline, AlgorithmErrors> {
        (self.pipeline)(&Settings::new(self, edges))
    }
}

/// The schedules of an app from files, the best one first: `schedules!["schedules/blur": tiles, strips]` are
/// `schedules/blur/tiles.sched` and `schedules/blur/strips.sched` in the folder of the crate.
#[macro_export]
macro_rules! schedules {
    ($folder:literal: $($name:ident),+ $(,)?) => {
        &[$($crate::app::NamedSchedule {
            name: stringify!($name),
            file: concat!($folder, "/", stringify!($name), ".sched"),
            text: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/", $folder, "/", stringify!($name), ".sched")),
        }),+]
    };
}
