//! Conversions between users and the contract's messages.

use std::borrow::Cow;

use domain::{Address, Page, PageMetadata, Role, Status, User, Users};

use crate::users_v1;

/// A response with a missing field, or with a value that the contract does not define.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IncompleteAnswer(
    /// The field that is missing or unknown.
    pub &'static str,
);

impl From<&User> for users_v1::User {
    fn from(user: &User) -> Self {
        Self {
            id: user.id,
            username: user.username.clone(),
            email: user.email.clone(),
            first_name: user.first_name.clone(),
            last_name: user.last_name.clone(),
            phone_number: user.phone_number.clone(),
            status: users_v1::UserStatus::from(user.status).into(),
            role: users_v1::UserRole::from(user.role).into(),
            created_at_s: user.created_at_s,
            last_seen_at_s: user.last_seen_at_s,
            login_count: user.login_count,
            mfa_enabled: user.mfa_enabled,
            address: Some((&user.address).into()),
            locale: user.locale.clone(),
        }
    }
}

impl From<&Address> for users_v1::Address {
    fn from(address: &Address) -> Self {
        Self {
            street: address.street.clone(),
            city: address.city.clone(),
            postal_code: address.postal_code.clone(),
            country_code: address.country_code.clone(),
        }
    }
}

/// Moves the strings of an owned user instead of copying them.
impl From<User> for users_v1::User {
    fn from(user: User) -> Self {
        Self {
            id: user.id,
            username: user.username,
            email: user.email,
            first_name: user.first_name,
            last_name: user.last_name,
            phone_number: user.phone_number,
            status: users_v1::UserStatus::from(user.status).into(),
            role: users_v1::UserRole::from(user.role).into(),
            created_at_s: user.created_at_s,
            last_seen_at_s: user.last_seen_at_s,
            login_count: user.login_count,
            mfa_enabled: user.mfa_enabled,
            address: Some(user.address.into()),
            locale: user.locale,
        }
    }
}

impl From<Address> for users_v1::Address {
    fn from(address: Address) -> Self {
        Self {
            street: address.street,
            city: address.city,
            postal_code: address.postal_code,
            country_code: address.country_code,
        }
    }
}

impl From<Status> for users_v1::UserStatus {
    fn from(status: Status) -> Self {
        match status {
            Status::Active => Self::Active,
            Status::Invited => Self::Invited,
            Status::Blocked => Self::Blocked,
        }
    }
}

impl From<Role> for users_v1::UserRole {
    fn from(role: Role) -> Self {
        match role {
            Role::Viewer => Self::Viewer,
            Role::Editor => Self::Editor,
            Role::Admin => Self::Admin,
        }
    }
}

impl From<PageMetadata> for users_v1::PageMetadata {
    fn from(page: PageMetadata) -> Self {
        Self {
            number: page.number,
            size: page.size,
            total_users: page.total_users,
            total_pages: page.total_pages,
            has_next: page.has_next,
            has_previous: page.has_previous,
        }
    }
}

impl From<&[User]> for users_v1::ListUsersResponse {
    fn from(users: &[User]) -> Self {
        Self {
            users: users.iter().map(Into::into).collect(),
        }
    }
}

impl From<&Page<'_>> for users_v1::PageUsersResponse {
    fn from(page: &Page<'_>) -> Self {
        Self {
            users: page.users.iter().map(Into::into).collect(),
            page: Some(page.page.into()),
        }
    }
}

impl From<Users<'_>> for users_v1::ListUsersResponse {
    fn from(users: Users<'_>) -> Self {
        Self {
            users: given_away(users.users),
        }
    }
}

impl From<Page<'_>> for users_v1::PageUsersResponse {
    fn from(page: Page<'_>) -> Self {
        Self {
            users: given_away(page.users),
            page: Some(page.page.into()),
        }
    }
}

fn given_away(users: Cow<'_, [User]>) -> Vec<users_v1::User> {
    match users {
        Cow::Borrowed(users) => users.iter().map(Into::into).collect(),
        Cow::Owned(users) => users.into_iter().map(Into::into).collect(),
    }
}

impl TryFrom<users_v1::User> for User {
    type Error = IncompleteAnswer;

    fn try_from(user: users_v1::User) -> Result<Self, IncompleteAnswer> {
        let (status, role) = (user.status(), user.role());
        let address = user.address.ok_or(IncompleteAnswer("address"))?;
        Ok(Self {
            id: user.id,
            username: user.username,
            email: user.email,
            first_name: user.first_name,
            last_name: user.last_name,
            phone_number: user.phone_number,
            status: status.try_into()?,
            role: role.try_into()?,
            created_at_s: user.created_at_s,
            last_seen_at_s: user.last_seen_at_s,
            login_count: user.login_count,
            mfa_enabled: user.mfa_enabled,
            address: Address {
                street: address.street,
                city: address.city,
                postal_code: address.postal_code,
                country_code: address.country_code,
            },
            locale: user.locale,
        })
    }
}

impl TryFrom<users_v1::UserStatus> for Status {
    type Error = IncompleteAnswer;

