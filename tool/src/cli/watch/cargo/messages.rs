//! The messages of cargo, an object a line: the first error of the compiler, and the file of the program.

use super::target::Target;
use serde_json::Value;
use std::path::PathBuf;

/// The most characters of an error's text.
const MOST: usize = 2000;

/// The messages of a build, as far as they matter.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Messages {
    /// The first error, with its place.
    first: Option<String>,
    errors: usize,
    /// The file of the program.
    pub(super) exe: Option<PathBuf>,
}

impl Messages {
    /// Takes a line; what is no message is left out.
    pub(super) fn add(&mut self, line: &[u8], target: &Target) {
        let Ok(message) = serde_json::from_slice::<Value>(line) else { return };
        match message["reason"].as_str() {
            Some("compiler-message") => self.add_error(&message["message"]),
            Some("compiler-artifact") => {
                let of = &message["target"];
                let has_kind = of["kind"].as_array().is_some_and(|all| all.iter().any(|kind| *kind == target.kind()));
                if has_kind && of["name"] == target.name.as_str() {
                    self.exe = message["executable"].as_str().map(PathBuf::from).or(self.exe.take());
                }
            }
            _ => {}
        }
    }

    fn add_error(&mut self, message: &Value) {
        let is_error = message["level"].as_str().is_some_and(|level| level == "error" || level == ICE);
        let spans = message["spans"].as_array();
        // The last error has no place, and counts those before it.
        if !is_error || (self.errors > 0 && spans.is_none_or(Vec::is_empty)) {
            return;
        }
        self.errors += 1;
        let Some(text) = message["message"].as_str().filter(|_| self.first.is_none()) else { return };
        let code = message["code"]["code"].as_str().map_or(String::new(), |code| format!(" [{code}]"));
        let place = spans.into_iter().flatten().find(|span| span["is_primary"] == true).and_then(place);
        let text: String = text.chars().take(MOST).collect();
        self.first = Some(format!("{}{text}{code}", place.unwrap_or_default()));
    }

    /// The errors in words: the first one, and how many more there are.
    pub(super) fn error(&self) -> Option<String> {
        let more = match self.errors {
            0 | 1 => String::new(),
            2 => "\nand 1 more error".to_string(),
            count => format!("\nand {} more errors", count - 1),
        };
        self.first.as_ref().map(|first| format!("{first}{more}"))
    }
}

/// The level of a crash of the compiler.
const ICE: &str = "error: internal compiler error";

/// The place of a span, before a text.
fn place(span: &Value) -> Option<String> {
    let (file, line, column) =
        (span["file_name"].as_str()?, span["line_start"].as_u64()?, span["column_start"].as_u64()?);
    Some(format!("{file}:{line}:{column}: "))
}

#[cfg(test)]
mod tests {
    use super::super::super::super::failure::Failure;
    use super::*;
    use serde_json::json;
    use std::path::Path;

    fn target() -> Target {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("src")).unwrap();
        std::fs::write(folder.path().join("Cargo.toml"), "").unwrap();
        let target = Target::new(Path::new("/t/release/mine"), folder.path(), None, None);
        target.unwrap_or_else(|Failure(text)| panic!("{text}"))
    }

    fn error(text: &str, line: u64) -> Value {
        let secondary = json!({"file_name": "src/b.rs", "line_start": 1, "column_start": 1, "is_primary": false});
        let primary = json!({"file_name": "src/a.rs", "line_start": line, "column_start": 5, "is_primary": true});
        let message = json!({"level": "error", "message": text, "code": {"code": "E0308"},
            "spans": [secondary, primary]});
        json!({"reason": "compiler-message", "message": message})
    }

    #[test]
    fn the_first_error_has_its_place() {
        let (target, mut messages) = (target(), Messages::default());
        let warning = json!({"reason": "compiler-message", "message": {"level": "warning", "message": "unused"}});
        messages.add(warning.to_string().as_bytes(), &target);
        assert_eq!(messages.error(), None);
        messages.add(error("mismatched types", 12).to_string().as_bytes(), &target);
        assert_eq!(messages.error().as_deref(), Some("src/a.rs:12:5: mismatched types [E0308]"));
        messages.add(error("other", 13).to_string().as_bytes(), &target);
        messages.add(error("third", 14).to_string().as_bytes(), &target);
        let last = json!({"level": "error", "message": "aborting due to 3 previous errors", "spans": []});
        messages.add(json!({"reason": "compiler-message", "message": last}).to_string().as_bytes(), &target);
        let expected = "src/a.rs:12:5: mismatched types [E0308]\nand 2 more errors";
        assert_eq!(messages.error().as_deref(), Some(expected));
        let mut alone = Messages::default();
        let linker = json!({"level": "error", "message": "linking failed", "code": null, "spans": []});
        alone.add(json!({"reason": "compiler-message", "message": linker}).to_string().as_bytes(), &target);
        assert_eq!(alone.error().as_deref(), Some("linking failed"));
    }

    #[test]
    fn the_program_is_the_one_of_its_name_and_kind() {
        let (target, mut messages) = (target(), Messages::default());
        let artifact = |name: &str, kind: &str, exe: Value| {
            let target = json!({"name": name, "kind": [kind]});
            json!({"reason": "compiler-artifact", "target": target, "executable": exe})
        };
        for (name, kind, exe) in [
            ("mine", "lib", Value::Null),
            ("other", "bin", json!("/t/release/other")),
            ("mine", "bin", json!("/t/release/mine")),
            ("mine", "bin", Value::Null),
        ] {
            messages.add(artifact(name, kind, exe).to_string().as_bytes(), &target);
        }
        assert_eq!(messages.exe, Some(PathBuf::from("/t/release/mine")));
    }

    #[test]
    fn lines_that_are_no_messages_are_left_out() {
        let (target, mut messages) = (target(), Messages::default());
        for line in [&b""[..], b"hello", b"\xff\xfe", b"[]", b"{\"reason\": 1}", b"{\"reason\": \"compiler-message\"}"]
        {
            messages.add(line, &target);
        }
        assert_eq!(messages, Messages::default());
    }
}
