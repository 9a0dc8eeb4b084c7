//! The users in an embedded database: a file that is made when the server starts, and one reader for each thread.
//!
//! A look-up takes some 10 µs: handing it to another thread and back would take longer, so whoever answers a request reads.

use std::sync::{Mutex, MutexGuard, PoisonError};

use domain::{Address, Role, Status, User};
use rusqlite::types::Type;
use rusqlite::{Connection, OpenFlags, OptionalExtension, Row, params};

use super::error::StoreError;

const SCHEMA: &str = "
CREATE TABLE users (
    id INTEGER PRIMARY KEY,
    username TEXT NOT NULL UNIQUE,
    email TEXT NOT NULL,
    first_name TEXT NOT NULL,
    last_name TEXT NOT NULL,
    phone_number TEXT NOT NULL,
    status INTEGER NOT NULL,
    role INTEGER NOT NULL,
    created_at_s INTEGER NOT NULL,
    last_seen_at_s INTEGER NOT NULL,
    login_count INTEGER NOT NULL,
    mfa_enabled INTEGER NOT NULL,
    street TEXT NOT NULL,
    city TEXT NOT NULL,
    postal_code TEXT NOT NULL,
    country_code TEXT NOT NULL,
    locale TEXT NOT NULL
) STRICT";

const ADD: &str =
    "INSERT INTO users VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)";
const ONE: &str = "SELECT * FROM users WHERE id = ?1";
const SPAN: &str = "SELECT * FROM users WHERE id BETWEEN ?1 AND ?2 ORDER BY id";

/// A database of users, read by several threads.
#[derive(Debug)]
pub(crate) struct Database {
    /// As many as there are threads that read, so that one is always free.
    readers: Vec<Mutex<Connection>>,
}

impl Database {
    /// Writes `users` to a database of their own, and opens `readers` connections to it.
    ///
    /// Its file is taken out of its folder at once: whatever ends the process, nothing is left behind.
    pub(super) fn make(users: &[User], readers: usize) -> Result<Self, StoreError> {
        let folder = tempfile::tempdir().map_err(StoreError::Folder)?;
        let file = folder.path().join("users.sqlite");
        let mut writer = Connection::open(&file)?;
        let adding = writer.transaction()?;
        adding.execute_batch(SCHEMA)?;
        for user in users {
            add(&adding, user)?;
        }
        adding.commit()?;
        drop(writer);
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let reader = |_| -> Result<_, rusqlite::Error> {
            let reader = Connection::open_with_flags(&file, flags)?;
            // Opens the file, which is only there now.
            reader.query_row(ONE, [1], |_| Ok(()))?;
            Ok(Mutex::new(reader))
        };
        let readers = (0..readers.max(1)).map(reader).collect::<Result<_, _>>()?;
        folder.close().map_err(StoreError::Folder)?;
        Ok(Self { readers })
    }

    /// The user with this id.
    pub(super) fn user(&self, id: i64) -> Result<Option<User>, rusqlite::Error> {
        let reader = self.reader();
        reader.prepare_cached(ONE)?.query_row([id], user).optional()
    }

    /// The users whose ids are `first` to `last`, in the order of their ids.
    pub(super) fn users(&self, first: i64, last: i64) -> Result<Vec<User>, rusqlite::Error> {
        let reader = self.reader();
        let mut span = reader.prepare_cached(SPAN)?;
        let users = span.query_map([first, last], user)?;
        users.collect()
    }

    /// A reader that nobody uses; where there is none, the first one's turn is waited for.
    fn reader(&self) -> MutexGuard<'_, Connection> {
        let free = self.readers.iter().find_map(|reader| reader.try_lock().ok());
        // A connection is none the worse for a panic elsewhere.
        free.unwrap_or_else(|| self.readers[0].lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn add(database: &Connection, user: &User) -> Result<(), rusqlite::Error> {
    let address = &user.address;
    database.prepare_cached(ADD)?.execute(params![
        user.id,
        user.username,
        user.email,
        user.first_name,
        user.last_name,
        user.phone_number,
        status_number(user.status),
        role_number(user.role),
        user.created_at_s,
        user.last_seen_at_s,
        user.login_count,
        user.mfa_enabled,
        address.street,
        address.city,
        address.postal_code,
        address.country_code,
        user.locale,
    ])?;
    Ok(())
}

/// Reads a row whose columns are in the order of the table.
fn user(row: &Row<'_>) -> Result<User, rusqlite::Error> {
    let unknown =
        |column: usize, name: &str| rusqlite::Error::InvalidColumnType(column, name.to_owned(), Type::Integer);
    Ok(User {
        id: row.get(0)?,
        username: row.get(1)?,
        email: row.get(2)?,
        first_name: row.get(3)?,
        last_name: row.get(4)?,
        phone_number: row.get(5)?,
        status: status(row.get(6)?).ok_or_else(|| unknown(6, "status"))?,
        role: role(row.get(7)?).ok_or_else(|| unknown(7, "role"))?,
        created_at_s: row.get(8)?,
        last_seen_at_s: row.get(9)?,
        login_count: row.get(10)?,
        mfa_enabled: row.get(11)?,
        address: Address {
            street: row.get(12)?,
            city: row.get(13)?,
            postal_code: row.get(14)?,
            country_code: row.get(15)?,
        },
        locale: row.get(16)?,
    })
}

fn status_number(status: Status) -> u8 {
    match status {
        Status::Active => 1,
        Status::Invited => 2,
        Status::Blocked => 3,
    }
}

fn status(number: u8) -> Option<Status> {
    let all = [Status::Active, Status::Invited, Status::Blocked];
    all.into_iter().find(|status| status_number(*status) == number)
}

fn role_number(role: Role) -> u8 {
    match role {
        Role::Viewer => 1,
        Role::Editor => 2,
        Role::Admin => 3,
    }
}

fn role(number: u8) -> Option<Role> {
    let all = [Role::Viewer, Role::Editor, Role::Admin];
    all.into_iter().find(|role| role_number(*role) == number)
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(error)
    }
}
