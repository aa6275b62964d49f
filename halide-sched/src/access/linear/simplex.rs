//! Feasibility of bounds on linear forms: the simplex method of Dutertre and de Moura, *A Fast Linear-Arithmetic Solver
//! for DPLL(T)* (CAV 2006), in exact arithmetic. Bounds are taken back without undoing pivots, so case splits are
//! cheap.
//!
//! Variables are integers; the method decides feasibility over the rationals, and its caller branches on fractions.

/// The number of a variable.
pub(super) type Var = usize;

/// A bound of a variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Bound {
    pub(super) var: Var,
    pub(super) is_lower: bool,
    pub(super) value: i64,
}

/// A set of levels below 128, a bit each. Bounds of level 0 always hold, and are in no set.
pub(super) type Levels = u128;

/// The set of one level.
pub(super) fn level(at: u32) -> Levels {
    if at == 0 { 0 } else { 1 << at }
}

/// The answer to a question of feasibility.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Answer {
    /// No rational values of the variables obey all bounds, for those of a set of levels contradict each other.
    Infeasible(Levels),
    /// The present values of the variables obey all bounds.
    Feasible,
    /// Numbers grew too large, or the budget of pivots is used up.
    Unknown,
}

/// The value of a variable, as a fraction with a positive denominator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Value(i128, i64);

impl Value {
    fn is_below(self, bound: i64) -> bool {
        self.0 < i128::from(bound) * i128::from(self.1)
    }
    fn is_above(self, bound: i64) -> bool {
        self.0 > i128::from(bound) * i128::from(self.1)
    }
}

/// Nonbasic variables with their coefficients, in ascending order.
type Terms = Vec<(Var, i64)>;

/// `denominator * basic = sum of terms`.
#[derive(Clone, Debug)]
struct Row {
    basic: Var,
    denominator: i64,
    terms: Terms,
    /// The sum of the terms at the values of their variables.
    sum: i128,
}

#[derive(Clone, Copy, Default, Debug)]
struct Column {
    lower: Option<i64>,
    upper: Option<i64>,
    /// The levels of the two.
    levels: [u32; 2],
    /// The value of a nonbasic variable.
    value: i64,
    /// The row of a basic variable.
    row: Option<usize>,
}

/// A tableau, at first without variables.
#[derive(Default)]
pub(super) struct Simplex {
    rows: Vec<Row>,
    columns: Vec<Column>,
    /// Bounds that were replaced, for [`Simplex::undo`].
    trail: Vec<(Var, bool, Option<i64>, u32)>,
    /// Room for the terms of a row in the making.
    spare: Terms,
    /// The level of bounds that are added.
    level: u32,
    /// The number of pivots that are left.
    pivots: u32,
    /// True if numbers grew too large: the tableau is not what it was, and has no answers any more.
    is_lost: bool,
}

impl Simplex {
    /// Allows for so many pivots from now on; without, there is no answer that needs one.
    pub(super) fn allow(&mut self, pivots: u32) {
        self.pivots = pivots;
    }

    /// A new variable without bounds.
    pub(super) fn variable(&mut self) -> Var {
        self.columns.push(Column::default());
        self.columns.len() - 1
    }

    /// A new variable that is the sum of `terms`; `None` if numbers grow too large.
    pub(super) fn form(&mut self, terms: &[(Var, i64)]) -> Option<Var> {
        let (mut all, mut denominator) = (Terms::new(), 1);
        for (var, k) in terms {
            (all, denominator) = match self.columns[*var].row.map(|row| &self.rows[row]) {
                Some(row) => sum((&all, denominator, 1), (&row.terms, row.denominator, *k))?,
                None => sum((&all, denominator, 1), (&[(*var, 1)], 1, *k))?,
            };
        }
        let basic = self.variable();
        self.columns[basic].row = Some(self.rows.len());
        let sum = self.at_values(&all)?;
        self.rows.push(Row { basic, denominator, terms: all, sum });
        Some(basic)
    }

    /// Returns true if the present value of a variable obeys a bound.
    pub(super) fn obeys(&self, bound: Bound) -> bool {
        let value = self.value(bound.var);
        if bound.is_lower { !value.is_below(bound.value) } else { !value.is_above(bound.value) }
    }

