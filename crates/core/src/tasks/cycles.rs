//! Finds dependency cycles among the tasks of a spec. Of cycles that share a task only one is reported,
//! because there may be too many to list.

/// Returns the cycles, each beginning with its first task; `depends` has the dependencies of each task.
pub(super) fn cycles(depends: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut cycles = Vec::new();
    let mut steps = vec![None; depends.len()];
    for start in 0..depends.len() {
        let mut path = Vec::new();
        let mut next = Some(start);
        loop {
            match next.map(|task| (task, steps[task])) {
                Some((task, None)) => {
                    steps[task] = Some(path.len());
                    path.push((task, depends[task].iter()));
                }
                Some((task, Some(step))) if path.get(step).is_some_and(|(other, _)| *other == task) => {
                    let mut cycle: Vec<usize> = path.drain(step..).map(|(task, _)| task).collect();
                    let first = (0..cycle.len()).min_by_key(|at| cycle[*at]);
                    cycle.rotate_left(first.unwrap_or(0));
                    cycles.push(cycle);
                }
                _ => {}
            }
            let Some((_, rest)) = path.last_mut() else { break };
            next = rest.next().copied();
            if next.is_none() {
                path.pop();
            }
        }
    }
    cycles
}
