//! The budgets of runs: money is reserved before a run, corrected after it, and refused beyond a
//! cap.
//!
//! A run reserves its expected cost before it starts, so that runs which start side by side cannot
//! all spend the same money. While it runs it may use what it has reserved; then it asks for more,
//! and is stopped if nothing is left. When it has ended, however it ended, its real cost takes the
//! place of its reservation. **Spent and reserved money never exceed a cap together**, as far as
//! runs are stopped in time.
//!
//! A run whose cost nobody can estimate reserves [`PROVISIONAL`], or the rest of the cap if that is
//! less: it is admitted while anything is left, and stopped when nothing is. A run that ended at an
//! unknown cost counts as unknown: it is shown as such, and takes nothing from the caps, which are
//! about known money.

use serde::Deserialize;
use serde::Serialize;
use thiserror::Error;

use super::Cost;
use super::GateRefusal;
use super::Usage;

/// The amount that a run reserves at its start if nobody can estimate its cost, and the least by
/// which a run asks for more.
pub(super) const PROVISIONAL: Cost = Cost(500_000);

/// The most that a run, a day and a project may cost; without a cap, anything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Caps {
    pub run: Option<Cost>,
    pub day: Option<Cost>,
    pub project: Option<Cost>,
}

/// The cap that a refusal is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cap {
    Run,
    Day,
    Project,
}

/// The costs of several runs. Runs of unknown cost are counted: unknown is not zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CostSum {
    pub known: Cost,
    pub unknown_runs: u32,
}

impl CostSum {
    /// Adds a run that has ended, however it ended.
    pub fn add(&mut self, cost: Option<Cost>) {
        match cost {
            Some(cost) => self.known = plus(self.known, cost),
            None => self.unknown_runs = self.unknown_runs.saturating_add(1),
        }
    }
}

impl FromIterator<Option<Cost>> for CostSum {
    fn from_iter<I: IntoIterator<Item = Option<Cost>>>(costs: I) -> Self {
        let mut sum = Self::default();
        costs.into_iter().for_each(|cost| sum.add(cost));
        sum
    }
}

/// Writes `$1.25`, `$1.25 and 2 runs of unknown cost` or `unknown (1 run)`.
impl std::fmt::Display for CostSum {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let unknown = crate::text::counted_noun(self.unknown_runs as usize, "run");
        match (self.known, self.unknown_runs) {
            (known, 0) => f.write_str(&in_dollars(known)),
            (Cost(0), _) => write!(f, "unknown ({unknown})"),
            (known, _) => write!(f, "{} and {unknown} of unknown cost", in_dollars(known)),
        }
    }
}

/// Formats an amount for people: in cents, and below one cent with four decimals.
pub fn in_dollars(cost: Cost) -> String {
    match cost.0.unsigned_abs() {
        0 | 10_000.. => format!("${:.2}", cost.dollars()),
        _ => format!("${:.4}", cost.dollars()),
    }
}

/// Money that was spent within a day or a project, and that unfinished runs have reserved there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Account {
    pub spent: CostSum,
    pub reserved: Cost,
}

impl Account {
    /// Returns the rest of a cap.
    fn left(&self, cap: Cost) -> Cost {
        minus(cap, plus(self.spent.known, self.reserved))
    }

    /// Reserves money for a run that has started or has got more.
    pub fn reserve(&mut self, amount: Cost) {
        self.reserved = plus(self.reserved, amount);
    }

    /// Puts the cost of a run that has ended, however it ended, in the place of its reservation.
    pub fn settle(&mut self, reserved: Cost, cost: Option<Cost>) {
        self.reserved = minus(self.reserved, reserved);
        self.spent.add(cost);
    }
}

/// The accounts that a run is charged to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Accounts {
    pub day: Account,
    pub project: Account,
}

/// The expected cost of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Estimate {
    Known(Cost),
    Unknown,
}

/// Money that is set aside for a run: the run asks for more before it uses more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct BudgetReservation {
    pub amount: Cost,
}

/// The refusal of a start or of more money, because a cap is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error, Serialize)]
#[error("{}", in_words(self))]
pub struct OverCap {
    pub cap: Cap,
    pub limit: Cost,
    /// The rest of the cap; zero if it was exceeded.
    pub left: Cost,
    /// The amount that was needed, if anybody could say.
    pub wanted: Option<Cost>,
}

fn in_words(over: &OverCap) -> String {
    let scope = match over.cap {
        Cap::Run => "this run",
        Cap::Day => "today",
        Cap::Project => "this project",
    };
    let limit = in_dollars(over.limit);
    match over.wanted {
        Some(wanted) if over.left > Cost(0) => format!(
            "of the {limit} for {scope} {} are left, and about {} are needed",
            in_dollars(over.left),
            in_dollars(wanted)
        ),
        _ => format!("the {limit} for {scope} are used up"),
    }
}

