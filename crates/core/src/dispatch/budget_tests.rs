//! Tests of the budgets of runs.

use proptest::prelude::*;

use super::Cost;
use super::GateRefusal;
use super::Usage;
use super::budget::*;

fn usd(dollars: f64) -> Cost {
    Cost::from_dollars(dollars)
}

fn accounts(spent: f64, reserved: f64) -> Accounts {
    let account = Account { spent: CostSum { known: usd(spent), unknown_runs: 0 }, reserved: usd(reserved) };
    Accounts { day: account, project: account }
}

#[test]
fn a_run_is_admitted_where_its_estimate_fits() {
    let caps = Caps { run: None, day: Some(usd(10.0)), project: Some(usd(8.0)) };
    let known = |dollars| Estimate::Known(usd(dollars));
    assert_eq!(admit(&caps, &accounts(5.0, 2.0), known(1.0)), Ok(BudgetReservation { amount: usd(1.0) }));
    let refused = admit(&caps, &accounts(5.0, 2.0), known(1.5)).unwrap_err();
    assert_eq!(
        refused,
        OverCap { cap: Cap::Project, limit: usd(8.0), left: usd(1.0), wanted: Some(usd(1.5)) }
    );
    assert_eq!(
        refused.to_string(),
        "of the $8.00 for this project $1.00 are left, and about $1.50 are needed"
    );
    let refusal = GateRefusal::from(refused);
    assert!(refusal.gate == "budget" && refusal.hint.contains("budget.project"), "{refusal:?}");
    // Without caps everything is admitted.
    assert_eq!(admit(&Caps::default(), &accounts(5.0, 2.0), known(99.0)).unwrap().amount, usd(99.0));
    // A run never reserves more than its own cap.
    let own = Caps { run: Some(usd(0.75)), ..caps };
    assert_eq!(admit(&own, &accounts(5.0, 2.0), known(5.0)).unwrap().amount, usd(0.75));
}

#[test]
fn what_nobody_can_estimate_is_admitted_while_anything_is_left() {
    let caps = Caps { run: None, day: Some(usd(10.0)), project: None };
    let of = |spent| admit(&caps, &accounts(spent, 0.0), Estimate::Unknown);
    assert_eq!(of(1.0).unwrap().amount, PROVISIONAL);
    assert_eq!(of(9.8).unwrap().amount, usd(0.2), "no more than is left");
    let refused = of(10.0).unwrap_err();
    assert_eq!((refused.cap, refused.left), (Cap::Day, Cost(0)));
    assert_eq!(refused.to_string(), "the $10.00 for today are used up");
}

#[test]
fn a_run_gets_more_until_nothing_is_left() {
    let caps = Caps { run: Some(usd(3.0)), day: Some(usd(10.0)), project: None };
    let own = BudgetReservation { amount: usd(1.0) };
    // The other reserved dollar is another run's.
    assert_eq!(extend_reservation(&caps, &accounts(2.0, 2.0), own, usd(1.0)).unwrap().amount, usd(2.0));
    assert_eq!(extend_reservation(&caps, &accounts(7.8, 2.0), own, usd(1.0)).unwrap().amount, usd(1.2));
    let day = extend_reservation(&caps, &accounts(8.0, 2.0), own, usd(1.0)).unwrap_err();
    assert_eq!(day.cap, Cap::Day);
    let run =
        extend_reservation(&caps, &accounts(2.0, 4.0), BudgetReservation { amount: usd(3.0) }, usd(3.0))
            .unwrap_err();
    assert_eq!((run.cap, run.to_string().as_str()), (Cap::Run, "the $3.00 for this run are used up"));
    assert_eq!(over(Some(usd(1.0)), usd(1.0)), Some(usd(1.0)));
    assert_eq!((over(Some(usd(1.0)), usd(0.99)), over(None, usd(1e6))), (None, None));
}

#[test]
fn unknown_is_shown_as_unknown() {
    let sum: CostSum = [Some(usd(1.25)), None, None].into_iter().collect();
    assert_eq!(sum, CostSum { known: usd(1.25), unknown_runs: 2 });
    assert_eq!(sum.to_string(), "$1.25 and 2 runs of unknown cost");
    assert_eq!([None].into_iter().collect::<CostSum>().to_string(), "unknown (1 run)");
    assert_eq!(CostSum::default().to_string(), "$0.00");
    assert_eq!(in_dollars(Cost(1_234)), "$0.0012");
}