    fn try_from(status: users_v1::UserStatus) -> Result<Self, IncompleteAnswer> {
        match status {
            users_v1::UserStatus::Unspecified => Err(IncompleteAnswer("status")),
            users_v1::UserStatus::Active => Ok(Self::Active),
            users_v1::UserStatus::Invited => Ok(Self::Invited),
            users_v1::UserStatus::Blocked => Ok(Self::Blocked),
        }
    }
}

impl TryFrom<users_v1::UserRole> for Role {
    type Error = IncompleteAnswer;

    fn try_from(role: users_v1::UserRole) -> Result<Self, IncompleteAnswer> {
        match role {
            users_v1::UserRole::Unspecified => Err(IncompleteAnswer("role")),
            users_v1::UserRole::Viewer => Ok(Self::Viewer),
            users_v1::UserRole::Editor => Ok(Self::Editor),
            users_v1::UserRole::Admin => Ok(Self::Admin),
        }
    }
}

impl TryFrom<users_v1::GetUserResponse> for User {
    type Error = IncompleteAnswer;

    fn try_from(answer: users_v1::GetUserResponse) -> Result<Self, IncompleteAnswer> {
        answer.user.ok_or(IncompleteAnswer("user"))?.try_into()
    }
}

impl TryFrom<users_v1::ListUsersResponse> for Users<'_> {
    type Error = IncompleteAnswer;

    fn try_from(answer: users_v1::ListUsersResponse) -> Result<Self, IncompleteAnswer> {
        Ok(Self {
            users: all(answer.users)?.into(),
        })
    }
}

impl TryFrom<users_v1::PageUsersResponse> for Page<'_> {
    type Error = IncompleteAnswer;

    fn try_from(answer: users_v1::PageUsersResponse) -> Result<Self, IncompleteAnswer> {
        let page = answer.page.ok_or(IncompleteAnswer("page"))?;
        Ok(Self {
            users: all(answer.users)?.into(),
            page: PageMetadata {
                number: page.number,
                size: page.size,
                total_users: page.total_users,
                total_pages: page.total_pages,
                has_next: page.has_next,
                has_previous: page.has_previous,
            },
        })
    }
}

fn all(users: Vec<users_v1::User>) -> Result<Vec<User>, IncompleteAnswer> {
    users.into_iter().map(TryInto::try_into).collect()
}

#[cfg(test)]
mod tests {
    use domain::{Page, User, Users, page_of_users, user, users};
    use prost::Message;

    use super::{IncompleteAnswer, users_v1};

    /// Comparison A: bytes of JSON and of protobuf.
    fn close_to(claimed: (usize, usize), found: (usize, usize)) {
        for (claimed, found) in [(claimed.0, found.0), (claimed.1, found.1)] {
            assert!(
                found.abs_diff(claimed) * 10 <= claimed,
                "{found} bytes, claimed {claimed}"
            );
        }
    }

    fn json(value: &impl serde::Serialize) -> usize {
        serde_json::to_string(value).unwrap().len()
    }

    #[test]
    fn any_one_user_is_as_large_as_claimed_within_a_tenth() {
        for id in 1..=domain::USER_COUNT {
            let user = user(id.into()).unwrap();
            let message = users_v1::GetUserResponse {
                user: Some(user.into()),
            };
            close_to((450, 180), (json(user), message.encoded_len()));
        }
    }

    #[test]
    fn twenty_users_are_as_large_as_claimed_within_a_tenth() {
        let users = users(20).unwrap();
        let message = users_v1::ListUsersResponse::from(&*users.users);
        close_to((8_100, 3_200), (json(&users), message.encoded_len()));
    }

    #[test]
    fn any_page_of_fifty_is_as_large_as_claimed_within_a_tenth() {
        for number in 1..=20 {
            let page = page_of_users(number, 50).unwrap();
            let message = users_v1::PageUsersResponse::from(&page);
            close_to((19_500, 7_800), (json(&page), message.encoded_len()));
        }
    }

    #[test]
    fn users_come_back_as_they_were() {
        let page = page_of_users(20, 50).unwrap();
        let bytes = users_v1::PageUsersResponse::from(&page).encode_to_vec();
        let back = users_v1::PageUsersResponse::decode(bytes.as_slice()).unwrap();
        let back = Page::try_from(back).unwrap();
        assert_eq!(back, page);
        assert_eq!(users_v1::PageUsersResponse::from(back).encode_to_vec(), bytes);
        let users = users(100).unwrap();
        let message = users_v1::ListUsersResponse::from(&*users.users);
        assert_eq!(Users::try_from(message), Ok(users));
    }

    #[test]
    fn an_answer_that_leaves_something_out_is_told_apart() {
        let nothing = users_v1::GetUserResponse { user: None };
        assert_eq!(User::try_from(nothing), Err(IncompleteAnswer("user")));
        let homeless = users_v1::User {
            address: None,
            ..user(1).unwrap().into()
        };
        assert_eq!(User::try_from(homeless), Err(IncompleteAnswer("address")));
        let without_role = users_v1::User {
            role: 77,
            ..user(1).unwrap().into()
        };
        assert_eq!(User::try_from(without_role), Err(IncompleteAnswer("role")));
    }
}