impl OverCap {
    /// Returns a hint for the person or the agent.
    pub fn hint(&self) -> &'static str {
        match self.cap {
            Cap::Run => "start it with more: `--budget <dollars>`",
            Cap::Day => {
                "`consort runs cost` shows what was spent; what running ones do not use comes back, and tomorrow \
                 there is more (`budget.day`)"
            }
            Cap::Project => "`consort runs cost` shows what was spent; your user can raise `budget.project`",
        }
    }
}

impl From<OverCap> for GateRefusal {
    fn from(over: OverCap) -> Self {
        Self { gate: "budget", why: over.to_string(), hint: over.hint().to_owned() }
    }
}

/// Decides whether a run may start, and how much is set aside for it: its expected cost, and never
/// more than its own cap.
pub fn admit(caps: &Caps, accounts: &Accounts, estimate: Estimate) -> Result<BudgetReservation, OverCap> {
    let (wanted, is_guess) = match estimate {
        Estimate::Known(cost) => (Cost(cost.0.max(0)), false),
        Estimate::Unknown => (PROVISIONAL, true),
    };
    let most = caps.run.map_or(wanted, |run| wanted.min(run));
    let mut amount = most;
    for (cap, limit, left) in left_of(caps, accounts) {
        let is_too_much = left <= Cost(0) || (!is_guess && left < most);
        if is_too_much {
            let left = left.max(Cost(0));
            return Err(OverCap { cap, limit, left, wanted: (!is_guess).then_some(most) });
        }
        amount = amount.min(left);
    }
    match caps.run {
        Some(limit) if limit <= Cost(0) => Err(OverCap { cap: Cap::Run, limit, left: Cost(0), wanted: None }),
        _ => Ok(BudgetReservation { amount }),
    }
}

/// Sets more aside for a run that has used `used` and is about to use more than it has reserved;
/// refuses if nothing is left. The accounts already include its reservation.
pub fn extend_reservation(
    caps: &Caps,
    accounts: &Accounts,
    reservation: BudgetReservation,
    used: Cost,
) -> Result<BudgetReservation, OverCap> {
    if let Some(limit) = over(caps.run, used) {
        return Err(OverCap { cap: Cap::Run, limit, left: Cost(0), wanted: None });
    }
    // At least as much again, so that a long run asks seldom.
    let step = Cost(reservation.amount.0.max(PROVISIONAL.0));
    let wanted = plus(reservation.amount.max(used), step);
    let mut amount = caps.run.map_or(wanted, |run| wanted.min(run));
    for (cap, limit, left) in left_of(caps, accounts) {
        let most = plus(reservation.amount, left.max(Cost(0)));
        if used >= most {
            return Err(OverCap { cap, limit, left: Cost(0), wanted: None });
        }
        amount = amount.min(most);
    }
    Ok(BudgetReservation { amount: amount.max(reservation.amount) })
}

/// Returns the cap, if `used` has reached it.
pub(super) fn over(cap: Option<Cost>, used: Cost) -> Option<Cost> {
    cap.filter(|cap| used >= *cap)
}

/// Returns the shared caps that are set, with the limit and the rest of each.
fn left_of(caps: &Caps, accounts: &Accounts) -> impl Iterator<Item = (Cap, Cost, Cost)> {
    let shared = [(Cap::Day, caps.day, accounts.day), (Cap::Project, caps.project, accounts.project)];
    shared.into_iter().filter_map(|(cap, limit, account)| Some((cap, limit?, account.left(limit?))))
}

/// The prices of a million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Price {
    pub input: Cost,
    pub output: Cost,
    pub cache_read: Cost,
    pub cache_write: Cost,
}

impl Price {
    /// Computes the cost of these tokens; unknown if the CLI has not reported both its input and
    /// its output.
    pub fn of(&self, usage: &Usage) -> Option<Cost> {
        let part = |tokens: u64, price: Cost| i128::from(tokens) * i128::from(price.0);
        let sum = part(usage.input?, self.input)
            + part(usage.output?, self.output)
            + part(usage.cache_read.unwrap_or(0), self.cache_read)
            + part(usage.cache_write.unwrap_or(0), self.cache_write);
        // Rounded up: rather too much is reserved than too little.
        Some(Cost(i64::try_from((sum + 999_999) / 1_000_000).unwrap_or(i64::MAX)))
    }
}

/// Estimates the cost of the next run by earlier runs of its role and CLI: the median of known
/// costs, else of the costs of their tokens.
pub fn estimate(past: &[Usage], price: Option<&Price>) -> Estimate {
    let known = past.iter().filter_map(|usage| usage.cost);
    let by_price = || past.iter().filter_map(|usage| price?.of(usage));
    match median(known.collect()).or_else(|| median(by_price().collect())) {
        Some(cost) => Estimate::Known(cost),
        None => Estimate::Unknown,
    }
}

/// Returns the median; of the two in the middle, the upper.
fn median(mut costs: Vec<Cost>) -> Option<Cost> {
    costs.sort_unstable();
    costs.get(costs.len() / 2).copied()
}

fn plus(a: Cost, b: Cost) -> Cost {
    Cost(a.0.saturating_add(b.0))
}

fn minus(a: Cost, b: Cost) -> Cost {
    Cost(a.0.saturating_sub(b.0))
}
