//! Values of parameters from the command line.

use halide::pipeline::ParamDef;
use halide::prelude::*;
use halide::schedule::closest;

/// The values for `NAME=VALUE` pairs, each of its parameter's type. The range is checked when the pipeline runs.
pub fn resolve(pipeline: &Pipeline, given: &[(String, String)]) -> Result<Vec<(String, Scalar)>, String> {
    let find = |name: &str| pipeline.params.iter().find(|p| p.name == name);
    let value = |(name, text): &(String, String)| match find(name) {
        Some(def) => parse(def, text).map(|value| (name.clone(), value)),
        None => Err(unknown(pipeline, name)),
    };
    given.iter().map(value).collect()
}

/// Checks that nothing is given twice, since only one of the values could count.
///
/// # Errors
/// In words, with the name.
pub fn check_once(given: &[(String, String)]) -> Result<(), String> {
    for (i, (name, value)) in given.iter().enumerate() {
        if let Some((_, earlier)) = given[..i].iter().find(|(other, _)| other == name) {
            return Err(format!("parameter `{name}` is given twice, as `{earlier}` and as `{value}`; give it once"));
        }
    }
    Ok(())
}

/// One line about a parameter: name, type, default and range.
pub fn describe(def: &ParamDef) -> String {
    let mut text = format!("{}: {}", def.name, def.ty);
    if let Some(default) = def.default {
        text += &format!(" = {default}");
    }
    if let (Some(min), Some(max)) = (def.min, def.max) {
        text += &format!(" ({min} to {max})");
    }
    text
}

fn unknown(pipeline: &Pipeline, name: &str) -> String {
    let names: Vec<&str> = pipeline.params.iter().map(|p| p.name.as_str()).collect();
    match closest(name, names.iter().copied()) {
        Some(near) => format!("no parameter `{name}`; did you mean `{near}`?"),
        None if names.is_empty() => format!("no parameter `{name}`; this app has none"),
        None => format!("no parameter `{name}`; this app has {}", names.join(", ")),
    }
}

/// An integer, a float, a fraction like 1/7, or true or false, as the parameter's type needs.
fn parse(def: &ParamDef, text: &str) -> Result<Scalar, String> {
    let (ty, text) = (def.ty, text.trim());
    let value = match ty {
        Bool => text.parse::<bool>().ok().map(Scalar::bool),
        _ if ty.is_float() => fraction(text).map(|v| Scalar::float(ty, v)),
        _ => {
            let range = ty.int_min().zip(ty.int_max());
            let fits = |v: &i128| range.is_some_and(|(min, max)| (min..=max).contains(v));
            text.parse::<i128>().ok().filter(fits).map(|v| Scalar::int(ty, v))
        }
    };
    value.ok_or_else(|| format!("parameter `{}` is of type {ty}, and `{text}` is no value of it", def.name))
}

fn fraction(text: &str) -> Option<f64> {
    let number = |t: &str| t.trim().parse::<f64>().ok();
    match text.split_once('/') {
        Some((a, b)) => Some(number(a)? / number(b)?),
        None => number(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> Result<Scalar, String> {
        let (alpha, beta) = (Param::<f32>::new("alpha"), Param::<f32>::new("beta"));
        let (levels, x) = (Param::<i32>::new("levels"), Var::new("x"));
        let mut f = Func::new("f");
        f[x] = cast::<f32>(levels.expr() * x) * alpha + beta;
        let pipeline = Pipeline::new([&f]).unwrap();
        let (name, value) = text.split_once('=').unwrap();
        let mut all = resolve(&pipeline, &[(name.to_string(), value.to_string())])?;
        Ok(all.remove(0).1)
    }

    #[test]
    fn values_take_the_type_of_their_parameter() {
        assert_eq!(check("levels=12"), Ok(Scalar::from(12i32)));
        assert_eq!(check("alpha=0.5"), Ok(Scalar::from(0.5f32)));
        assert_eq!(check("alpha=1/7"), Ok(Scalar::from(1.0f32 / 7.0)));
        assert_eq!(check("beta=2"), Ok(Scalar::from(2.0f32)));
    }

    #[test]
    fn mistakes_are_named() {
        assert_eq!(check("levels=1.5").unwrap_err(), "parameter `levels` is of type i32, and `1.5` is no value of it");
        assert!(check("levels=4000000000").unwrap_err().contains("no value"));
        assert!(check("alpha=x").unwrap_err().contains("f32"));
        assert_eq!(check("level=8").unwrap_err(), "no parameter `level`; did you mean `levels`?");
        assert_eq!(check("sigma=8").unwrap_err(), "no parameter `sigma`; this app has levels, alpha, beta");
    }
}
