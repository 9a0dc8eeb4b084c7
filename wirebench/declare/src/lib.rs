//! Declarations: the TOML files of scenarios, servers, drivers and claims, found by folder or as tables of
//! `wirebench.toml`.

pub mod accepted;
pub mod args;
pub mod builtin;
pub mod claims;
pub mod compare;
pub mod count;
pub mod driver;
pub mod found;
mod limits;
pub mod load;
mod load_table;
mod operation;
pub mod percent;
pub mod plan;
pub mod prices;
pub mod profiles;
mod program;
pub mod project;
pub mod protocol;
pub mod read;
pub mod scenario;
pub mod seed;
pub mod server;
mod server_table;
pub mod span;
pub mod tier;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use claims::PublicComparison;
use driver::Driver;
use found::Kind;
use profiles::Profiles;
use project::{Config, ServerTables};
use read::{DeclareError, Place, toml_file};
use scenario::Scenario;
use server::Server;

/// Everything a project declares.
#[derive(Debug, Clone)]
pub struct Project {
    /// The folder that holds `wirebench.toml`.
    pub root: PathBuf,
    /// `wirebench.toml`.
    pub config: Config,
    /// Scenarios by name, in order.
    pub scenarios: Vec<Scenario>,
    /// Servers by name, in order.
    pub servers: Vec<Server>,
    /// Drivers by name, in order.
    pub drivers: Vec<Driver>,
    /// Public comparisons, by name, in order.
    pub claims: Vec<PublicComparison>,
}

impl Project {
    /// Reads the project whose `wirebench.toml` lies in `root`.
    ///
    /// # Errors
    /// At the first declaration that cannot be read or is wrong.
    pub fn read(root: &Path) -> Result<Self, DeclareError> {
        let (mut config, tables) = Config::with_tables(&root.join("wirebench.toml"))?;
        let claims = found::all(Kind::Claims, root, BTreeMap::new(), PublicComparison::check)?;
        config.add_claims(&root.join("wirebench.toml"), &claims)?;
        let known = &config.profiles;
        let servers = Self::servers(root, tables.servers, |server, place| {
            server.profiles.check(place, known)
        })?;
        let mut scenarios = found::several(Kind::Scenario, root, tables.scenarios, |table, place, name| {
            let scenarios = Scenario::check(table, place, name)?;
            let mut each = scenarios.iter();
            each.try_for_each(|(_, one)| one.profiles.check(place, known))?;
            Ok(scenarios)
        })?;
        if let Some(message) = config.count.names_no_operation(&servers) {
            let file = root.join("wirebench.toml");
            return Err(DeclareError::key(&file, "count.operations", message));
        }
        scenarios.extend(config.count.scenarios(&servers, &scenarios));
        let drivers = Self::drivers_in(root, &config)?;
        Self::check_drivers(root, &scenarios, &drivers)?;
        Ok(Self {
            root: root.to_path_buf(),
            config,
            scenarios,
            servers,
            drivers,
            claims,
        })
    }

    /// Checks that each driver that a scenario names is declared.
    fn check_drivers(root: &Path, scenarios: &[Scenario], drivers: &[Driver]) -> Result<(), DeclareError> {
        let unknown = |name: &&String| drivers.iter().all(|driver| driver.name != **name);
        for scenario in scenarios {
            if let Some(name) = scenario.drivers.iter().flatten().find(unknown) {
                let known: Vec<&str> = drivers.iter().map(|driver| driver.name.as_str()).collect();
                let message = format!("no driver \"{name}\"; there are {}", known.join(", "));
                let key = format!("scenario {}: drivers", scenario.name);
                return Err(DeclareError::key(&root.join("wirebench.toml"), &key, message));
            }
        }
        Ok(())
    }

    /// Reads only the servers of the project in `root`, and ignores other keys of its `wirebench.toml`.
    ///
    /// # Errors
    /// At the first one that cannot be read or is wrong.
    pub fn servers_in(root: &Path) -> Result<Vec<Server>, DeclareError> {
        let tables: ServerTables = toml_file(&root.join("wirebench.toml"))?;
        Self::servers(root, tables.servers, |_, _| Ok(()))
    }

    /// The servers of the project and their configurations, in the order of their names; each is handed to `check`.
    fn servers(
        root: &Path,
        tables: BTreeMap<String, server_table::Table>,
        check: impl Fn(&Server, &Place) -> Result<(), DeclareError>,
    ) -> Result<Vec<Server>, DeclareError> {
        let mut servers = found::several(Kind::Server, root, tables, |table, place, name| {
            let servers = Server::check_all(table, place, name)?;
            servers.iter().try_for_each(|(_, server)| check(server, place))?;
            Ok(servers)
        })?;
        servers.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(servers)
    }

    /// The project's own drivers, and those that come with the program, in the order of their names.
    fn drivers_in(root: &Path, config: &Config) -> Result<Vec<Driver>, DeclareError> {
        let own = root.join("drivers/lib");
        let library = if own.is_dir() {
            own
        } else {
            root.join(".wirebench").join(builtin::folder()).join("lib")
        };
        let check = |driver: Driver, place: &Place, name| {
            let driver = driver.check(place, name, library.clone())?;
            driver.profiles.check(place, &config.profiles).map(|()| driver)
        };
        let mut drivers = found::all(Kind::Driver, root, BTreeMap::new(), check)?;
        let declared = |name: &str| drivers.iter().any(|driver| driver.name == name);
        let wanted = |name: &&str| config.builtin_drivers.iter().any(|wanted| wanted == name) && !declared(name);
        let names: Vec<&str> = builtin::NAMES.into_iter().filter(wanted).collect();
        // A project that lists a built-in driver uses it in every profile; the `profiles` in its file are for this
        // repository.
        drivers.extend(builtin::drivers(root, &names)?.into_iter().map(|driver| Driver {
            profiles: Profiles::all(),
            ..driver
        }));
        drivers.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(drivers)
    }

    /// True if files of built-in drivers must be written below `.wirebench/` before jq can read them.
    #[must_use]
    pub fn uses_builtin_files(&self) -> bool {
        let builtin = self.root.join(".wirebench").join(builtin::folder());
        self.drivers.iter().any(|driver| driver.library.starts_with(&builtin))
    }
}
