//! A history → the dashboard: real pages with facts, tables and pictures in them, and the data from which their scripts draw.
//! Judges nothing: what is worse is the history's word, what a run compared is the comparison's.

mod frame;
