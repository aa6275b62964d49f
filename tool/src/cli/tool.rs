//! A command line with its apps: what clap reads, and examples of these apps.

use super::args::Cli;
use super::examples::{self, OF_AN_APP};
use crate::app::App;
use clap::CommandFactory;
use std::ffi::OsString;

/// A command line with its apps.
///
/// ```
/// use halide_tool::Tool;
/// let tool = Tool::new("empty", &[]);
/// assert!(tool.app("blur").is_none());
/// ```
#[derive(Clone, Copy)]
#[must_use = "a tool does nothing until its main function is called"]
pub struct Tool {
    pub(crate) name: &'static str,
    pub(crate) apps: &'static [App],
    pub(crate) sample: Option<&'static [u8]>,
}

impl Tool {
    /// The command line called `name`, of these apps. Where there is one alone, its name may be left out.
    pub const fn new(name: &'static str, apps: &'static [App]) -> Tool {
        Tool { name, apps, sample: None }
    }

    /// The tool with the photograph that apps run on where none is named: an image file as bytes.
    pub const fn sample(self, image: &'static [u8]) -> Tool {
        Tool { sample: Some(image), ..self }
    }

    /// The app called `name`.
    pub fn app(&self, name: &str) -> Option<&'static App> {
        self.apps.iter().find(|app| app.name == name)
    }

    /// The command line as clap reads it.
    pub(crate) fn command(&self) -> clap::Command {
        let command = self.with_examples(Cli::command().name(self.name).bin_name(self.name));
        command.mut_subcommands(|subcommand| self.with_examples(subcommand))
    }

    /// The command with examples of this tool's apps alone.
    fn with_examples(&self, command: clap::Command) -> clap::Command {
        let text = command.get_after_help().map(ToString::to_string);
        let shown = text.and_then(|text| examples::of_tool(&text, self.name, self.apps));
        command.after_help(shown.unwrap_or_default())
    }

    /// The arguments with the name of the one app behind a subcommand that takes an app, unless it stands there.
    pub(crate) fn with_app(&self, mut args: Vec<OsString>) -> Vec<OsString> {
        let [app] = self.apps else { return args };
        let takes_app = args.get(1).is_some_and(|word| OF_AN_APP.iter().any(|known| word == known));
        let asks = |arg: &OsString| arg == app.name || arg == "--help" || arg == "-h";
        if takes_app && !args.get(2).is_some_and(asks) {
            args.insert(2, app.name.into());
        }
        args
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const APPS: [App; 2] = [
        App::new("mine", "", |_| halide::prelude::Pipeline::new([])),
        App::new("other", "", |_| halide::prelude::Pipeline::new([])),
    ];

    #[test]
    fn the_name_of_one_app_alone_may_be_left_out() {
        let one = Tool::new("mine", &APPS[..1]);
        let read = |tool: &Tool, line: &str| -> String {
            let args = tool.with_app(line.split(' ').map(OsString::from).collect());
            args.iter().map(|arg| arg.to_string_lossy()).collect::<Vec<_>>().join(" ")
        };
        for (given, expected) in [
            ("mine run photo.jpg", "mine run mine photo.jpg"),
            ("mine run", "mine run mine"),
            ("mine check --size 3x2", "mine check mine --size 3x2"),
            ("mine run mine photo.jpg", "mine run mine photo.jpg"),
            ("mine run --help", "mine run --help"),
            ("mine list", "mine list"),
            ("mine", "mine"),
        ] {
            assert_eq!(read(&one, given), expected);
        }
        assert_eq!(read(&Tool::new("both", &APPS), "both run photo.jpg"), "both run photo.jpg");
    }
}
