//! Declarations: the TOML files of scenarios, servers and drivers, found by folder or as tables of `wirebench.toml`.

pub mod accepted;
pub mod args;
pub mod builtin;
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
pub mod profiles;
mod program;
pub mod project;
pub mod protocol;
pub mod read;
pub mod runtime;
pub mod scenario;
pub mod seed;
pub mod server;
pub mod span;
pub mod tier;

use std::collections::BTreeMap;
use std::mem::take;
use std::path::{Path, PathBuf};

use driver::Driver;
use found::Kind;
use profiles::Profiles;
use project::{Config, ServerTables};
use read::{DeclareError, Place, toml_file};
use runtime::Runtime;
use scenario::Scenario;
use server::Server;

/// Everything a project declares.
#[derive(Debug, Clone)]
pub struct Project {
    /// The folder that holds `wirebench.toml`, and the project's results.
    pub folder: PathBuf,
    /// The folder in which programs are built and started: that of the project that `extends` names, or `folder`.
    pub root: PathBuf,
    /// `wirebench.toml`.
    pub config: Config,
    /// Scenarios by name, in order.
    pub scenarios: Vec<Scenario>,
    /// Servers by name, in order.
    pub servers: Vec<Server>,
    /// Drivers by name, in order.
    pub drivers: Vec<Driver>,
    /// Runtimes whose programs' functions can be counted, the project's own first.
    pub runtimes: Vec<Runtime>,
}

impl Project {
    /// Reads the project whose `wirebench.toml` lies in `folder`, and the one that it extends.
    ///
    /// # Errors
    /// At the first declaration that cannot be read or is wrong.
    pub fn read(folder: &Path) -> Result<Self, DeclareError> {
        let file = folder.join("wirebench.toml");
        let mut config = Config::read(&file)?;
        let root = project::extended(folder, config.extends.as_deref())?;
        let mut folders = vec![folder];
        let mut servers = vec![take(&mut config.servers)];
        let mut scenarios = vec![take(&mut config.scenarios)];
        if root != folder {
            let above = Config::read(&root.join("wirebench.toml"))?;
            for (name, profile) in above.profiles {
                config.profiles.entry(name).or_insert(profile);
            }
            folders.push(&root);
            servers.push(above.servers);
            scenarios.push(above.scenarios);
        }
        let known = &config.profiles;
        let servers = Self::servers(&folders, servers, |server, place| server.profiles.check(place, known))?;
        let mut scenarios = found::all(Kind::SCENARIO, &folders, scenarios, |table, place, name| {
            let scenarios = Scenario::check(table, place, name)?;
            let mut each = scenarios.iter();
            each.try_for_each(|(_, one)| one.profiles.check(place, known))?;
            Ok(scenarios)
        })?;
        if let Some(message) = config.count.names_no_operation(&servers) {
            return Err(DeclareError::key(&file, "count.operations", message));
        }
        scenarios.extend(config.count.scenarios(&servers, &scenarios));
        let drivers = Self::drivers_in(&folders, &root, &config)?;
        let runtimes = Self::runtimes_in(&folders, &root)?;
        Self::check_drivers(&file, &scenarios, &drivers)?;
        Ok(Self {
            folder: folder.to_path_buf(),
            root,
            config,
            scenarios,
            servers,
            drivers,
            runtimes,
        })
    }

    /// Its folder, relative to the folder in which programs run; empty if they are the same.
    pub fn within(&self) -> &Path {
        self.folder.strip_prefix(&self.root).unwrap_or(Path::new(""))
    }

    /// Checks that each driver that a scenario names is declared.
    fn check_drivers(file: &Path, scenarios: &[Scenario], drivers: &[Driver]) -> Result<(), DeclareError> {
        let unknown = |name: &&String| drivers.iter().all(|driver| driver.name != **name);
        for scenario in scenarios {
            if let Some(name) = scenario.drivers.iter().flatten().find(unknown) {
                let known: Vec<&str> = drivers.iter().map(|driver| driver.name.as_str()).collect();
                let message = format!("no driver \"{name}\"; there are {}", known.join(", "));
                let key = format!("scenario {}: drivers", scenario.name);
                return Err(DeclareError::key(file, &key, message));
            }
        }
        Ok(())
    }

