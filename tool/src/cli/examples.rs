//! Examples that the help of each command ends with.

use crate::app::App;

/// The subcommands that begin with the name of an app.
pub(crate) const OF_AN_APP: [&str; 10] =
    ["run", "compare", "check", "auto", "tune", "watch", "lint", "why", "bench", "report"];

/// Examples for the help of all commands.
pub(crate) const ALL: &str = "\
Examples:
  halide list                                     the apps
  halide run local_laplacian                      an app on the photograph that comes with halide
  halide run blur photo.png blurred.png --check   on a file, with a check of the result
  halide help run                                 every option of a command
  halide help schedule vectorize                  a word of schedules, with examples and errors";

/// Examples for the help of `list`.
pub(crate) const LIST: &str = "\
Examples:
  halide list
  halide list --json";

/// Examples for the help of `run`.
pub(crate) const RUN: &str = "\
Examples:
  halide run local_laplacian                                the photograph, to out/local_laplacian.png
  halide run unsharp photo.jpg sharp.png --param sigma=2    a file to a file, with a parameter
  halide run resize photo.jpg small.png --param scale=1/3   with a setting
  halide run blur --random 1 --size 3840x2160 --bench 20    times on random values
  halide run blur --schedule tiles --check                  another schedule, against the interpreter
  halide run blur --schedule mine.sched --explain           a schedule of your own, and what became of it
  halide run blur --schedule tiles --profile                the time of each definition, and what it computed
  halide run harris --schedule auto --print schedule        a schedule that is chosen
  halide run matmul --schedule auto-isa --print schedule    one of instructions that compute its stages";

/// Examples for the help of `compare`.
pub(crate) const COMPARE: &str = "\
Examples:
  halide compare blur
  halide compare matmul --size 2048x2048 --bench 10
  halide compare local_laplacian photo.jpg --threads 1 --json";

/// Examples for the help of `check`.
pub(crate) const CHECK: &str = "\
Examples:
  halide check blur                                       every schedule of an app, at six sizes
  halide check blur --schedule mine.sched --size 641x3    one in a file, at a size
  halide check blur --schedule strips --set rows=7        with another number for one that it defines";

/// Examples for the help of `auto`.
pub(crate) const AUTO: &str = "\
Examples:
  halide auto unsharp --size 3840x2160 -o unsharp.sched   choose one
  halide auto unsharp --price root                        predict the time of one
  halide auto unsharp --advise mine.sched                 say what would make it faster
  halide auto blur --gpu discrete                         with kernels for a GPU";

/// Examples for the help of `map`.
pub(crate) const MAP: &str = "\
Examples:
  halide map matmul                                what computes its stages, and what is chosen
  halide map conv_layer --size 56x56 --threads 1   at a size
  halide map conv_layer --instruction fma_f32      one instruction, or what differs";

/// Examples for the help of `tune`.
pub(crate) const TUNE: &str = "\
Examples:
  halide tune unsharp --time 5m -o unsharp.sched
  halide tune hist photo.jpg --from cpu --db hist.json -o hist.sched";

/// Examples for the help of `watch`.
pub(crate) const WATCH: &str = "\
Examples:
  halide watch blur mine.sched                          a row for each save; Ctrl-C ends it
  halide watch blur mine.sched photo.jpg --serve 8080   also as a page at http://127.0.0.1:8080/
  halide watch blur mine.sched --cargo                  the algorithm, too: builds the crate here when it changes
  halide watch blur mine.sched --json --saves 10        for programs, ten rows";

/// Examples for the help of `why`.
pub(crate) const WHY: &str = "\
Examples:
  halide why blur root strips                                 two schedules of an app
  halide why blur mine.sched mine.best.sched --threads 1      two in files
  halide why harris root cpu --size 1530x2554 --time 30s      at a size, within a time";

/// Examples for the help of `lint`.
pub(crate) const LINT: &str = "\
Examples:
  halide lint blur --schedule root                             what it does that costs time, most time first
  halide lint unsharp --schedule mine.sched --no-run           by the loops alone
  halide lint harris --schedule root --fix --out harris.sched  keep the edits that are faster, for a minute";

