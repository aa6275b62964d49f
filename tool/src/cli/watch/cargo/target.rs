//! The thing that cargo builds: the program that runs, of the crate whose sources are watched.

use super::super::super::failure::Failure;
use crate::files::shown;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// A program of a crate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    /// The manifest of the crate.
    pub(super) manifest: PathBuf,
    /// The name of the program.
    pub(super) name: String,
    is_example: bool,
    /// The profile by the name of its folder: `debug`, `release`, or that of another one.
    profile: OsString,
    features: Option<String>,
}

impl Target {
    /// The program in the file `exe`, of the crate with this manifest, or of the one around the folder `here`.
    ///
    /// # Errors
    /// There is no manifest, or no sources beside it.
    pub(super) fn new(
        exe: &Path,
        here: &Path,
        manifest: Option<&Path>,
        features: Option<&str>,
    ) -> Result<Target, Failure> {
        let manifest = match manifest {
            Some(named) if named.is_file() => here.join(named),
            Some(named) => return Err(Failure(format!("{}: there is no such manifest", shown(named)))),
            None => {
                let found = here.ancestors().map(|folder| folder.join("Cargo.toml")).find(|path| path.is_file());
                let text = "there is no Cargo.toml here or in a folder around; name it by --manifest-path";
                found.ok_or_else(|| Failure(format!("--cargo: {text}")))?
            }
        };
        let target = Target::of_exe(exe, manifest, features)?;
        match target.folder().join("src").is_dir() {
            true => Ok(target),
            false => {
                let text = "there is no folder `src` beside it; name the manifest of the crate by --manifest-path";
                Err(Failure(format!("{}: {text}", shown(&target.manifest))))
            }
        }
    }

    fn of_exe(exe: &Path, manifest: PathBuf, features: Option<&str>) -> Result<Target, Failure> {
        let folder = |path: &Path| path.parent().unwrap_or(Path::new("")).to_path_buf();
        let name = exe.file_stem().and_then(OsStr::to_str);
        let name = name.ok_or_else(|| Failure(format!("{}: its name is not UTF-8", shown(exe))))?.to_string();
        let own = folder(exe);
        let is_example = own.file_name().is_some_and(|name| name == "examples");
        let of_profile = if is_example { folder(&own) } else { own };
        let profile = of_profile.file_name().unwrap_or(OsStr::new("debug")).to_os_string();
        Ok(Target { manifest, name, is_example, profile, features: features.map(str::to_string) })
    }

    /// The folder of the crate.
    pub(super) fn folder(&self) -> PathBuf {
        self.manifest.parent().unwrap_or(Path::new("")).to_path_buf()
    }

    /// The kind of the target, as cargo calls it.
    pub(super) fn kind(&self) -> &'static str {
        if self.is_example { "example" } else { "bin" }
    }

    /// The arguments for cargo.
    pub(super) fn args(&self) -> Vec<OsString> {
        let mut args: Vec<OsString> = ["build", "--message-format=json", "--manifest-path"].map(OsString::from).into();
        args.push(self.manifest.clone().into());
        args.push(format!("--{}", self.kind()).into());
        args.push(self.name.clone().into());
        match self.profile.to_str() {
            Some("debug") => {}
            Some("release") => args.push("--release".into()),
            _ => args.extend(["--profile".into(), self.profile.clone()]),
        }
        if let Some(features) = &self.features {
            args.extend(["--features".into(), features.into()]);
        }
        args
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn args(exe: &str, features: Option<&str>) -> String {
        let target = Target::of_exe(Path::new(exe), PathBuf::from("Cargo.toml"), features);
        let all = target.unwrap_or_else(|Failure(text)| panic!("{text}")).args();
        all.join(OsStr::new(" ")).into_string().unwrap()
    }

    #[test]
    fn programs_are_built_as_the_one_that_runs() {
        let start = "build --message-format=json --manifest-path Cargo.toml";
        assert_eq!(args("/a/target/debug/mine", None), format!("{start} --bin mine"));
        let release = format!("{start} --bin mine --release --features gpu,x");
        assert_eq!(args("/a/target/x86_64-unknown-linux-gnu/release/mine", Some("gpu,x")), release);
        assert_eq!(args("/a/target/release/examples/own", None), format!("{start} --example own --release"));
        assert_eq!(args("/a/target/dist/mine", None), format!("{start} --bin mine --profile dist"));
    }

    #[test]
    fn manifests_are_looked_for_outwards() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let exe = Path::new("/a/target/debug/mine");
        let find = |here: &str, named: Option<&Path>| {
            Target::new(exe, &at(here), named, None).map(|target| target.manifest).map_err(|Failure(text)| text)
        };
        fs::create_dir_all(at("a/deep")).unwrap();
        assert!(find("a/deep", None).is_err_and(|text| text.contains("--manifest-path")));
        fs::write(at("a/Cargo.toml"), "").unwrap();
        assert!(find("a/deep", None).is_err_and(|text| text.contains("no folder `src` beside it")));
        fs::create_dir(at("a/src")).unwrap();
        assert_eq!(find("a/deep", None), Ok(at("a/Cargo.toml")));
        assert_eq!(find("", Some(&at("a/Cargo.toml"))), Ok(at("a/Cargo.toml")));
        assert!(find("a", Some(&at("a/none.toml"))).is_err_and(|text| text.contains("no such manifest")));
    }
}
