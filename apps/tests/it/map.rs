//! `halide map`: mappings of instructions as text and JSON, and mistakes of users.

use crate::Workplace;
use crate::bad_input::check;
use serde_json::Value;

#[test]
fn stages_are_listed_with_what_computes_them() {
    let place = Workplace::new();
    let told = place.succeed("map matmul --size 300x200 --threads 1").stdout;
    let lines: Vec<&str> = told.lines().collect();
    let first = "  fma_f32: j <- x; a <- a, b <- b: chosen, ";
    assert!(
        lines[0] == "product.update(0)" && lines[1].starts_with(first) && lines[1].contains(" in tiles of "),
        "{told}"
    );
    let second = "  fma_f32: j <- y; a <- b, b <- a: its vectors are not along what lies together of the result";
    assert_eq!(lines[2..], [second]);
    let told = place.succeed("map conv_layer --size 20x10 --threads 1").stdout;
    assert!(told.contains(": chosen, ") && told.contains(" million cycles in tiles of "), "{told}");
    let told = place.succeed("map matmul --size 70x50 --param type=f64 --json").stdout;
    let json: Value = serde_json::from_str(&told).unwrap();
    let row = |row: &&Value| row["stage"] == "product.update(0)" && row["instruction"] == "fma_f64";
    let rows = json["rows"].as_array().unwrap();
    let row = rows.iter().find(row).unwrap();
    assert_eq!(row["mappings"][0]["axes"][0]["variables"][0], "x", "{row}");
    assert_eq!(row["why_not"], Value::Null);
    let chosen = &json["chosen"][0];
    assert_eq!((&chosen["stage"], &chosen["instruction"]), (&row["stage"], &row["instruction"]), "{chosen}");
    assert!(chosen["mapping"] == row["mappings"][0] && chosen["cycles"].as_f64().is_some_and(|n| n > 0.0), "{chosen}");
}

#[test]
fn what_differs_is_told_of_an_instruction_that_is_named() {
    let place = Workplace::new();
    let told = place.succeed("map blur --instruction fma_f32").stdout;
    let differs = "instruction `fma_f32` computes the stage in none of 2 assignments; the one that came furthest: \
                   instruction `fma_f32` computes `c(j) + a() * b(j)`, and the definition has";
    assert!(told.starts_with("inside\n") && told.contains(differs), "{told}");
    check(&place, "map blr", &["there is no app `blr`; did you mean `blur`?"]);
    check(&place, "map blur --instruction fma_f31", &["there is no instruction `fma_f31`; did you mean `fma_f32`?"]);
    check(&place, "map blur --instruction add", &["there is no instruction `add`; there are dot_u8i8_4,"]);
}

#[test]
fn schedules_of_instructions_are_chosen_for_a_run() {
    let place = Workplace::new();
    let ran = place.succeed("run matmul --schedule auto-isa --size 70x50 --check");
    let told = "product.update(0): fma_f32: j <- x; a <- a, b <- b (1 of 2), tile ";
    assert!(ran.stderr.contains(told) && ran.stdout.contains("differs from the interpreter by"), "{}", ran.stderr);
    let text = place.succeed("run conv_layer --schedule auto-isa --size 20x10 --print schedule").stdout;
    assert!(text.contains("use(fma_f32, j=ci)") && text.contains("conv: compute_at(output, "), "{text}");
    let none = "no instruction computes a stage of the pipeline";
    check(&place, "run blur --schedule auto-isa --size 70x50", &[none]);
}
