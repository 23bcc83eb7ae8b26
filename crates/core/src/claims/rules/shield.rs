//! Pure rules of claims: which paths of a reservation the shield makes read-only for others.

use super::has_joined;
use super::overridden_until;
use crate::claims::Case;
use crate::claims::Hold;
use crate::claims::Pattern;
use crate::claims::Strength;
use crate::journal::Actor;
use crate::project::ProjectId;

/// Most paths that the shield mounts one by one; of more, it mounts none.
pub(in crate::claims) const MOST_SHIELDED: usize = 1_000;

/// The paths to make read-only, in a worktree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::claims) enum Shielded {
    /// A file, or a directory with everything below it.
    Whole(String),
    /// The existing files that match `pattern`, but for those that the person lets everyone write.
    Matching { pattern: Pattern, except: Vec<Pattern> },
}

/// Returns the paths of a hold to make read-only for a caller in that project; `None` for the
/// caller's own holds, for claims, and for holds that the caller shares or that are overridden.
pub(in crate::claims) fn shielded(
    live: &[Hold],
    hold: &Hold,
    project: &ProjectId,
    me: &Actor,
    case: Case,
) -> Option<Shielded> {
    let pattern = hold.resource.pattern()?;
    let counts = hold.strength == Strength::Blocking
        && hold.holder != *me
        && hold.project.as_ref() == Some(project)
        && !has_joined(live, hold, me, case)
        && overridden_until(live, hold, pattern, case).is_none();
    if !counts {
        return None;
    }
    let overrides = live.iter().filter(|one| one.strength == Strength::Overridden);
    let overrides = overrides.filter(|one| one.project == hold.project);
    let overrides = overrides.filter_map(|one| one.resource.pattern());
    let except: Vec<Pattern> = overrides.filter(|one| one.overlaps(pattern, case)).cloned().collect();
    Some(match pattern.literal().or_else(|| pattern.directory()) {
        Some(whole) if except.is_empty() => Shielded::Whole(whole),
        _ => Shielded::Matching { pattern: pattern.clone(), except },
    })
}

/// Tells whether an existing file is among those to make read-only.
pub(in crate::claims) fn is_shielded(pattern: &Pattern, except: &[Pattern], file: &str, case: Case) -> bool {
    let file = Pattern::file(file);
    pattern.overlaps(&file, case) && !except.iter().any(|one| one.overlaps(&file, case))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Timestamp;
    use crate::claims::HoldMode;
    use crate::claims::Resource;

    const CASE: Case = Case::Matters;

    fn agent(name: &str) -> Actor {
        Actor::Agent(name.to_owned().into())
    }

    fn hold(who: &Actor, pattern: &str, strength: Strength, mode: HoldMode) -> Hold {
        Hold {
            project: Some("p".into()),
            resource: Resource::Paths(Pattern::new(pattern).unwrap()),
            holder: who.clone(),
            label: "one".into(),
            machine: "m".into(),
            strength,
            mode,
            reason: None,
            since: Timestamp(0),
            until: Some(Timestamp(9)),
            ttl: None,
            worktree: None,
            generation: 1.into(),
            contest: None,
        }
    }

    fn decide(live: &[Hold]) -> Option<Shielded> {
        shielded(live, &live[0], &"p".into(), &agent("me"), CASE)
    }

    #[test]
    fn files_and_directories_are_mounted_as_a_whole_and_globs_by_what_matches() {
        let one = |pattern: &str| {
            decide(&[hold(&agent("a"), pattern, Strength::Blocking, HoldMode::Exclusive)]).unwrap()
        };
        for (pattern, whole) in
            [("src/", "src"), ("src/a b.rs", "src/a b.rs"), ("src/**", "src"), ("**", ""), ("a\\*b", "a*b")]
        {
            assert_eq!(one(pattern), Shielded::Whole(whole.into()), "{pattern}");
        }
        for pattern in ["src/*.rs", "**/a.md", "{a,b}/", "s*/**"] {
            let found = Shielded::Matching { pattern: Pattern::new(pattern).unwrap(), except: Vec::new() };
            assert_eq!(one(pattern), found, "{pattern}");
        }
        let glob = Pattern::new("src/*.rs").unwrap();
        assert!(is_shielded(&glob, &[], "src/a.rs", CASE) && !is_shielded(&glob, &[], "src/a.txt", CASE));
    }

    #[test]
    fn only_a_reservation_of_another_in_this_project_counts() {
        let (a, me) = (agent("a"), agent("me"));
        let of = |who: &Actor, strength, mode| hold(who, "src/", strength, mode);
        assert!(decide(&[of(&a, Strength::Blocking, HoldMode::Exclusive)]).is_some());
        assert!(decide(&[of(&Actor::Person, Strength::Blocking, HoldMode::Exclusive)]).is_some());
        assert!(decide(&[of(&me, Strength::Blocking, HoldMode::Exclusive)]).is_none());
        assert!(decide(&[of(&a, Strength::Advisory, HoldMode::Exclusive)]).is_none());
        let mut elsewhere = of(&a, Strength::Blocking, HoldMode::Exclusive);
        elsewhere.project = Some("q".into());
        assert!(decide(&[elsewhere]).is_none());
        // A shared reservation is in the way of those who have not joined it.
        let shared = of(&a, Strength::Blocking, HoldMode::Shared);
        assert!(decide(std::slice::from_ref(&shared)).is_some());
        assert!(decide(&[shared, of(&me, Strength::Blocking, HoldMode::Shared)]).is_none());
    }

    #[test]
    fn what_the_person_lets_everyone_write_is_left_out() {
        let held = hold(&agent("a"), "src/", Strength::Blocking, HoldMode::Exclusive);
        let over = |pattern| hold(&Actor::Person, pattern, Strength::Overridden, HoldMode::Shared);
        assert!(decide(&[held.clone(), over("src/")]).is_none());
        let Some(Shielded::Matching { pattern, except }) = decide(&[held, over("src/a.rs")]) else {
            panic!()
        };
        assert!(
            is_shielded(&pattern, &except, "src/b/c.rs", CASE)
                && !is_shielded(&pattern, &except, "src/a.rs", CASE)
        );
    }
}
