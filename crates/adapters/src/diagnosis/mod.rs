//! Measurements for `cuepoint doctor`: of the machine, of the way to other services, and of what this service sees.

pub mod echo;
pub mod machine;
pub mod reachability;
