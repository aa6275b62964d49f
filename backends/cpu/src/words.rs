//! Values as bytes: numbers are little-endian words of eight bytes; texts and code have their lengths in front.
//!
//! What is read may be anything; nothing panics, and no length makes it wait or allocate.

/// The bytes that were written.
#[derive(Default)]
pub(crate) struct Writer(Vec<u8>);

impl Writer {
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.0
    }
    pub(crate) fn word(&mut self, word: u64) {
        self.0.extend(word.to_le_bytes());
    }
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.word(bytes.len() as u64);
        self.0.extend(bytes);
    }
    /// Writes a value that may be missing.
    pub(crate) fn option<T>(&mut self, value: Option<T>, one: impl FnOnce(&mut Writer, T)) {
        self.word(u64::from(value.is_some()));
        if let Some(value) = value {
            one(self, value);
        }
    }
    pub(crate) fn list<T, L>(&mut self, all: L, one: impl FnMut(&mut Writer, T))
    where
        L: IntoIterator<Item = T, IntoIter: ExactSizeIterator>,
    {
        let (all, mut one) = (all.into_iter(), one);
        self.word(all.len() as u64);
        all.for_each(|item| one(self, item));
    }
}

/// The bytes that are still to be read.
pub(crate) struct Reader<'b>(&'b [u8]);

impl<'b> Reader<'b> {
    pub(crate) fn new(bytes: &'b [u8]) -> Reader<'b> {
        Reader(bytes)
    }
    /// Returns true if all was read.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
    pub(crate) fn word(&mut self) -> Option<u64> {
        let (word, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*word))
    }
    pub(crate) fn count(&mut self) -> Option<usize> {
        usize::try_from(self.word()?).ok()
    }
    pub(crate) fn bytes(&mut self) -> Option<&'b [u8]> {
        let count = self.count()?;
        let (bytes, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(bytes)
    }
    pub(crate) fn text(&mut self) -> Option<String> {
        String::from_utf8(self.bytes()?.to_vec()).ok()
    }
    /// A value that may be missing, behind 0 or 1.
    pub(crate) fn option<T>(&mut self, one: impl FnOnce(&mut Reader<'b>) -> Option<T>) -> Option<Option<T>> {
        match self.word()? {
            0 => Some(None),
            1 => one(self).map(Some),
            _ => None,
        }
    }
    /// The items of a list, whose number stands in front: each takes a byte at least, so no number makes it wait or
    /// allocate.
    pub(crate) fn list<T>(&mut self, mut one: impl FnMut(&mut Reader<'b>) -> Option<T>) -> Option<Vec<T>> {
        let count = self.count().filter(|count| *count <= self.0.len())?;
        let mut all = Vec::new();
        for _ in 0..count {
            all.push(one(self)?);
        }
        Some(all)
    }
}
