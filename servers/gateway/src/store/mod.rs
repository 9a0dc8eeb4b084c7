//! A repository's users: in SQLite, or in memory.

mod error;
mod sqlite;

use std::borrow::Cow;

use clap::ValueEnum;
use domain::{Page, User, UserError, Users};

use crate::failure::{Failure, Kind as FailureKind};
use error::StoreError;
use sqlite::Database;

/// Where the users are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// An embedded database with a file of its own, which is gone when the process is
    Sqlite,
    /// The program's own memory
    Memory,
}

/// All users; they answer the same whatever they are kept in.
#[derive(Debug)]
pub(crate) enum Store {
    /// In a database.
    Sqlite(Database),
    /// In memory.
    Memory,
}

impl Store {
    /// Makes the store, for so many threads that read at the same time.
    pub(crate) fn open(kind: Kind, threads: usize) -> Result<Self, StoreError> {
        match kind {
            Kind::Sqlite => Database::make(domain::all_users(), threads).map(Self::Sqlite),
            Kind::Memory => Ok(Self::Memory),
        }
    }

    /// The user with this id.
    pub(crate) fn user(&self, id: i64) -> Result<Cow<'static, User>, Failure> {
        match self {
            Self::Sqlite(database) => match database.user(id)? {
                Some(user) => Ok(Cow::Owned(user)),
                None => Err(UserError::UnknownUser { id }.into()),
            },
            Self::Memory => Ok(Cow::Borrowed(domain::user(id)?)),
        }
    }

    /// The first `limit` users.
    pub(crate) fn users(&self, limit: i64) -> Result<Users<'static>, Failure> {
        let users = domain::users(limit)?;
        match self {
            Self::Sqlite(database) => Ok(Users {
                users: database.users(1, limit)?.into(),
            }),
            Self::Memory => Ok(users),
        }
    }

    /// Page number `page` with `size` users on a page.
    pub(crate) fn page(&self, page: i64, size: i64) -> Result<Page<'static>, Failure> {
        match self {
            Self::Sqlite(database) => {
                let page = domain::span_of_page(page, size)?;
                let (number, size) = (i64::from(page.number), i64::from(page.size));
                let users = database.users((number - 1) * size + 1, number * size)?.into();
                Ok(Page { users, page })
            }
            Self::Memory => Ok(domain::page_of_users(page, size)?),
        }
    }
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        Self::new(FailureKind::Broken, &format!("the store cannot be read: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::{Kind, Store};

    #[test]
    fn both_stores_answer_every_question_alike() {
        let sqlite = Store::open(Kind::Sqlite, 2).unwrap();
        let memory = Store::open(Kind::Memory, 2).unwrap();
        for id in (-1..=1_001).chain([i64::MIN, i64::MAX]) {
            assert_eq!(sqlite.user(id), memory.user(id), "user {id}");
        }
        for limit in (-1..=101).chain([i64::MIN, i64::MAX]) {
            assert_eq!(sqlite.users(limit), memory.users(limit), "{limit} users");
        }
        for (page, size) in [(1, 50), (20, 50), (21, 50), (143, 7), (0, 50), (1, -50), (i64::MAX, 1)] {
            assert_eq!(
                sqlite.page(page, size),
                memory.page(page, size),
                "page {page} of {size}"
            );
        }
    }
}
