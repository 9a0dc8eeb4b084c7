//! Groups of flags that several verbs have, and the values that they take.

pub(crate) mod fail_on;
pub(crate) mod hosts;
pub(crate) mod lock;
pub(crate) mod metric;
pub(crate) mod only;
pub(crate) mod selection;
pub(crate) mod sides;
