//! The door for whoever comes over HTTP: the outcomes' own JSON, the journal as
//! it grows, and whatever service is put beside them.
//!
//! Bound to this machine unless asked otherwise. **A call needs the token, and
//! nothing that a page of another site can make a browser send is a call**; who
//! calls is told by its processes, as everywhere, and not by the token.

mod api;
mod events;
mod guard;
mod reply;
mod site;

pub use guard::Token;
pub use site::Site;
