//! The built-in users: what one is, and how they are made.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use crate::names::{FIRST, LAST, PLACES, STREETS};
use crate::random::Random;

/// How many users there are; their ids are 1 to this.
pub const USER_COUNT: u32 = 1_000;

/// Someone with an account. Serialises to a JSON object of about 420 bytes, in the words of the proto3 JSON form of the gRPC
/// answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct User {
    /// From 1, without gaps.
    pub id: u32,
    /// The name to log in with.
    pub username: String,
    /// Where to write to.
    pub email: String,
    /// Given name.
    pub first_name: String,
    /// Family name.
    pub last_name: String,
    /// Telephone number in the international form, without blanks.
    pub phone_number: String,
    /// Whether the account may be used.
    pub status: Status,
    /// What the account may do.
    pub role: Role,
    /// When the account was made, in seconds since 1970-01-01 UTC.
    pub created_at_s: u32,
    /// When the account was last used, in seconds since 1970-01-01 UTC.
    pub last_seen_at_s: u32,
    /// How often the account was used.
    pub login_count: u32,
    /// Whether logging in asks for a second factor.
    pub mfa_enabled: bool,
    /// Where the user lives.
    pub address: Address,
    /// Language and country, such as "uk-UA".
    pub locale: String,
}

/// A postal address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Address {
    /// House number, street and flat.
    pub street: String,
    /// City.
    pub city: String,
    /// Postal code.
    pub postal_code: String,
    /// Country, as two letters.
    pub country_code: String,
}

/// Whether an account may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Status {
    /// It may.
    #[serde(rename = "USER_STATUS_ACTIVE")]
    Active,
    /// It waits for its owner's confirmation.
    #[serde(rename = "USER_STATUS_INVITED")]
    Invited,
    /// It may not, for now.
    #[serde(rename = "USER_STATUS_BLOCKED")]
    Blocked,
}

/// What an account may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Role {
    /// Look.
    #[serde(rename = "USER_ROLE_VIEWER")]
    Viewer,
    /// Look and change.
    #[serde(rename = "USER_ROLE_EDITOR")]
    Editor,
    /// Everything.
    #[serde(rename = "USER_ROLE_ADMIN")]
    Admin,
}

/// All users in the order of their ids, made when first asked for.
pub fn all_users() -> &'static [User] {
    static USERS: LazyLock<Vec<User>> = LazyLock::new(|| (1..=USER_COUNT).map(make).collect());
    &USERS
}

/// Makes the user with this id: always the same one.
fn make(id: u32) -> User {
    let mut random = Random::new(u64::from(id));
    let (first, last) = (*random.one_of(&FIRST), *random.one_of(&LAST));
    let username = format!("{}.{}{id:04}", first.to_lowercase(), last.to_lowercase());
    let place = random.one_of(&PLACES);
    let created_at_s = random.between(1_500_000_000, 1_700_000_000);
    User {
        id,
        email: format!("{username}@mail.example.com"),
        username,
        first_name: first.to_owned(),
        last_name: last.to_owned(),
        phone_number: format!("{}{:07}", place.dial, random.between(0, 9_999_999)),
        status: *random.one_of(&[Status::Active, Status::Invited, Status::Blocked]),
        role: *random.one_of(&[Role::Viewer, Role::Editor, Role::Admin]),
        created_at_s,
        last_seen_at_s: created_at_s + random.between(86_400, 50_000_000),
        login_count: random.between(128, 9_999),
        mfa_enabled: *random.one_of(&[true, false]),
        address: Address {
            street: format!(
                "{} {}, Flat {}",
                random.between(10, 99),
                random.one_of(&STREETS),
                random.between(10, 99)
            ),
            city: place.city.to_owned(),
            postal_code: place.postal_code.to_owned(),
            country_code: place.country.to_owned(),
        },
        locale: place.locale.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{USER_COUNT, User, all_users, make};

    #[test]
    fn ids_have_no_gaps_and_names_occur_once() {
        let mut names: Vec<&str> = all_users().iter().map(|user| user.username.as_str()).collect();
        assert!(all_users().iter().map(|user| user.id).eq(1..=USER_COUNT));
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), USER_COUNT as usize);
    }

    #[test]
    fn a_user_is_made_the_same_every_time() {
        assert_eq!(make(7), make(7));
        assert_ne!(make(7), User { id: 7, ..make(8) });
    }

    #[test]
    fn the_first_user_is_pinned() {
        let json = serde_json::to_string(&all_users()[0]).unwrap();
        assert_eq!(json, include_str!("../tests/first-user.json").trim_end());
    }

    #[test]
    fn a_user_comes_back_from_json() {
        for user in all_users() {
            let json = serde_json::to_string(user).unwrap();
            assert_eq!(serde_json::from_str::<User>(&json).unwrap(), *user);
        }
    }
}
