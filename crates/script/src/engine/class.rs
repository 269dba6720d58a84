//! The engine's class numbers of the objects that cross (they are fixed in its sources).

pub(super) const OBJECT: u32 = 1;
pub(super) const ARRAY: u32 = 2;
pub(super) const ARGUMENTS: u32 = 8;
pub(super) const MAPPED_ARGUMENTS: u32 = 9;
pub(super) const DATE: u32 = 10;
pub(super) const MODULE_NAMESPACE: u32 = 11;
pub(super) const REGEXP: u32 = 19;
pub(super) const ARRAY_BUFFER: u32 = 20;
pub(super) const DATA_VIEW: u32 = 34;
pub(super) const MAP: u32 = 36;
pub(super) const SET: u32 = 37;
pub(super) const WEAK_MAP: u32 = 38;
pub(super) const WEAK_SET: u32 = 39;
