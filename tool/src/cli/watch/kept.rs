//! Compiled versions of a schedule, the ones used last: going back to one of them compiles nothing.

use halide::prelude::*;

/// The most versions whose code is kept.
pub(super) const MOST: usize = 16;

/// A compiled version.
#[derive(Clone)]
pub(super) struct Version {
    /// The schedule without comments and names for numbers, as text: equal texts become equal code.
    pub(super) text: String,
    pub(super) schedule: Schedule,
    pub(super) compiled: Compiled,
    /// The time of its first compilation, in ms.
    pub(super) compile_ms: f64,
}

/// Compiled versions by text, the one used last at the end.
#[derive(Default)]
pub(super) struct Kept(Vec<Version>);

impl Kept {
    /// Finds the version with this text.
    pub(super) fn get(&mut self, text: &str) -> Option<Version> {
        let at = self.0.iter().position(|version| version.text == text)?;
        let found = self.0.remove(at);
        self.0.push(found.clone());
        Some(found)
    }

    /// Keeps a version, and gives up the one that was not used for longest if there are too many.
    pub(super) fn keep(&mut self, version: &Version) {
        self.0.retain(|kept| kept.text != version.text);
        self.0.push(version.clone());
        if self.0.len() > MOST {
            self.0.remove(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_that_were_used_last_are_kept() -> Result<(), Box<dyn std::error::Error>> {
        let x = Var::new("x");
        let mut ramp = Func::new("ramp");
        ramp[x] = x + 1;
        let compiled = Pipeline::new([&ramp])?.compile(&Schedule::new(), &Target::host())?;
        let version = |n: usize| {
            let (text, compiled) = (n.to_string(), compiled.clone());
            Version { text, schedule: Schedule::new(), compiled, compile_ms: n as f64 }
        };
        let mut kept = Kept::default();
        (0..MOST).for_each(|n| kept.keep(&version(n)));
        assert_eq!(kept.get("0").map(|version| version.compile_ms), Some(0.0));
        (MOST..MOST + 2).for_each(|n| kept.keep(&version(n)));
        kept.keep(&version(MOST));
        let there: Vec<bool> = ["0", "1", "2", "3"].map(|text| kept.get(text).is_some()).into();
        assert_eq!((there, kept.0.len()), (vec![true, false, false, true], MOST));
        Ok(())
    }
}
