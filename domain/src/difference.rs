//! Differences: what is new in a requested change, and how it reaches the state.

/// The wanted value, if there is one and it is not the current one already.
pub(crate) fn differing<'a, T: PartialEq + 'a>(wanted: Option<T>, current: impl Into<Option<&'a T>>) -> Option<T> {
    let current = current.into();
    wanted.filter(|wanted| Some(wanted) != current)
}

/// Puts a changed value in its place; an unchanged one stays.
pub(crate) fn assign<T>(place: &mut T, changed: Option<T>) {
    if let Some(value) = changed {
        *place = value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_wanted_value_that_is_not_there_yet_differs() {
        assert_eq!(differing(Some(2), &1), Some(2));
        assert_eq!(differing(Some(1), &1), None);
        assert_eq!(differing(None, &1), None);
    }

    #[test]
    fn any_value_differs_from_none() {
        assert_eq!(differing(Some(1), &None), Some(1));
        assert_eq!(differing(Some(1), &Some(1)), None);
    }
}