    /// Returns true if the present values obey all bounds.
    #[cfg(test)]
    pub(super) fn obeys_all(&self) -> bool {
        (0..self.columns.len()).all(|var| {
            let (column, value) = (self.columns[var], self.value(var));
            !column.lower.is_some_and(|low| value.is_below(low))
                && !column.upper.is_some_and(|high| value.is_above(high))
        })
    }

    /// A variable whose present value is no integer, with the integer below.
    pub(super) fn fraction(&self) -> Option<(Var, i64)> {
        let row = self.rows.iter().find(|row| row.sum % i128::from(row.denominator) != 0)?;
        Some((row.basic, i64::try_from(row.sum.div_euclid(row.denominator.into())).ok()?))
    }

    /// The present value of a variable.
    fn value(&self, var: Var) -> Value {
        match self.columns[var].row {
            Some(row) => Value(self.rows[row].sum, self.rows[row].denominator),
            None => Value(self.columns[var].value.into(), 1),
        }
    }

    /// Begins a level; [`Simplex::undo`] ends it.
    pub(super) fn begin(&mut self) -> (u32, usize) {
        self.level += 1;
        (self.level, self.trail.len())
    }

    /// Takes back all bounds since a level began.
    pub(super) fn undo(&mut self, (level, mark): (u32, usize)) {
        self.level = level - 1;
        for (var, is_lower, old, at) in self.trail.drain(mark..).rev() {
            let column = &mut self.columns[var];
            column.levels[usize::from(!is_lower)] = at;
            *(if is_lower { &mut column.lower } else { &mut column.upper }) = old;
        }
    }

    /// Adds a bound. Returns `Infeasible` if another bound of the variable contradicts it, else `Feasible`.
    pub(super) fn bound(&mut self, bound: Bound) -> Answer {
        let Bound { var, is_lower, value } = bound;
        let column = self.columns[var];
        let (old, other) = if is_lower { (column.lower, column.upper) } else { (column.upper, column.lower) };
        let is_beyond = |a: i64, b: i64| if is_lower { a > b } else { a < b };
        if old.is_some_and(|old| !is_beyond(value, old)) {
            return Answer::Feasible;
        }
        let [own, opposite] = if is_lower { [0, 1] } else { [1, 0] };
        if other.is_some_and(|other| is_beyond(value, other)) {
            return Answer::Infeasible(level(self.level) | level(column.levels[opposite]));
        }
        self.trail.push((var, is_lower, old, column.levels[own]));
        let column = &mut self.columns[var];
        column.levels[own] = self.level;
        *(if is_lower { &mut column.lower } else { &mut column.upper }) = Some(value);
        if column.row.is_none() && is_beyond(value, column.value) {
            self.is_lost |= self.set(var, value).is_none();
        }
        Answer::Feasible
    }

    /// Looks for values that obey all bounds.
    pub(super) fn check(&mut self) -> Answer {
        while !self.is_lost {
            // Of variables that break a bound and of those that may mend it, the last: this ends (Bland), and keeps
            // what the question itself is made of, which came first, out of the rows of all others.
            let broken = |row: &Row| {
                let (column, value) = (self.columns[row.basic], Value(row.sum, row.denominator));
                let low = column.lower.filter(|low| value.is_below(*low)).map(|low| (row.basic, low, true));
                low.or_else(|| column.upper.filter(|high| value.is_above(*high)).map(|high| (row.basic, high, false)))
            };
            let Some((basic, target, rises)) = self.rows.iter().filter_map(broken).max_by_key(|(var, ..)| *var) else {
                return Answer::Feasible;
            };
            let Some(row) = self.columns[basic].row else { return Answer::Unknown };
            let may_move = |(var, k): &&(Var, i64)| {
                let column = self.columns[*var];
                match (*k > 0) == rises {
                    true => column.upper.is_none_or(|high| column.value < high),
                    false => column.lower.is_none_or(|low| column.value > low),
                }
            };
            let Some((entering, _)) = self.rows[row].terms.iter().rev().find(may_move).copied() else {
                return Answer::Infeasible(self.conflict(row, rises));
            };
            let Some(left) = self.pivots.checked_sub(1) else { return Answer::Unknown };
            self.pivots = left;
            self.is_lost |= self.pivot(row, entering, target).is_none();
        }
        Answer::Unknown
    }