#[test]
fn the_estimate_is_what_earlier_runs_cost() {
    let cost = |dollars| Usage { cost: Some(usd(dollars)), ..Usage::default() };
    let tokens = |input, output| Usage { input: Some(input), output: Some(output), ..Usage::default() };
    let price = Price { input: usd(3.0), output: usd(15.0), cache_read: usd(0.3), cache_write: usd(3.75) };
    assert_eq!(
        estimate(&[cost(1.0), cost(90.0), cost(2.0), tokens(9, 9)], Some(&price)),
        Estimate::Known(usd(2.0))
    );
    let by_tokens = estimate(&[tokens(1_000_000, 100_000), Usage::default()], Some(&price));
    assert_eq!(by_tokens, Estimate::Known(usd(4.5)));
    assert_eq!(estimate(&[tokens(1, 1)], None), Estimate::Unknown);
    assert_eq!(estimate(&[Usage::default()], Some(&price)), Estimate::Unknown);
    assert_eq!(estimate(&[], Some(&price)), Estimate::Unknown);
    let half = Usage { input: Some(5), ..Usage::default() };
    assert_eq!(price.of(&half), None, "what was written is not known");
    assert_eq!(price.of(&tokens(u64::MAX, u64::MAX)), Some(Cost(i64::MAX)));
}

/// An event of simulated runs: one starts, one uses more, one ends.
#[derive(Clone, Debug)]
enum Event {
    Start(Option<i64>),
    Use(usize, i64),
    /// The flag says whether the cost is known; how the run ended plays no part.
    End(usize, bool),
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        3 => proptest::option::of(0i64..4_000_000).prop_map(Event::Start),
        6 => (any::<usize>(), 0i64..1_500_000).prop_map(|(run, more)| Event::Use(run, more)),
        2 => (any::<usize>(), any::<bool>()).prop_map(|(run, known)| Event::End(run, known)),
    ]
}

proptest! {
    /// However many run side by side, the money that is spent and reserved stays below every cap,
    /// each run stays below its own, and what is not used comes back.
    #[test]
    fn the_caps_hold_however_many_run(
        events in proptest::collection::vec(event(), 1..120),
        run_cap in proptest::option::of(1i64..3_000_000),
        day in 1i64..20_000_000,
        project in proptest::option::of(1i64..20_000_000),
    ) {
        let caps = Caps { run: run_cap.map(Cost), day: Some(Cost(day)), project: project.map(Cost) };
        let mut accounts = Accounts::default();
        // The reservation and the used money of each run.
        let mut running: Vec<(BudgetReservation, i64)> = Vec::new();
        let (mut spent, mut unknown) = (0i64, 0u32);
        for event in events {
            match event {
                Event::Start(cost) => {
                    let wanted = cost.map_or(Estimate::Unknown, |cost| Estimate::Known(Cost(cost)));
                    if let Ok(reservation) = admit(&caps, &accounts, wanted) {
                        accounts.day.reserve(reservation.amount);
                        accounts.project.reserve(reservation.amount);
                        running.push((reservation, 0));
                    }
                }
                Event::Use(run, more) if !running.is_empty() => {
                    let at = run % running.len();
                    let (reservation, used) = running[at];
                    let (mut reservation, wanted) = (reservation, used + more);
                    while wanted > reservation.amount.0 {
                        // The run has used all that it has reserved, and asks for more.
                        let Ok(larger) = extend_reservation(&caps, &accounts, reservation, reservation.amount) else { break };
                        prop_assert!(larger.amount > reservation.amount, "it would ask for ever");
                        let more = Cost(larger.amount.0 - reservation.amount.0);
                        accounts.day.reserve(more);
                        accounts.project.reserve(more);
                        reservation = larger;
                    }
                    running[at] = (reservation, wanted.min(reservation.amount.0));
                }
                Event::End(run, is_known) if !running.is_empty() => {
                    let (reservation, used) = running.swap_remove(run % running.len());
                    let cost = is_known.then_some(Cost(used));
                    accounts.day.settle(reservation.amount, cost);
                    accounts.project.settle(reservation.amount, cost);
                    spent += if is_known { used } else { 0 };
                    unknown += u32::from(!is_known);
                }
                Event::Use(..) | Event::End(..) => {}
            }
            let reserved: i64 = running.iter().map(|(reservation, _)| reservation.amount.0).sum();
            prop_assert_eq!(accounts.day.reserved, Cost(reserved));
            prop_assert_eq!(accounts.day.spent, CostSum { known: Cost(spent), unknown_runs: unknown });
            prop_assert!(spent + reserved <= day);
            prop_assert!(project.is_none_or(|project| spent + reserved <= project));
            for (reservation, used) in &running {
                prop_assert!(*used <= reservation.amount.0);
                prop_assert!(run_cap.is_none_or(|cap| reservation.amount.0 <= cap));
            }
        }
    }

    /// An admitted run with an estimate gets all of that amount.
    #[test]
    fn who_is_admitted_has_enough(cost in 0i64..9_000_000, spent in 0i64..9_000_000, day in 1i64..9_000_000) {
        let caps = Caps { day: Some(Cost(day)), ..Caps::default() };
        let mut accounts = Accounts::default();
        accounts.day.spent.add(Some(Cost(spent)));
        match admit(&caps, &accounts, Estimate::Known(Cost(cost))) {
            Ok(reservation) => prop_assert_eq!(reservation.amount, Cost(cost)),
            Err(refusal) => prop_assert!(spent + cost > day || spent >= day, "{}", refusal),
        }
    }
}
