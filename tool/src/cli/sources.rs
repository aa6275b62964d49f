//! Files of the source, which places name as the compiler knew them: from the folder of the workspace.

use std::path::{Path, PathBuf};

/// The longest file that is read for a few of its lines.
const LONGEST: u64 = 4 << 20;

/// The text of a file that places name: looked for from this folder on outwards.
pub(crate) fn read(name: &str) -> Option<String> {
    let folders = std::env::current_dir().ok()?;
    let candidates = folders.ancestors().map(|folder| folder.join(name));
    let found: PathBuf = candidates.into_iter().find(|path| is_short_file(path))?;
    std::fs::read_to_string(found).ok()
}

fn is_short_file(path: &Path) -> bool {
    path.metadata().is_ok_and(|about| about.is_file() && about.len() <= LONGEST)
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn files_are_found_from_the_folder_of_a_crate() {
        assert!(read("tool/src/cli/sources.rs").is_some_and(|text| text.contains("LONGEST")));
        assert_eq!(read("tool/src/cli/none.rs"), None);
        assert_eq!(read("tool/src"), None);
    }
}
