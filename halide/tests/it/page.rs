//! Pages of text and blocks between fences, which tests take apart and write anew. The book's tests and those of the
//! command line read pages by this file, too.

/// A part of a page: text, or a block between fences.
pub(crate) struct Part {
    /// The words behind the fence; `None` of text.
    info: Option<String>,
    pub(crate) text: String,
    /// Its first line in the page.
    pub(crate) line: usize,
}

impl Part {
    /// The first word behind the fence; nothing of text.
    pub(crate) fn kind(&self) -> &str {
        self.words().next().unwrap_or_default()
    }

    /// The words behind the fence, between spaces or commas.
    pub(crate) fn words(&self) -> impl Iterator<Item = &str> {
        self.info.iter().flat_map(|info| info.split([' ', ','])).filter(|word| !word.is_empty())
    }
}

/// The parts of a page in order.
pub(crate) fn parts(page: &str) -> Vec<Part> {
    let mut parts = vec![Part { info: None, text: String::new(), line: 1 }];
    for (line, text) in (1..).zip(page.lines()) {
        let last = parts.last_mut().expect("there is a first one");
        let Some(info) = text.strip_prefix("```") else {
            last.text += &format!("{text}\n");
            continue;
        };
        let opens = last.info.is_none();
        let line = if opens { line } else { line + 1 };
        parts.push(Part { info: opens.then(|| info.to_string()), text: String::new(), line });
    }
    parts
}

/// The page of these parts.
pub(crate) fn page_of(parts: &[Part]) -> String {
    let text = |part: &Part| match &part.info {
        Some(info) => format!("```{info}\n{}```\n", part.text),
        None => part.text.clone(),
    };
    parts.iter().map(text).collect()
}

/// The number of the block of this kind right behind block `i`: nothing stands between them.
pub(crate) fn next(parts: &[Part], i: usize, kind: &str) -> Option<usize> {
    let between = parts.get(i + 1)?;
    let is_next = between.text.trim().is_empty() && parts.get(i + 2)?.kind() == kind;
    is_next.then_some(i + 2)
}