    /// The levels of the bounds that keep the basic variable of `row` from rising or falling to its own.
    fn conflict(&self, row: usize, rises: bool) -> Levels {
        let row = &self.rows[row];
        let own = self.columns[row.basic].levels[usize::from(!rises)];
        row.terms.iter().fold(level(own), |all, (var, k)| {
            let is_upper = (*k > 0) == rises;
            all | level(self.columns[*var].levels[usize::from(is_upper)])
        })
    }

    /// Exchanges the basic variable of `row`, which becomes `target`, for `entering`.
    fn pivot(&mut self, row: usize, entering: Var, target: i64) -> Option<()> {
        let Row { basic, denominator, .. } = self.rows[row];
        let mut rest = std::mem::take(&mut self.rows[row].terms);
        // k * entering = denominator * basic - the rest.
        let (_, k) = rest.remove(rest.binary_search_by_key(&entering, |(var, _)| *var).ok()?);
        let (terms, denominator) = sum((&[(basic, denominator)], k, 1), (&rest, k, -1))?;
        self.columns[entering].row = Some(row);
        self.columns[basic] = Column { value: target, row: None, ..self.columns[basic] };
        let sum_now = self.at_values(&terms)?;
        self.rows[row] = Row { basic: entering, denominator, terms, sum: sum_now };
        let mut made = std::mem::take(&mut self.spare);
        for other in (0..self.rows.len()).filter(|other| *other != row) {
            let (own, into) = (&self.rows[other], &self.rows[row]);
            let Ok(at) = own.terms.binary_search_by_key(&entering, |(var, _)| *var) else { continue };
            let k = own.terms[at].1;
            let entered = own.denominator.checked_mul(into.denominator)?;
            let denominator =
                sum_into(&mut made, (&own.terms, own.denominator, 1), (&into.terms, entered, k), Some(at))?;
            let sum_now = self.at_values(&made)?;
            let own = &mut self.rows[other];
            (own.denominator, own.sum) = (denominator, sum_now);
            std::mem::swap(&mut own.terms, &mut made);
        }
        self.spare = made;
        Some(())
    }

    /// Gives a nonbasic variable another value.
    fn set(&mut self, var: Var, value: i64) -> Option<()> {
        let step = i128::from(value) - i128::from(self.columns[var].value);
        self.columns[var].value = value;
        for row in &mut self.rows {
            if let Ok(at) = row.terms.binary_search_by_key(&var, |(v, _)| *v) {
                row.sum = row.sum.checked_add(step.checked_mul(row.terms[at].1.into())?)?;
            }
        }
        Some(())
    }

    fn at_values(&self, terms: &[(Var, i64)]) -> Option<i128> {
        terms.iter().try_fold(0i128, |sum, (var, k)| {
            sum.checked_add(i128::from(*k).checked_mul(self.columns[*var].value.into())?)
        })
    }
}

/// `a.2 / a.1 * a.0 + b.2 / b.1 * b.0`: terms and their positive denominator, in lowest terms; `None` if they are too
/// large.
fn sum(a: (&[(Var, i64)], i64, i64), b: (&[(Var, i64)], i64, i64)) -> Option<(Terms, i64)> {
    let mut terms = Terms::with_capacity(a.0.len() + b.0.len());
    let denominator = sum_into(&mut terms, a, b, None)?;
    Some((terms, denominator))
}