    /// Reads only the servers of the project in `folder` and of the one that it extends, and ignores other keys of
    /// `wirebench.toml`.
    ///
    /// # Errors
    /// At the first one that cannot be read or is wrong.
    pub fn servers_in(folder: &Path) -> Result<Vec<Server>, DeclareError> {
        let tables = |folder: &Path| toml_file::<ServerTables>(&folder.join("wirebench.toml"));
        let own = tables(folder)?;
        let root = project::extended(folder, own.extends.as_deref())?;
        let (mut folders, mut servers) = (vec![folder], vec![own.servers]);
        if root != folder {
            folders.push(&root);
            servers.push(tables(&root)?.servers);
        }
        Self::servers(&folders, servers, |_, _| Ok(()))
    }

    /// The servers of folders and their configurations, in the order of their names; each is handed to `check`.
    fn servers(
        folders: &[&Path],
        tables: Vec<BTreeMap<String, server::Table>>,
        check: impl Fn(&Server, &Place) -> Result<(), DeclareError>,
    ) -> Result<Vec<Server>, DeclareError> {
        let mut servers = found::all(Kind::SERVER, folders, tables, |table, place, name| {
            let servers = Server::check_all(&table, place, name)?;
            servers.iter().try_for_each(|(_, server)| check(server, place))?;
            Ok(servers)
        })?;
        servers.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(servers)
    }

    /// The project's own drivers, those of the project that it extends, and those that come with the program, in the order of
    /// their names.
    fn drivers_in(folders: &[&Path], root: &Path, config: &Config) -> Result<Vec<Driver>, DeclareError> {
        let builtin = builtin::place(root).join("drivers/lib");
        let mut own = folders.iter().map(|folder| folder.join("drivers/lib"));
        let library = own.find(|library| library.is_dir()).unwrap_or(builtin);
        let check = |driver: Driver, place: &Place, name: &str| {
            let driver = driver.check(place, String::from(name), library.clone())?;
            driver.profiles.check(place, &config.profiles)?;
            Ok(vec![(driver.name.clone(), driver)])
        };
        let mut drivers = found::all(Kind::DRIVER, folders, Vec::new(), check)?;
        let declared = |name: &str| drivers.iter().any(|driver| driver.name == name);
        let wanted = |name: &&str| config.builtin_drivers.iter().any(|wanted| wanted == name) && !declared(name);
        let names: Vec<&str> = builtin::NAMES.into_iter().filter(wanted).collect();
        // A project that lists a built-in driver uses it in every profile; the `profiles` in its file are for this
        // repository.
        drivers.extend(builtin::drivers(root, &names)?.into_iter().map(|driver| Driver {
            profiles: Profiles::default(),
            ..driver
        }));
        drivers.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(drivers)
    }

    /// The project's own runtimes, those of the project that it extends, and those that come with the program: the first that
    /// knows a program counts it.
    fn runtimes_in(folders: &[&Path], root: &Path) -> Result<Vec<Runtime>, DeclareError> {
        let check = |runtime: Runtime, place: &Place, name: &str| {
            let runtime = runtime.check(place, name.to_owned())?;
            Ok(vec![(runtime.name.clone(), runtime)])
        };
        let mut runtimes = found::all(Kind::COUNTER, folders, Vec::new(), check)?;
        runtimes.extend(builtin::runtimes(root)?);
        Ok(runtimes)
    }

    /// True if built-in files must be written below `.wirebench/` before a run can use them.
    pub fn uses_builtin_files(&self) -> bool {
        let builtin = builtin::place(&self.root);
        self.config.count.enabled || self.drivers.iter().any(|driver| driver.library.starts_with(&builtin))
    }
}
