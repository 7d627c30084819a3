//! Distinct: lists in which nothing is said twice.

/// Each item once, where it came first.
pub(crate) fn each_once<T: PartialEq>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut each = vec![];
    for item in items {
        if !each.contains(&item) {
            each.push(item);
        }
    }
    each
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_twice_stays_where_it_was_said_first() {
        assert_eq!(each_once([3, 1, 3, 2, 1]), [3, 1, 2]);
    }
}
