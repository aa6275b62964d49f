//! The schema, and the samples held against it. The reports of apps are, in the tests of the command line.

use crate::page::samples::{SAMPLES, chain, large, sample};
use crate::schema::{SCHEMA, violations, violations_of};
use serde_json::{Value, json};

/// The keywords that the validator knows: those that say nothing about data, and those that do.
const KEYWORDS: [&str; 16] = [
    "$schema",
    "$defs",
    "title",
    "description",
    "type",
    "required",
    "properties",
    "additionalProperties",
    "items",
    "prefixItems",
    "minItems",
    "$ref",
    "anyOf",
    "minimum",
    "enum",
    "const",
];

#[test]
fn samples_are_as_the_schema_says() {
    for (name, _) in SAMPLES {
        let found = violations(&sample(name), false);
        assert!(found.is_empty(), "{name}: {found:#?}");
    }
    for data in [chain(20), large(100)] {
        let found = violations(&data, true);
        assert!(found.is_empty(), "{}: {found:#?}", data["title"]);
    }
}

/// Walks a schema and those inside of it.
fn each_schema(schema: &Value, see: &mut dyn FnMut(&Value)) {
    see(schema);
    for key in ["properties", "$defs"] {
        schema[key].as_object().into_iter().flatten().for_each(|(_, inner)| each_schema(inner, see));
    }
    for key in ["anyOf", "prefixItems"] {
        schema[key].as_array().into_iter().flatten().for_each(|inner| each_schema(inner, see));
    }
    for key in ["items", "additionalProperties"] {
        schema.get(key).into_iter().for_each(|inner| each_schema(inner, see));
    }
}

#[test]
fn the_validator_knows_each_keyword_of_the_schema() {
    let schema: Value = serde_json::from_str(SCHEMA).expect("JSON");
    let mut seen = 0;
    each_schema(&schema, &mut |schema| {
        let keys = schema.as_object().expect("a schema is an object").keys();
        for key in keys {
            assert!(KEYWORDS.contains(&key.as_str()), "the validator does not know `{key}`");
        }
        seen += 1;
    });
    assert!(seen > 200, "{seen}");
}

#[test]
fn violations_are_found_with_their_places() {
    let schema = json!({
        "type": "object",
        "required": ["a"],
        "properties": {
            "a": {"type": "integer", "minimum": 1},
            "b": {
                "type": ["array", "null"], "minItems": 2, "prefixItems": [{"enum": ["x", "y"]}],
                "items": {"$ref": "#/$defs/c"}
            },
            "d": {"anyOf": [{"$ref": "#/$defs/c"}, {"type": "null"}]},
            "e": {"const": 7},
            "f": {"additionalProperties": {"type": "string"}}
        },
        "$defs": {"c": {"type": "object", "properties": {"n": {"type": "number"}}}}
    });
    let found = |data: Value| violations_of(&schema, &data, true);
    let whole = json!({"a": 2, "b": ["x", {"n": 1.5}], "d": null, "e": 7, "f": {"any": "text"}});
    assert_eq!(found(whole), Vec::<String>::new());
    assert_eq!(found(json!({"a": 3.0, "b": null, "d": {"n": 1}})), Vec::<String>::new());
    let wrong = [
        (json!([]), ": [] is no \"object\""),
        (json!({}), ": `a` is missing"),
        (json!({"a": 1.5}), "/a: 1.5 is no \"integer\""),
        (json!({"a": 0}), "/a: 0 is less than 1"),
        (json!({"a": 1, "b": ["z", {}]}), "/b/0: \"z\" is none of [\"x\",\"y\"]"),
        (json!({"a": 1, "b": ["x"]}), "/b: 1 items are less than 2"),
        (json!({"a": 1, "b": ["x", {"n": "1"}]}), "/b/1/n: \"1\" is no \"number\""),
        (json!({"a": 1, "d": {"n": true}}), "/d/n: true is no \"number\""),
        (json!({"a": 1, "d": 3}), "/d: 3 is none of the types that it may have"),
        (json!({"a": 1, "e": 8}), "/e: 8 is not 7"),
        (json!({"a": 1, "f": {"x": 1}}), "/f/x: 1 is no \"string\""),
        (json!({"a": 1, "g": 1}), "/g: the schema does not describe this key"),
    ];
    for (data, expected) in wrong {
        assert_eq!(found(data.clone()), [expected], "{data}");
    }
    assert_eq!(violations_of(&schema, &json!({"a": 1, "g": 1}), false), Vec::<String>::new());
}
