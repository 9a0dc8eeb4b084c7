//! The data all servers answer with: fixed, in memory, the same bytes every time.

mod cities;
mod document;
mod error;
mod names;
mod people;
mod random;
mod user_error;
mod users;
mod weather;

pub use cities::{CITIES, Weather};
pub use document::{MetricsDocument, metrics_document};
pub use error::WeatherError;
pub use people::{Address, Role, Status, USER_COUNT, User, all_users};
pub use user_error::{Fault, UserError};
pub use users::{Page, PageMetadata, Users, page_of_users, span_of_page, stream_of_users, user, users};
pub use weather::current_weather;
