//! Questions about users, and their answers.

use std::borrow::Cow;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::people::{USER_COUNT, User, all_users};
use crate::user_error::UserError;

/// The most users that one answer holds.
const MOST_AT_ONCE: u32 = 100;
/// The most users that one stream sends.
const MOST_STREAMED: u32 = 10_000;
/// The longest pause between two users of a stream, in ms.
const LONGEST_INTERVAL_MS: u32 = 1_000;

/// Several users.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Users<'a> {
    /// In the order of their ids.
    pub users: Cow<'a, [User]>,
}

/// One page of all users.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Page<'a> {
    /// In the order of their ids; the last page may have fewer than its size.
    pub users: Cow<'a, [User]>,
    /// Where the page stands.
    pub page: PageMetadata,
}

/// Where a page stands among the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PageMetadata {
    /// The page, from 1.
    pub number: u32,
    /// Users on a page.
    pub size: u32,
    /// Users on all pages together.
    pub total_users: u32,
    /// How many pages there are.
    pub total_pages: u32,
    /// Whether a page follows.
    pub has_next: bool,
    /// Whether a page precedes.
    pub has_previous: bool,
}

/// The user with this id.
///
/// # Errors
/// [`UserError::UnknownUser`] when nobody has it.
pub fn user(id: i64) -> Result<&'static User, UserError> {
    let index = usize::try_from(id).ok().and_then(|id| id.checked_sub(1));
    index
        .and_then(|index| all_users().get(index))
        .ok_or(UserError::UnknownUser { id })
}

/// The first `limit` users.
///
/// # Errors
/// [`UserError::OutOfRange`] when the limit is not from 1 to 100.
pub fn users(limit: i64) -> Result<Users<'static>, UserError> {
    let limit = UserError::in_range("limit", limit, 1, MOST_AT_ONCE)?;
    Ok(Users {
        users: all_users()[..limit as usize].into(),
    })
}

/// Page number `page`, from 1, with `size` users on a page.
///
/// # Errors
/// [`UserError::OutOfRange`] when the page is below 1 or the size not from 1 to 100, [`UserError::BeyondLastPage`] when there
/// is no such page.
pub fn page_of_users(page: i64, size: i64) -> Result<Page<'static>, UserError> {
    let page = span_of_page(page, size)?;
    let first = (page.number - 1) * page.size;
    let last = (first + page.size).min(USER_COUNT);
    Ok(Page {
        users: all_users()[first as usize..last as usize].into(),
        page,
    })
}

/// Where page number `page` stands, without its users: those with `size` ids from `(page - 1) · size + 1`.
///
/// # Errors
/// As [`page_of_users`].
pub fn span_of_page(page: i64, size: i64) -> Result<PageMetadata, UserError> {
    let size = UserError::in_range("size", size, 1, MOST_AT_ONCE)?;
    let total_pages = USER_COUNT.div_ceil(size);
    if page > total_pages.into() {
        return Err(UserError::BeyondLastPage {
            page,
            size,
            last: total_pages,
        });
    }
    let number = UserError::in_range("page", page, 1, total_pages)?;
    Ok(PageMetadata {
        number,
        size,
        total_users: USER_COUNT,
        total_pages,
        has_next: number < total_pages,
        has_previous: number > 1,
    })
}

/// `count` users in the order of their ids, from the beginning again after the last, and the pause before each but the first.
///
/// # Errors
/// [`UserError::OutOfRange`] when the count is not from 1 to 10,000 or the interval not from 0 to 1,000 ms.
pub fn stream_of_users(
    count: i64,
    interval_ms: i64,
) -> Result<(impl Iterator<Item = &'static User> + Send + 'static, Duration), UserError> {
    let count = UserError::in_range("count", count, 1, MOST_STREAMED)?;
    let interval_ms = UserError::in_range("interval_ms", interval_ms, 0, LONGEST_INTERVAL_MS)?;
    let users = all_users().iter().cycle().take(count as usize);
    Ok((users, Duration::from_millis(interval_ms.into())))
}

#[cfg(test)]
mod tests {
    use super::{page_of_users, stream_of_users, user, users};
    use crate::{Fault, USER_COUNT, UserError};

    #[test]
    fn every_id_is_answered_with_its_user() {
        for id in 1..=USER_COUNT {
            assert_eq!(user(id.into()).unwrap().id, id);
        }
        for id in [0, -1, 1_001, i64::MIN, i64::MAX] {
            let error = user(id).unwrap_err();
            assert_eq!((error, error.fault()), (UserError::UnknownUser { id }, Fault::NotFound));
        }
        assert_eq!(
            user(-1).unwrap_err().to_string(),
            "no user with id -1: ids are 1 to 1000"
        );
    }

    #[test]
    fn a_list_is_as_long_as_asked() {
        for limit in [1, 20, 100] {
            assert_eq!(i64::try_from(users(limit).unwrap().users.len()), Ok(limit));
        }
        for limit in [0, -1, 101, i64::MIN, i64::MAX] {
            assert_eq!(users(limit).unwrap_err().fault(), Fault::Invalid);
        }
        let text = users(101).unwrap_err().to_string();
        assert_eq!(text, "limit is 101: expected 1 to 100");
    }

    #[test]
    fn pages_hold_every_user_once() {
        for size in [1, 7, 50, 100] {
            let mut ids = Vec::new();
            let mut number = 1;
            loop {
                let page = page_of_users(number, size).unwrap();
                ids.extend(page.users.iter().map(|user| user.id));
                assert_eq!(page.page.has_previous, number > 1);
                if !page.page.has_next {
                    break;
                }
                number += 1;
            }
            assert!(ids.into_iter().eq(1..=USER_COUNT), "size {size}");
        }
    }

    #[test]
    fn a_page_that_cannot_be_is_refused() {
        for (page, size, expected) in [
            (21, 50, Fault::NotFound),
            (i64::MAX, 1, Fault::NotFound),
            (0, 50, Fault::Invalid),
            (-1, 50, Fault::Invalid),
            (1, 0, Fault::Invalid),
            (1, -50, Fault::Invalid),
            (1, 101, Fault::Invalid),
            (1, i64::MAX, Fault::Invalid),
        ] {
            let error = page_of_users(page, size).unwrap_err();
            assert_eq!(error.fault(), expected, "page {page} of {size}: {error}");
        }
        let text = page_of_users(21, 50).unwrap_err().to_string();
        assert_eq!(text, "no page 21: with 50 users on a page the last one is 20");
    }

    #[test]
    fn a_stream_begins_again_after_the_last_user() {
        let (stream, pause) = stream_of_users(1_002, 5).unwrap();
        let ids: Vec<u32> = stream.map(|user| user.id).collect();
        assert_eq!((ids.len(), ids[999], ids[1_000], ids[1_001]), (1_002, 1_000, 1, 2));
        assert_eq!(pause.as_millis(), 5);
        for (count, interval) in [(0, 0), (10_001, 0), (1, -1), (1, 1_001)] {
            assert!(stream_of_users(count, interval).is_err());
        }
    }
}
