//! The model of this machine's processor.

/// The file in which Linux describes its processors.
const CPUINFO: &str = "/proc/cpuinfo";

/// The processor as it calls itself where the system tells, or else the architecture alone.
pub fn model() -> String {
    let told = std::fs::read_to_string(CPUINFO).ok().and_then(|text| model_in(&text));
    let told = told.or_else(|| std::env::var("PROCESSOR_IDENTIFIER").ok().filter(|name| !name.trim().is_empty()));
    told.unwrap_or_else(|| format!("{} processor", std::env::consts::ARCH))
}

/// The name of the first processor, on one line.
fn model_in(cpuinfo: &str) -> Option<String> {
    let mut fields = cpuinfo.lines().filter_map(|line| line.split_once(':'));
    let (_, name) = fields.find(|(field, _)| field.trim() == "model name")?;
    let words: Vec<&str> = name.split_whitespace().collect();
    (!words.is_empty()).then(|| words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::model_in;

    #[test]
    fn the_model_is_that_of_the_first_processor() {
        let text =
            "processor\t: 0\nmodel\t\t: 17\nmodel name\t: AMD  EPYC 9B45\n\nprocessor\t: 1\nmodel name\t: other\n";
        assert_eq!(model_in(text).as_deref(), Some("AMD EPYC 9B45"));
        assert_eq!(model_in("processor\t: 0\nBogoMIPS\t: 50.00\n"), None);
        assert_eq!(model_in("model name\t:  \n"), None);
    }
}
