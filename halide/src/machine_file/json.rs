//! Values of JSON with their places. Numbers are read from their text, so none is rounded twice.

use super::error::{FieldDefect, MachineFileError};
use halide_ir::spelling::closest;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

/// The most letters of a wrong value that a message shows.
const SHOWN: usize = 40;

/// A text of JSON whose values are asked for one by one.
pub(super) struct Reader<'t> {
    text: &'t str,
}

/// A value, with the path of its field.
pub(super) struct Value<'t> {
    path: String,
    raw: &'t RawValue,
}

/// The fields of an object in order, also those that are there twice.
struct Fields<'t>(Vec<(String, &'t RawValue)>);

impl<'t> Deserialize<'t> for Fields<'t> {
    fn deserialize<D: Deserializer<'t>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'t> Visitor<'t> for InOrder {
            type Value = Fields<'t>;
            fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<M: MapAccess<'t>>(self, mut map: M) -> Result<Fields<'t>, M::Error> {
                let mut all = Vec::new();
                while let Some(field) = map.next_entry()? {
                    all.push(field);
                }
                Ok(Fields(all))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

impl<'t> Reader<'t> {
    /// A reader of bytes that are text.
    pub(super) fn new(bytes: &'t [u8]) -> Result<Reader<'t>, MachineFileError> {
        let wrong = |at: usize| {
            let (line, column) = place(&bytes[..at]);
            MachineFileError::NotText { line, column }
        };
        Ok(Reader { text: std::str::from_utf8(bytes).map_err(|e| wrong(e.valid_up_to()))? })
    }

    /// The whole text as one value.
    pub(super) fn root(&self) -> Result<Value<'t>, MachineFileError> {
        let raw = serde_json::from_str(self.text).map_err(|error: serde_json::Error| {
            // Serde counts columns from 0 where nothing was read.
            let (line, column) = (error.line().max(1), error.column().max(1));
            match error.is_eof() {
                true => MachineFileError::Torn { line, column },
                false => MachineFileError::NotJson { line, column },
            }
        })?;
        Ok(Value { path: String::new(), raw })
    }

    /// The error of a value.
    fn error(&self, value: &Value<'_>, defect: FieldDefect) -> MachineFileError {
        self.at(value.raw, value.path.clone(), defect)
    }

    fn at(&self, raw: &RawValue, field: String, defect: FieldDefect) -> MachineFileError {
        // Values are parts of the text.
        let offset = (raw.get().as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize);
        let (line, column) = place(&self.text.as_bytes()[..offset.min(self.text.len())]);
        MachineFileError::Field { line, column, field, defect }
    }

    fn kind(&self, value: &Value<'_>, wanted: &'static str) -> MachineFileError {
        self.error(value, FieldDefect::Kind { found: shown(value), wanted })
    }

    fn fields(&self, value: &Value<'t>) -> Result<Vec<(String, &'t RawValue)>, MachineFileError> {
        let Fields(fields) = serde_json::from_str(value.raw.get()).map_err(|_| self.kind(value, "an object"))?;
        Ok(fields)
    }

    /// Checks the version of the file before its other fields, which may be those of another version.
    pub(super) fn version(&self, file: &Value<'t>, name: &str, known: u32) -> Result<(), MachineFileError> {
        let fields = self.fields(file)?;
        let Some((_, raw)) = fields.iter().find(|(field, _)| field == name) else {
            return Err(self.at(file.raw, name.to_string(), FieldDefect::Missing));
        };
        let version = Value { path: name.to_string(), raw };
        match version.raw.get().parse::<u32>() {
            Ok(found) if found == known => Ok(()),
            _ => Err(self.error(&version, FieldDefect::Version { found: shown(&version), known })),
        }
    }

    /// The values of an object with these fields and no other.
    pub(super) fn object<const N: usize>(
        &self,
        value: &Value<'t>,
        names: [&'static str; N],
    ) -> Result<[Value<'t>; N], MachineFileError> {
        let fields = self.fields(value)?;
        let path = |name: &str| match value.path.as_str() {
            "" => name.to_string(),
            path => format!("{path}.{name}"),
        };
        for (index, (name, raw)) in fields.iter().enumerate() {
            let defect = if fields[..index].iter().any(|(other, _)| other == name) {
                FieldDefect::Twice
            } else if !names.contains(&name.as_str()) {
                FieldDefect::Unknown { near: closest(name, names) }
            } else {
                continue;
            };
            return Err(self.at(raw, path(name), defect));
        }
        let found = |name: &str| fields.iter().find(|(field, _)| field == name).map(|(_, raw)| *raw);
        if let Some(missing) = names.iter().find(|name| found(name).is_none()) {
            return Err(self.at(value.raw, path(missing), FieldDefect::Missing));
        }
        Ok(names.map(|name| Value { path: path(name), raw: found(name).unwrap_or(value.raw) }))
    }

    /// The elements of a list of so many.
    pub(super) fn list(
        &self,
        value: &Value<'t>,
        (least, most): (usize, usize),
    ) -> Result<Vec<Value<'t>>, MachineFileError> {
        let raws: Vec<&'t RawValue> = serde_json::from_str(value.raw.get()).map_err(|_| self.kind(value, "a list"))?;
        if !(least..=most).contains(&raws.len()) {
            return Err(self.error(value, FieldDefect::Length { found: raws.len(), range: (least, most) }));
        }
        let element = |(index, raw)| Value { path: format!("{}[{index}]", value.path), raw };
        Ok(raws.into_iter().enumerate().map(element).collect())
    }

    /// The elements of a list of two, a number of threads and a rate.
    pub(super) fn pair(&self, value: &Value<'t>) -> Result<[Value<'t>; 2], MachineFileError> {
        let elements = self.list(value, (0, usize::MAX))?;
        elements.try_into().map_err(|_| self.kind(value, "a list of a number of threads and a rate"))
    }

    pub(super) fn truth(&self, value: &Value<'t>) -> Result<bool, MachineFileError> {
        value.raw.get().parse().map_err(|_| self.kind(value, "true or false"))
    }

    /// A number of a range.
    pub(super) fn number(&self, value: &Value<'t>, range: (f64, f64)) -> Result<f64, MachineFileError> {
        // Rust reads more texts as numbers than JSON has, but these are no JSON.
        self.within(value, range, "a number")
    }

    /// An integer of a range.
    pub(super) fn integer(&self, value: &Value<'t>, range: (u64, u64)) -> Result<u64, MachineFileError> {
        let is_number = value.raw.get().parse::<f64>().is_ok();
        let is_whole = value.raw.get().parse::<u64>().is_ok();
        let is_integer = value.raw.get().bytes().all(|b| b.is_ascii_digit() || b == b'-');
        if is_number && is_integer && !is_whole {
            return Err(self.out_of_range(value, range));
        }
        self.within(value, range, "an integer")
    }

    /// An integer of a range of 32 bits.
    pub(super) fn whole(&self, value: &Value<'t>, range: (u64, u64)) -> Result<u32, MachineFileError> {
        let number = self.integer(value, range)?;
        u32::try_from(number).map_err(|_| self.out_of_range(value, range))
    }

    pub(super) fn power_of_two(&self, value: &Value<'t>, range: (u64, u64)) -> Result<u32, MachineFileError> {
        let number = self.whole(value, range)?;
        match number.is_power_of_two() {
            true => Ok(number),
            false => Err(self.error(value, FieldDefect::NoPowerOfTwo { found: shown(value) })),
        }
    }

    fn within<T: FromStr + PartialOrd + Copy + Display>(
        &self,
        value: &Value<'t>,
        (least, most): (T, T),
        wanted: &'static str,
    ) -> Result<T, MachineFileError> {
        let number: T = value.raw.get().parse().map_err(|_| self.kind(value, wanted))?;
        match least <= number && number <= most {
            true => Ok(number),
            false => Err(self.out_of_range(value, (least, most))),
        }
    }

    fn out_of_range<T: Display>(&self, value: &Value<'_>, (least, most): (T, T)) -> MachineFileError {
        let range = (least.to_string(), most.to_string());
        self.error(value, FieldDefect::OutOfRange { found: shown(value), range })
    }
}

/// The text of a value, as far as a message has space for it.
fn shown(value: &Value<'_>) -> String {
    let text = value.raw.get();
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_string(),
    }
}

/// The line and column behind some bytes, from 1.
fn place(before: &[u8]) -> (usize, usize) {
    let line = before.iter().filter(|b| **b == b'\n').count() + 1;
    let last = before.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
    // Bytes that go on with a letter are no columns of their own.
    let column = before[last..].iter().filter(|b| **b & 0xC0 != 0x80).count() + 1;
    (line, column)
}
