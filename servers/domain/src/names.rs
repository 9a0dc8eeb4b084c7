//! What users are put together from. Words of a list are of one length or nearly so, and with them all users.

/// Given names.
pub(crate) const FIRST: [&str; 16] = [
    "Olena", "Maria", "Taras", "Pavlo", "Iryna", "Yulia", "Petro", "Roman", "Oskar", "Linda", "Emily", "Amara",
    "Kenji", "Laura", "Mateo", "Oscar",
];

/// Family names.
pub(crate) const LAST: [&str; 16] = [
    "Shevchuk", "Kravchuk", "Petrenko", "Ivanenko", "Thompson", "Anderson", "Robinson", "Campbell", "Mitchell",
    "Martinez", "Gonzalez", "Yamamoto", "Nakamura", "Hoffmann", "Schwartz", "Lindgren",
];

/// Streets.
pub(crate) const STREETS: [&str; 8] = [
    "Station Road",
    "Church Street",
    "Victoria Lane",
    "Meadow Street",
    "Orchard Road",
    "Market Square",
    "Riverside Way",
    "Garden Street",
];

/// A city and what goes with it.
pub(crate) struct Place {
    pub(crate) city: &'static str,
    pub(crate) postal_code: &'static str,
    pub(crate) country: &'static str,
    pub(crate) locale: &'static str,
    /// Country and area, as a telephone number begins.
    pub(crate) dial: &'static str,
}

/// Cities.
pub(crate) const PLACES: [Place; 8] = [
    place("Kyiv", "01001", "UA", "uk-UA", "+38044"),
    place("Lviv", "79000", "UA", "uk-UA", "+38032"),
    place("Odesa", "65000", "UA", "uk-UA", "+38048"),
    place("Paris", "75001", "FR", "fr-FR", "+33142"),
    place("Berlin", "10115", "DE", "de-DE", "+49302"),
    place("Tokyo", "10005", "JP", "ja-JP", "+81352"),
    place("Quito", "17013", "EC", "es-EC", "+59322"),
    place("Cairo", "11511", "EG", "ar-EG", "+20227"),
];

const fn place(
    city: &'static str,
    postal_code: &'static str,
    country: &'static str,
    locale: &'static str,
    dial: &'static str,
) -> Place {
    Place {
        city,
        postal_code,
        country,
        locale,
        dial,
    }
}
