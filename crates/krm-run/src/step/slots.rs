//! Where the items that a function gave stand among those that it did not get.

use krm_core::functions::resource_list::Item;

use super::Made;

/// Puts what came back into the places of what was sent, in the order in which it came back. A new item stands behind the
/// one that it came back behind, and the last ones at the end.
pub(super) fn fill(
    all: &[Item],
    chosen: &[usize],
    items: Vec<Item>,
    from: &[Option<usize>],
) -> Vec<Item> {
    let mut coming = items.into_iter().zip(from).peekable();
    let mut out = Vec::with_capacity(all.len());
    let mut chosen = chosen.iter().copied().peekable();
    for (at, item) in all.iter().enumerate() {
        if chosen.next_if_eq(&at).is_none() {
            out.push(item.clone());
            continue;
        }
        out.extend(coming.next().map(|(item, _)| item));
        while let Some((item, _)) = coming.next_if(|(_, from)| from.is_none()) {
            out.push(item);
        }
    }
    out.extend(coming.map(|(item, _)| item));
    out
}

/// What was sent and did not come back.
pub(super) fn gone(made: &Made, sent: &[&Item]) -> Vec<Item> {
    let mut came = vec![false; sent.len()];
    made.from.iter().flatten().for_each(|at| came[*at] = true);
    sent.iter().zip(came).filter(|(_, came)| !came).map(|(item, _)| (*item).clone()).collect()
}
