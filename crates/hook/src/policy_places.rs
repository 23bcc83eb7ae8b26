//! Hook door: finds the words of a command that lead out of the project and the files that it
//! reaches, for the person's rules.

use std::path::Path;
use std::path::PathBuf;

use consort_core::claims;
use consort_core::claims::Pattern;
use consort_core::claims::PendingWrite;
use consort_core::host::Host;
use consort_core::policy::ProgramCall;
use consort_core::policy::ReachedPatterns;
use consort_shell::Detour;

/// Most directories in which a command is assumed to run; after more, every detour counts.
const MOST_PLACES: usize = 16;

/// The directory that a text starts in, and the test for paths outside the session's worktree.
pub(crate) struct PolicyProject<'a> {
    pub(crate) cwd: &'a Path,
    pub(crate) is_outside: &'a dyn Fn(&Path) -> bool,
}

impl PolicyProject<'_> {
    fn leads_out(&self, places: &[PathBuf], path: &str) -> bool {
        // The expansion of these by the shell is not known here.
        path.starts_with(['~', '-'])
            || path.contains(['*', '?', '['])
            || places.iter().any(|place| (self.is_outside)(&place.join(path)))
    }
}

/// Marks the words of each call that lead out of the project from any directory that the call may
/// run in: a `cd` may fail.
pub(crate) fn mark_outside_words(
    project: &PolicyProject<'_>,
    calls: Vec<consort_shell::ShellCall>,
) -> Vec<ProgramCall> {
    let mut places = vec![project.cwd.to_owned()];
    let follow = |call: consort_shell::ShellCall| {
        let is_wrong = |detour: &&Detour| match &detour.to {
            Some(path) => places.len() > MOST_PLACES || project.leads_out(&places, path),
            None => true,
        };
        let detours = call.detours.iter().filter(is_wrong).map(|detour| detour.at).collect();
        let is_path = |word: &str| word.contains('/');
        let strays = |(_, word): &(usize, &Option<String>)| {
            word.as_deref().is_some_and(|word| is_path(word) && project.leads_out(&places, word))
        };
        let outside = call.words.iter().enumerate().filter(strays).map(|(at, _)| at).collect();
        if let [Some(program), Some(directory)] = &call.words[..]
            && program == "cd"
            && places.len() <= MOST_PLACES
        {
            let further: Vec<PathBuf> = places.iter().map(|place| place.join(directory)).collect();
            places.extend(further);
        }
        ProgramCall {
            words: call.words,
            variables: call.variables,
            homes: call.homes,
            is_wrapper: call.is_wrapper,
            detours,
            outside,
        }
    };
    calls.into_iter().map(follow).collect()
}

/// Names the files that a command writes, seen from the worktree `here`.
pub(crate) fn reached(host: &dyn Host, here: &Path, target: &PendingWrite) -> Option<ReachedPatterns> {
    let (located, paths) = claims::locate_write(host, target)?;
    let is_inside = located.worktree == here;
    // Git is trusted with its own hidden files.
    let is_hidden =
        || paths.as_str().split('/').any(|part| part.starts_with('.')) && !target.by.starts_with("git");
    Some(ReachedPatterns {
        is_off_limits: !is_inside || is_hidden(),
        own: if is_inside { paths.clone() } else { Pattern::file(&target.path.to_string_lossy()) },
        anywhere: paths,
    })
}

/// Names a file that a command shows, seen from the worktree `here`.
pub(crate) fn read_patterns(host: &dyn Host, here: &Path, path: &Path) -> ReachedPatterns {
    let found = host.locate(path);
    let anywhere = Pattern::file(&found.path);
    let is_inside = found.worktree == here;
    let own = match is_inside {
        true => anywhere.clone(),
        false => Pattern::file(&found.worktree.join(&found.path).to_string_lossy()),
    };
    ReachedPatterns { own, anywhere, is_off_limits: !is_inside }
}
