//! `--code-cache`: a second process runs the code of the first.
#![cfg(unix)]

use crate::Workplace;

#[test]
fn a_second_process_compiles_nothing() {
    let place = Workplace::new();
    for app in ["blur", "local_laplacian", "hist", "iir_blur"] {
        let run = |out: &str, more: &str| {
            let command = format!("run {app} --size 96x64 --random 3 --code-cache code {more} {out}");
            place.succeed(&command).stdout
        };
        run("first.png", "");
        let files = std::fs::read_dir(place.path("code")).unwrap().count();
        let explained = run("second.png", "--explain");
        let rows: Vec<&str> = explained.split("code_cache\n").nth(1).unwrap().lines().collect();
        let origins: Vec<&&str> = rows.iter().take_while(|row| row.starts_with("  ")).collect();
        assert!(!origins.is_empty() && origins.iter().all(|row| row.contains(": read from ")), "{app}: {origins:?}");
        assert_eq!(std::fs::read_dir(place.path("code")).unwrap().count(), files, "{app}");
        let picture = |name: &str| std::fs::read(place.path(name)).unwrap();
        assert!(picture("first.png") == picture("second.png"), "{app}");
    }
}
