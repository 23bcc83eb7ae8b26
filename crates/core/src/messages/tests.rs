//! Rules of messages, one by one.
