//! The command line `halide`, with the apps that come with it and a photograph.

use halide_apps::app::APPS;
use halide_tool::Tool;
use std::process::ExitCode;

fn main() -> ExitCode {
    Tool::new("halide", APPS).sample(include_bytes!("../../assets/raccoon.jpg")).main()
}
