//! Safe file access, for files that an attacker may have prepared, and for directories that
//! are ours.
//!
//! A repository can bring links, pipes and devices under any name, and the
//! directory we keep our state in may be one that the user shares with us. So
//! this crate is the only place that
//!
//! - reads, replaces and copies files in a repository ([`NoFollowTree`]): **no link is followed
//!   at any level**, only regular files are opened, and a size limit holds;
//! - reads other small files ([`read_regular_file`]) and replaces files of the user's own
//!   ([`replace`]), atomically and with their mode kept;
//! - removes directories recursively ([`OurDir`]), and only **below a directory
//!   that carries our marker**.

mod copy;
mod our_dir;
mod read;
mod replace;
mod temporary_files;
mod tree;
mod whole;

pub use our_dir::MARKER;
pub use our_dir::OurDir;
pub use read::is_regular;
pub use read::read_open;
pub use read::read_regular_file;
pub use replace::NewFileMode;
pub use replace::replace;
pub use temporary_files::TemporaryFiles;
pub use tree::NoFollowTree;
pub use whole::create_whole;
pub use whole::replace_whole;
