//! "Did you mean": the known word that is closest to a misspelt one.

/// The candidate nearest to `word`, if one is near: at most a third of the letters wrong (at least one may be).
pub fn closest<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let limit = (word.chars().count() / 3).max(1);
    candidates
        .into_iter()
        .filter(|c| *c != word)
        .map(|c| (distance(word, c), c))
        .filter(|(d, c)| *d <= limit && *d < c.chars().count())
        .min_by_key(|(d, _)| *d)
        .map(|(_, c)| c)
}

/// The number of letters to insert, delete, change or swap with a neighbour; case counts as nothing.
fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.to_lowercase().chars().collect();
    let b: Vec<char> = b.to_lowercase().chars().collect();
    let mut rows = vec![(0..=b.len()).collect::<Vec<usize>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let changed = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = changed.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::closest;

    #[test]
    fn near_words_are_found_and_far_ones_are_not() {
        let words = ["split", "vectorize", "parallel", "y", "yo"];
        assert_eq!(closest("vectorise", words), Some("vectorize"));
        assert_eq!(closest("slpit", words), Some("split"));
        assert_eq!(closest("Parallel", words), Some("parallel"));
        assert_eq!(closest("yyo", words), Some("yo"));
        assert_eq!(closest("z", words), None);
        assert_eq!(closest("unroll", words), None);
        assert_eq!(closest("", words), None);
    }
}