/// Makes `all` the terms of such a sum, of which the first list leaves out that at `without`. Returns the denominator.
fn sum_into(
    all: &mut Terms,
    a: (&[(Var, i64)], i64, i64),
    b: (&[(Var, i64)], i64, i64),
    without: Option<usize>,
) -> Option<i64> {
    if (a.1, b.1) == (1, 1) && merged(all, (a.0, a.2), (b.0, b.2), without).is_some() {
        return Some(1);
    }
    let factors = [i128::from(a.2) * i128::from(b.1), i128::from(b.2) * i128::from(a.1)];
    let denominator = i128::from(a.1) * i128::from(b.1);
    let shared = common_divisor(common_divisor(factors[0], factors[1]), denominator) * denominator.signum();
    let ([fa, fb], denominator) = (factors.map(|f| f / shared), denominator / shared);
    // Nearly all sums are in 64 bits on the way, too.
    if let (Ok(fa), Ok(fb), Ok(denominator)) = (i64::try_from(fa), i64::try_from(fb), i64::try_from(denominator))
        && merged(all, (a.0, fa), (b.0, fb), without).is_some()
    {
        let shared = all.iter().fold(denominator.unsigned_abs(), |d, (_, k)| gcd(d, k.unsigned_abs()));
        let shared = i64::try_from(shared).ok().filter(|shared| *shared > 1);
        shared.into_iter().for_each(|shared| all.iter_mut().for_each(|(_, k)| *k /= shared));
        return Some(denominator / shared.unwrap_or(1));
    }
    let (a, mut wide) = (all_but(a.0, without), Vec::with_capacity(a.0.len() + b.0.len()));
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.0.len() {
        let var = [a.get(i), b.0.get(j)].into_iter().flatten().map(|t| t.0).min()?;
        let mut k = 0i128;
        if let Some((_, own)) = a.get(i).filter(|t| t.0 == var) {
            (k, i) = (fa.checked_mul((*own).into())?, i + 1);
        }
        if let Some((_, own)) = b.0.get(j).filter(|t| t.0 == var) {
            (k, j) = (k.checked_add(fb.checked_mul((*own).into())?)?, j + 1);
        }
        if k != 0 {
            wide.push((var, k));
        }
    }
    let shared = wide.iter().fold(denominator, |d, (_, k)| if d == 1 { 1 } else { common_divisor(d, *k) });
    *all = wide.into_iter().map(|(var, k)| Some((var, i64::try_from(k / shared).ok()?))).collect::<Option<_>>()?;
    i64::try_from(denominator / shared).ok()
}

/// A copy of terms without that at `without`.
fn all_but(terms: &[(Var, i64)], without: Option<usize>) -> Terms {
    let mut rest = terms.to_vec();
    without.map(|at| rest.remove(at));
    rest
}

/// Makes `all` the sum of two lists of terms, each with a factor, of which the first leaves out that at `without`;
/// `None` if that is not in 64 bits.
fn merged(
    all: &mut Terms,
    (a, fa): (&[(Var, i64)], i64),
    (b, fb): (&[(Var, i64)], i64),
    without: Option<usize>,
) -> Option<()> {
    all.clear();
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        if Some(i) == without {
            i += 1;
            continue;
        }
        let (x, y) = (a.get(i).map_or(Var::MAX, |t| t.0), b.get(j).map_or(Var::MAX, |t| t.0));
        let mut k = 0i64;
        if x <= y {
            k = a[i].1.checked_mul(fa)?;
            i += 1;
        }
        if y <= x {
            k = k.checked_add(b[j].1.checked_mul(fb)?)?;
            j += 1;
        }
        if k != 0 {
            all.push((x.min(y), k));
        }
    }
    Some(())
}

/// The greatest number that divides both.
fn common_divisor(a: i128, b: i128) -> i128 {
    if let (Ok(a), Ok(b)) = (u64::try_from(a.unsigned_abs()), u64::try_from(b.unsigned_abs())) {
        return gcd(a, b).into();
    }
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a.abs()
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 && a != 1 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In lowest terms, also where a sum leaves 64 bits on the way.
    #[test]
    fn fractions_are_added() {
        let half_and_third = sum((&[(0, 1), (1, 1)], 2, 1), (&[(0, 1), (2, -2)], 3, 1));
        assert_eq!(half_and_third, Some((vec![(0, 5), (1, 3), (2, -4)], 6)));
        assert_eq!(sum((&[(0, 3)], 2, 1), (&[(0, 1)], 2, -1)), Some((vec![(0, 1)], 1)));
        assert_eq!(sum((&[(0, i64::MAX)], 2, 1), (&[(0, i64::MAX)], 2, 1)), Some((vec![(0, i64::MAX)], 1)));
        assert_eq!(sum((&[(0, i64::MAX)], 1, 1), (&[(0, i64::MAX)], 1, 1)), None);
        let mut all = Terms::new();
        let denominator = sum_into(&mut all, (&[(0, i64::MAX), (1, 7)], 2, 1), (&[(0, i64::MAX)], 2, 1), Some(1));
        assert_eq!((all, denominator), (vec![(0, i64::MAX)], Some(1)));
    }
}
