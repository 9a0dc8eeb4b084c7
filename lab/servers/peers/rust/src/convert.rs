//! Our servers' data as messages of the contract.

use domain::{Role, Status, User, Weather};

use crate::users::{Address, StreamUsersResponse, User as UserMessage, UserRole, UserStatus};
use crate::weather::GetCurrentWeatherResponse;

impl From<&Weather> for GetCurrentWeatherResponse {
    fn from(weather: &Weather) -> Self {
        Self {
            city: weather.city.to_owned(),
            temperature_c: weather.temperature_c,
            humidity: weather.humidity,
            condition: weather.condition.to_owned(),
        }
    }
}

impl From<&User> for StreamUsersResponse {
    fn from(user: &User) -> Self {
        let status = match user.status {
            Status::Active => UserStatus::Active,
            Status::Invited => UserStatus::Invited,
            Status::Blocked => UserStatus::Blocked,
        };
        let role = match user.role {
            Role::Viewer => UserRole::Viewer,
            Role::Editor => UserRole::Editor,
            Role::Admin => UserRole::Admin,
        };
        let message = UserMessage {
            id: user.id,
            username: user.username.clone(),
            email: user.email.clone(),
            first_name: user.first_name.clone(),
            last_name: user.last_name.clone(),
            phone_number: user.phone_number.clone(),
            status: status.into(),
            role: role.into(),
            created_at_s: user.created_at_s,
            last_seen_at_s: user.last_seen_at_s,
            login_count: user.login_count,
            mfa_enabled: user.mfa_enabled,
            address: Some(Address {
                street: user.address.street.clone(),
                city: user.address.city.clone(),
                postal_code: user.address.postal_code.clone(),
                country_code: user.address.country_code.clone(),
            }),
            locale: user.locale.clone(),
        };
        Self { user: Some(message) }
    }
}
