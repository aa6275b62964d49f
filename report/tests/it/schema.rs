//! A validator for the part of JSON Schema 2020-12 that `report/schema.json` uses, which a test holds it to. The tests
//! of other crates include this file.

use serde_json::Value;

/// The schema of reports.
pub(crate) const SCHEMA: &str = include_str!("../../schema.json");

/// A schema at work.
struct Check<'s> {
    root: &'s Value,
    /// True if keys that the schema does not describe are violations.
    is_strict: bool,
    found: Vec<String>,
}

/// The violations of the schema in a report, each with the place of the value. With `is_strict`, keys that the schema
/// does not describe are among them.
pub(crate) fn violations(data: &Value, is_strict: bool) -> Vec<String> {
    let root: Value = serde_json::from_str(SCHEMA).expect("the schema is JSON");
    violations_of(&root, data, is_strict)
}

/// [`violations`] of any schema.
pub(crate) fn violations_of(root: &Value, data: &Value, is_strict: bool) -> Vec<String> {
    let mut check = Check { root, is_strict, found: Vec::new() };
    check.value(root, data, "");
    check.found
}

impl Check<'_> {
    fn value(&mut self, schema: &Value, value: &Value, at: &str) {
        let root = self.root;
        if let Some(path) = schema["$ref"].as_str() {
            let target = path.strip_prefix('#').and_then(|path| root.pointer(path));
            let target = target.unwrap_or_else(|| panic!("the schema has no {path}"));
            self.value(target, value, at);
        }
        if let Some(ways) = schema["anyOf"].as_array() {
            let fits = |way: &&Value| {
                let mut check = Check { root: self.root, is_strict: self.is_strict, found: Vec::new() };
                check.value(way, value, at);
                check.found.is_empty()
            };
            if !ways.iter().any(|way| fits(&way)) {
                // What is wrong is of use only where one way is meant.
                match ways.iter().find(|way| has_type(self.resolved(way), value)) {
                    Some(way) => self.value(way, value, at),
                    None => self.found.push(format!("{at}: {} is none of the types that it may have", short(value))),
                }
            }
        }
        if !has_type(schema, value) {
            self.found.push(format!("{at}: {} is no {}", short(value), schema["type"]));
            return;
        }
        if schema["enum"].as_array().is_some_and(|all| !all.contains(value)) {
            self.found.push(format!("{at}: {} is none of {}", short(value), schema["enum"]));
        }
        if schema.get("const").is_some_and(|one| one != value) {
            self.found.push(format!("{at}: {} is not {}", short(value), schema["const"]));
        }
        if let (Some(least), Some(number)) = (schema["minimum"].as_f64(), value.as_f64())
            && number < least
        {
            self.found.push(format!("{at}: {number} is less than {least}"));
        }
        self.object(schema, value, at);
        self.array(schema, value, at);
    }

    fn resolved<'v>(&'v self, schema: &'v Value) -> &'v Value {
        let path = schema["$ref"].as_str().and_then(|path| path.strip_prefix('#'));
        path.and_then(|path| self.root.pointer(path)).unwrap_or(schema)
    }

    fn object(&mut self, schema: &Value, value: &Value, at: &str) {
        let Some(object) = value.as_object() else { return };
        for key in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            if !object.contains_key(key) {
                self.found.push(format!("{at}: `{key}` is missing"));
            }
        }
        for (key, value) in object {
            let at = format!("{at}/{key}");
            match (schema["properties"].get(key), schema.get("additionalProperties")) {
                (Some(of), _) | (None, Some(of)) => self.value(of, value, &at),
                (None, None) if self.is_strict && schema["properties"].is_object() => {
                    self.found.push(format!("{at}: the schema does not describe this key"));
                }
                (None, None) => {}
            }
        }
    }

    fn array(&mut self, schema: &Value, value: &Value, at: &str) {
        let Some(array) = value.as_array() else { return };
        if schema["minItems"].as_u64().is_some_and(|least| (array.len() as u64) < least) {
            self.found.push(format!("{at}: {} items are less than {}", array.len(), schema["minItems"]));
        }
        let first = schema["prefixItems"].as_array().map_or(&[][..], Vec::as_slice);
        for (n, value) in array.iter().enumerate() {
            let at = format!("{at}/{n}");
            match (first.get(n), schema.get("items")) {
                (Some(of), _) | (None, Some(of)) => self.value(of, value, &at),
                (None, None) if self.is_strict && !first.is_empty() => {
                    self.found.push(format!("{at}: the schema does not describe this item"));
                }
                (None, None) => {}
            }
        }
    }
}

/// Returns true if a value has one of the types of a schema, or the schema names none.
fn has_type(schema: &Value, value: &Value) -> bool {
    let is = |ty: &Value| match ty.as_str() {
        Some("null") => value.is_null(),
        Some("boolean") => value.is_boolean(),
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("number") => value.is_number(),
        Some("integer") => value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|n| n.fract() == 0.0),
        _ => panic!("{ty} is no type"),
    };
    match &schema["type"] {
        Value::Null => true,
        Value::Array(all) => all.iter().any(is),
        one => is(one),
    }
}

/// The beginning of a value.
fn short(value: &Value) -> String {
    value.to_string().chars().take(60).collect()
}
