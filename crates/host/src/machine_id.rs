//! Makes and reads the id of this machine: random, made once in our data directory.
//!
//! The host's name changes with the network, so it is no part of the id. A copied home or disk image
//! would carry the id to another machine; so the file also notes which installation of the system and
//! which boots the id belongs to, and **if both contradict, a new id is made**. Containers that share the
//! directory share the kernel, and so the boot.

use std::fs;
use std::io;
use std::path::Path;

use consort_files::create_whole;
use consort_files::replace_whole;

/// Most boots that are remembered.
const BOOTS: usize = 16;

/// Most bytes that are read of the file, far more than it ever has.
const LONGEST: u64 = 16 << 10;

struct Known {
    id: String,
    /// The system's own id, as a hash.
    system: String,
    /// The boots in which the id was used, newest last.
    boots: Vec<String>,
}

/// Returns the id of this machine; without a directory to keep it in, an id of this boot.
pub(crate) fn machine_id(file: &Path, boot: &str, random: impl FnOnce() -> [u8; 10]) -> String {
    let known = match read(file) {
        // The usual case: the id was asked for before since the machine was started.
        Some(known) if known.boots.iter().any(|known| known == boot) => return known.id,
        known => known,
    };
    let system = system_id();
    match known {
        Some(mut known) if known.system == system || system.is_empty() || known.system.is_empty() => {
            known.boots.push(boot.to_owned());
            let extra = known.boots.len().saturating_sub(BOOTS);
            known.boots.drain(..extra);
            // If this boot cannot be noted, the next process finds the same id.
            let _ = write(file, &known);
            known.id
        }
        _ => {
            let id: String = random().iter().map(|byte| format!("{byte:02x}")).collect();
            let made = Known { id, system, boots: vec![boot.to_owned()] };
            if known.is_some() {
                // The id is another machine's: it must not be read again.
                let _ = fs::remove_file(file);
            }
            match write(file, &made).ok().and_then(|()| read(file)) {
                // Another process may have made the id at the same moment.
                Some(known) => known.id,
                None => format!("boot-{boot}"),
            }
        }
    }
}

fn read(file: &Path) -> Option<Known> {
    let text = String::from_utf8(consort_files::read_regular_file(file, LONGEST).ok()?).ok()?;
    let mut lines = text.lines();
    let mut value = |name: &str| lines.next()?.strip_prefix(name)?.strip_prefix(' ').map(str::to_owned);
    let (id, system, boots) = (value("id")?, value("system")?, value("boots")?);
    (!id.is_empty()).then(|| Known { id, system, boots: boots.split(' ').map(str::to_owned).collect() })
}

fn write(file: &Path, Known { id, system, boots }: &Known) -> io::Result<()> {
    let text = format!("id {id}\nsystem {system}\nboots {}\n", boots.join(" "));
    if let Some(dir) = file.parent() {
        use std::os::unix::fs::DirBuilderExt as _;
        fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
    }
    // If two processes make the first id at once, one of the ids counts for both.
    if !create_whole(file, text.as_bytes())? && read(file).is_none_or(|known| known.id == *id) {
        replace_whole(file, text.as_bytes())?;
    }
    Ok(())
}

/// Returns the id of this installation of the system, hashed because it is nobody else's business; empty
/// if there is none.
fn system_id() -> String {
    let read = |path: &str| fs::read_to_string(path).ok().map(|id| id.trim().to_owned());
    let id = ["/etc/machine-id", "/var/lib/dbus/machine-id"].into_iter().find_map(read).unwrap_or_default();
    if id.is_empty() { id } else { blake3::hash(id.as_bytes()).to_hex()[..16].to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_stays_while_the_machine_does_and_not_on_another() {
        let temp = tempfile::tempdir().unwrap();
        let file = temp.path().join("deep/machine");
        let first = machine_id(&file, "boot-1", || [1; 10]);
        assert_eq!(machine_id(&file, "boot-1", || [2; 10]), first);
        // The machine was started again.
        assert_eq!(machine_id(&file, "boot-2", || [2; 10]), first);
        // A container of the same machine, which is another system.
        let text = fs::read_to_string(&file).unwrap();
        let system = text.lines().nth(1).unwrap().to_owned();
        fs::write(&file, text.replace(&system, "system another")).unwrap();
        assert_eq!(machine_id(&file, "boot-2", || [3; 10]), first);
        // A copy on another machine: neither the system nor the boot is known.
        if system != "system " {
            assert_ne!(machine_id(&file, "boot-9", || [4; 10]), first);
        }
        // A damaged file, or no directory to keep it in.
        fs::write(&file, "nonsense").unwrap();
        assert_eq!(machine_id(&file, "boot-9", || [5; 10]), "05".repeat(10));
        assert_eq!(machine_id(Path::new("/proc/none/machine"), "b", || [6; 10]), "boot-b");
    }
}
