//! Names of variables and parameters as copyable values.
//!
//! A short name is its own text, so it costs nothing and lasts for ever. A long one is a place in a table per thread,
//! which the sweep of the arena clears of what no expression uses and nobody touched lately (see [`crate::arena`]).

use crate::tuning::SHORT_NAME;
use std::collections::HashMap;
use std::rc::Rc;

/// A name; equal texts are equal names.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Name {
    /// The first `len` bytes are its text; the others are 0.
    Short { len: u8, text: [u8; SHORT_NAME] },
    /// A place in the table, and how often the place was cleared before.
    Long { slot: u32, generation: u32 },
}

/// The long names of a thread.
#[derive(Default)]
pub(crate) struct Names {
    slots: Vec<LongName>,
    free: Vec<u32>,
    by_text: HashMap<Rc<str>, u32>,
}

#[derive(Default)]
struct LongName {
    generation: u32,
    /// The time at which it was last made or asked for, by the arena's clock.
    used: u64,
    text: Option<Rc<str>>,
}

impl Names {
    /// The name of a text; `now` is the arena's clock.
    pub(crate) fn intern(&mut self, text: &str, now: u64) -> Name {
        if text.len() <= SHORT_NAME {
            let mut bytes = [0; SHORT_NAME];
            bytes[..text.len()].copy_from_slice(text.as_bytes());
            return Name::Short { len: text.len() as u8, text: bytes };
        }
        let slot = match self.by_text.get(text) {
            Some(&slot) => slot,
            None => self.add(text.into()),
        };
        let place = &mut self.slots[slot as usize];
        place.used = now;
        Name::Long { slot, generation: place.generation }
    }

    fn add(&mut self, text: Rc<str>) -> u32 {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(LongName::default());
            (self.slots.len() - 1) as u32
        });
        self.slots[slot as usize].text = Some(text.clone());
        self.by_text.insert(text, slot);
        slot
    }

    /// Returns true if a name's place was not cleared, and marks the name as used.
    pub(crate) fn touch(&mut self, name: Name, now: u64) -> bool {
        let Name::Long { slot, generation } = name else { return true };
        let place = self.slots.get_mut(slot as usize).filter(|s| s.generation == generation);
        place.map(|p| p.used = now).is_some()
    }

    /// The text of a name; `None` if its place was cleared.
    pub(crate) fn text(&self, name: Name) -> Option<Rc<str>> {
        match name {
            Name::Short { len, text } => std::str::from_utf8(&text[..len as usize]).ok().map(Rc::from),
            Name::Long { slot, generation } => {
                self.slots.get(slot as usize).filter(|s| s.generation == generation)?.text.clone()
            }
        }
    }

    /// The number of names in the table.
    pub(crate) fn len(&self) -> usize {
        self.by_text.len()
    }

    /// Clears every place that `keep` does not have and that was last used before `since`.
    pub(crate) fn sweep(&mut self, keep: &[Name], since: u64) {
        let mut kept = vec![false; self.slots.len()];
        for name in keep {
            if let Name::Long { slot, .. } = name {
                kept[*slot as usize] = true;
            }
        }
        for (slot, place) in self.slots.iter_mut().enumerate() {
            if !kept[slot]
                && place.used < since
                && let Some(text) = place.text.take()
            {
                self.by_text.remove(&text);
                place.generation = place.generation.wrapping_add(1);
                self.free.push(slot as u32);
            }
        }
    }
}
