//! The order of items after a function: returned ones among those that the function did not receive.

use krm_core::functions::resource_list::Item;

use super::Returned;

/// Puts the returned items at the positions of the sent ones, in the order in which they were returned. A new item follows
/// the one that it was returned after; the last new ones are at the end.
pub(super) fn merge(all: &[Item], selected: &[usize], returned: Returned) -> Vec<Item> {
    let Returned { items, from } = returned;
    if selected.len() == all.len() {
        return items;
    }
    let mut returned = items.into_iter().zip(from).peekable();
    let mut merged = Vec::with_capacity(all.len());
    let mut selected = selected.iter().copied().peekable();
    for (at, item) in all.iter().enumerate() {
        if selected.next_if_eq(&at).is_none() {
            merged.push(item.clone());
            continue;
        }
        merged.extend(returned.next().map(|(item, _)| item));
        while let Some((item, _)) = returned.next_if(|(_, from)| from.is_none()) {
            merged.push(item);
        }
    }
    merged.extend(returned.map(|(item, _)| item));
    merged
}