/// Examples for the help of `bench`.
pub(crate) const BENCH: &str = "\
Examples:
  halide bench blur                                            every schedule of an app, in turn
  halide bench blur --schedule strips --schedule mine.sched    these two
  halide bench blur --save base.json                           keep the times
  halide bench blur --against base.json --tolerance 3%         fail where one became slower
  halide bench blur --schedule mine.sched --stamp              write time and processor into the file";

/// Examples for the help of `report`.
pub(crate) const REPORT: &str = "\
Examples:
  halide report blur                                     the best schedule, to out/blur.html
  halide report blur --schedule tiles,strips             two schedules side by side
  halide report unsharp photo.jpg --schedule mine.sched -o unsharp.html
  halide report harris --json --size 1530x2554           the data of the page
  halide report blur --schedule tiles --gif tiles.gif    the order of evaluation, animated";

/// Examples for the help of `new`.
pub(crate) const NEW: &str = "\
Examples:
  halide new mine
  halide new ~/work/sharpen";

/// Examples for the help of `machine`.
pub(crate) const MACHINE: &str = "\
Examples:
  halide machine
  halide machine --measure -o machine.json
  halide auto blur --machine machine.json";

/// Examples for the help of `completions`.
pub(crate) const COMPLETIONS: &str = "\
Examples:
  halide completions bash > ~/.local/share/bash-completion/completions/halide
  halide completions zsh > ~/.zfunc/_halide
  halide completions fish > ~/.config/fish/completions/halide.fish";

/// Examples for the help of `help`.
pub(crate) const HELP: &str = "\
Examples:
  halide help run                  every option of a command
  halide help schedule             the language of schedules
  halide help schedule vectorize   a word of it
  halide help schedule tails       a topic";

/// The examples of `text` that make sense in a tool called `name` with these apps: those of other apps are left out.
pub(crate) fn of_tool(text: &str, name: &str, apps: &[App]) -> Option<String> {
    let has_app = |line: &str| {
        let mut words = line.split_whitespace().skip(1);
        let of_an_app = words.next().is_some_and(|word| OF_AN_APP.contains(&word));
        !of_an_app || words.next().is_some_and(|word| apps.iter().any(|app| app.name == word))
    };
    let (title, lines) = text.split_once('\n')?;
    let lines: Vec<String> =
        lines.lines().filter(|line| has_app(line)).map(|line| line.replacen("halide", name, 1)).collect();
    (!lines.is_empty()).then(|| format!("{title}\n{}", lines.join("\n")))
}

#[cfg(test)]
mod tests {
    use crate::cli::args::Cli;
    use clap::Parser;

    #[test]
    fn tools_have_the_examples_of_their_apps() {
        let of_tool = |text| super::of_tool(text, "mine", &[]);
        assert_eq!(of_tool(super::COMPARE), None);
        assert_eq!(of_tool(super::NEW).as_deref(), Some("Examples:\n  mine new mine\n  mine new ~/work/sharpen"));
    }

    #[test]
    fn examples_are_command_lines() {
        let all = [
            super::ALL,
            super::LIST,
            super::RUN,
            super::COMPARE,
            super::CHECK,
            super::AUTO,
            super::TUNE,
            super::WATCH,
            super::LINT,
            super::WHY,
            super::BENCH,
            super::REPORT,
            super::NEW,
            super::MAP,
            super::MACHINE,
            super::COMPLETIONS,
            super::HELP,
        ];
        for example in all.iter().flat_map(|text| text.lines().skip(1)) {
            // Behind two spaces is what it does, behind `>` the file that a shell writes.
            let command = example.trim_start().split("  ").next().unwrap_or_default();
            let words: Vec<&str> = command.split_whitespace().take_while(|word| *word != ">").collect();
            if let Err(error) = Cli::try_parse_from(&words) {
                assert_eq!(error.kind(), clap::error::ErrorKind::DisplayHelp, "{example}: {error}");
            }
        }
    }
}
