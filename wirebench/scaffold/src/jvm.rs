//! The JVM: modules of Maven and Gradle whose build makes a program that serves.

use std::sync::LazyLock;

use regex::Regex;

use crate::files::Files;
use crate::hints::{self, Port};
use crate::program::{Language, LaunchMethod, Program, argv, slug};

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a constant pattern")
}

static HTTP: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"spring-boot-starter-(?:web|webmvc|webflux|jersey)\b|quarkus-(?:rest|resteasy|vertx-http)|micronaut-http-server|vertx-(?:core|web)\b|ktor-server|javalin|helidon-webserver|dropwizard-core|jetty-server|undertow-core",
    )
});
static GRPC: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"grpc-netty|grpc-server-spring-boot|spring-grpc|quarkus-grpc|micronaut-grpc"));
/// The elements of a manifest whose names are not the module's own.
static BODY: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?s)<parent>.*?</parent>|<(?:dependencies|dependencyManagement|build|profiles)>.*"));
static FINAL_NAME: LazyLock<Regex> = LazyLock::new(|| pattern(r"<finalName>([^<$]+)</finalName>"));
static GRADLE_VERSION: LazyLock<Regex> = LazyLock::new(|| pattern(r#"(?m)^version\s*=?\s*["']([^"'$]+)["']"#));
static GRADLE_NAME: LazyLock<Regex> = LazyLock::new(|| pattern(r#"(?m)^rootProject\.name\s*=\s*["']([^"']+)["']"#));
static SPRING: LazyLock<Regex> = LazyLock::new(|| pattern(r"org\.springframework\.boot|spring-boot-"));

const GRADLE: [&str; 2] = ["build.gradle", "build.gradle.kts"];

/// Every module that looks like a server.
pub(super) fn programs(files: &Files) -> Vec<Program> {
    let maven = files
        .named("pom.xml")
        .filter_map(|(folder, text)| maven(files, folder, text));
    let gradle = GRADLE.iter().flat_map(|name| {
        files
            .named(name)
            .filter_map(move |(folder, text)| gradle(files, folder, name, text))
    });
    maven.chain(gradle).collect()
}

/// A module's text of one element.
fn element<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let (_, after) = text.split_once(&format!("<{name}>"))?;
    Some(after.split_once('<')?.0.trim()).filter(|text| !text.is_empty() && !text.contains('$'))
}

fn maven(files: &Files, folder: &str, text: &str) -> Option<Program> {
    let whose = BODY.replace_all(text, "");
    let artifact = element(&whose, "artifactId")?;
    let parent = || element(text.split_once("<parent>")?.1, "version");
    let version = element(&whose, "version").or_else(parent)?;
    if element(&whose, "packaging").is_some_and(|kind| kind != "jar") {
        return None;
    }
    let jar = if text.contains("quarkus-maven-plugin") {
        "target/quarkus-app/quarkus-run.jar".to_owned()
    } else if [
        "spring-boot-maven-plugin",
        "maven-shade-plugin",
        "micronaut-maven-plugin",
    ]
    .iter()
    .any(|plugin| text.contains(plugin))
    {
        let name = FINAL_NAME.captures(text).map(|found| found[1].to_owned());
        format!("target/{}.jar", name.unwrap_or_else(|| format!("{artifact}-{version}")))
    } else {
        return None;
    };
    let mut build = argv(&["mvn", "--quiet", "--batch-mode"]);
    let below = folder.trim_end_matches('/');
    match files.text("pom.xml") {
        Some(top) if !folder.is_empty() && top.contains("<module>") => {
            build.extend(argv(&["--projects", below, "--also-make"]));
        }
        _ if folder.is_empty() => {}
        _ => build.extend(argv(&["--file", &format!("{folder}pom.xml")])),
    }
    build.extend(argv(&["-DskipTests", "package"]));
    let launch = LaunchMethod::Command {
        build: Some(build),
        command: argv(&["java", "-jar", &format!("{folder}{jar}")]),
    };
    program(files, folder, (artifact, "pom.xml"), text, launch)
}

fn gradle(files: &Files, folder: &str, manifest: &str, text: &str) -> Option<Program> {
    let settings = ["settings.gradle", "settings.gradle.kts"]
        .iter()
        .find_map(|name| GRADLE_NAME.captures(files.text(name)?).map(|found| found[1].to_owned()));
    let below = folder.trim_end_matches('/');
    let own = below.rsplit('/').next().filter(|name| !name.is_empty());
    let name = own.map_or_else(|| settings.unwrap_or_else(|| files.name().to_owned()), str::to_owned);
    let (task, command) = if SPRING.is_match(text) {
        let version = GRADLE_VERSION.captures(text).map(|found| format!("-{}", &found[1]));
        let jar = format!("{folder}build/libs/{name}{}.jar", version.unwrap_or_default());
        ("bootJar", argv(&["java", "-jar", &jar]))
    } else if text.contains("application") {
        ("installDist", vec![format!("{folder}build/install/{name}/bin/{name}")])
    } else {
        return None;
    };
    let gradle = if files.has("gradlew") { "./gradlew" } else { "gradle" };
    let project = if below.is_empty() {
        String::new()
    } else {
        format!(":{}", below.replace('/', ":"))
    };
    let launch = LaunchMethod::Command {
        build: Some(argv(&[gradle, "--quiet", &format!("{project}:{task}")])),
        command,
    };
    program(files, folder, (&name, manifest), text, launch)
}

fn program(
    files: &Files,
    folder: &str,
    (name, manifest): (&str, &str),
    text: &str,
    launch: LaunchMethod,
) -> Option<Program> {
    let (http, grpc) = (HTTP.is_match(text), GRPC.is_match(text));
    let all: Vec<(&str, &str)> = files.below(folder, &["java", "kt"]).collect();
    let texts: Vec<&str> = all.iter().map(|(_, text)| *text).collect();
    let mut hints = hints::of(&texts);
    let told = |name: &str, value: &str| Port::Variable(name.to_owned(), value.to_owned());
    hints.port = match () {
        () if SPRING.is_match(text) => told("SERVER_PORT", "{port}"),
        () if text.contains("quarkus") => told("QUARKUS_HTTP_PORT", "{port}"),
        () if text.contains("micronaut") => told("MICRONAUT_SERVER_PORT", "{port}"),
        () => hints.port,
    };
    let build_files_above = files.has("pom.xml") || GRADLE.iter().any(|name| files.has(name));
    (http || grpc).then(|| Program {
        name: slug(name),
        about: format!("{folder}{manifest}"),
        http,
        grpc,
        launch,
        hints,
        sources: all.iter().map(|(path, _)| (*path).to_owned()).collect(),
        language: Language::Jvm,
        manifest: if build_files_above {
            String::new()
        } else {
            folder.to_owned()
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPRING_POM: &str = "<project><parent><artifactId>spring-boot-starter-parent</artifactId><version>4.1.2</version></parent>\
        <artifactId>shop</artifactId><version>1.0</version><dependencies><dependency><artifactId>spring-boot-starter-webmvc</artifactId>\
        </dependency></dependencies><build><plugins><plugin><artifactId>spring-boot-maven-plugin</artifactId></plugin></plugins></build></project>";

    fn told(files: &[(&str, &str)]) -> Vec<(String, String, String)> {
        let found = programs(&Files::of(files));
        let one = |program: &Program| match &program.launch {
            LaunchMethod::Command { build, command } => (
                program.name.clone(),
                build.clone().unwrap_or_default().join(" "),
                command.join(" "),
            ),
            other @ LaunchMethod::Package(_) => panic!("{other:?}"),
        };
        found.iter().map(one).collect()
    }

    fn expect(name: &str, build: &str, command: &str) -> Vec<(String, String, String)> {
        vec![(name.into(), build.into(), command.into())]
    }

    #[test]
    fn a_maven_module_is_packaged_and_its_jar_is_started() {
        let found = told(&[("pom.xml", SPRING_POM)]);
        assert_eq!(
            found,
            expect(
                "shop",
                "mvn --quiet --batch-mode -DskipTests package",
                "java -jar target/shop-1.0.jar"
            )
        );
        let top = "<project><artifactId>top</artifactId><version>1</version><packaging>pom</packaging><modules><module>api</module></modules></project>";
        let found = told(&[("pom.xml", top), ("api/pom.xml", SPRING_POM)]);
        assert_eq!(
            found[0].1,
            "mvn --quiet --batch-mode --projects api --also-make -DskipTests package"
        );
        assert_eq!(found[0].2, "java -jar api/target/shop-1.0.jar");
        let found = told(&[("api/pom.xml", SPRING_POM)]);
        assert_eq!(
            found[0].1,
            "mvn --quiet --batch-mode --file api/pom.xml -DskipTests package"
        );
    }

    #[test]
    fn a_version_may_be_its_parents_and_a_library_is_none() {
        let inherits = SPRING_POM.replace(
            "<artifactId>shop</artifactId><version>1.0</version>",
            "<artifactId>shop</artifactId>",
        );
        assert_eq!(told(&[("pom.xml", &inherits)])[0].2, "java -jar target/shop-4.1.2.jar");
        assert!(told(&[("pom.xml", &SPRING_POM.replace("spring-boot-maven-plugin", "other"))]).is_empty());
        assert!(told(&[("pom.xml", &SPRING_POM.replace("starter-webmvc", "starter-json"))]).is_empty());
    }

    #[test]
    fn gradle_makes_a_jar_of_spring_and_a_folder_of_applications() {
        let settings = ("settings.gradle.kts", "rootProject.name = \"shop\"\n");
        let spring = "plugins { id(\"org.springframework.boot\") version \"4.1.2\" }\nversion = \"0.1\"\ndependencies { implementation(\"org.springframework.boot:spring-boot-starter-web\") }";
        let found = told(&[settings, ("build.gradle.kts", spring), ("gradlew", "")]);
        assert_eq!(
            found,
            expect(
                "shop",
                "./gradlew --quiet :bootJar",
                "java -jar build/libs/shop-0.1.jar"
            )
        );
        let ktor = "plugins { application }\ndependencies { implementation(\"io.ktor:ktor-server-netty:3\") }";
        let found = told(&[settings, ("api/build.gradle.kts", ktor)]);
        assert_eq!(
            found,
            expect(
                "api",
                "gradle --quiet :api:installDist",
                "api/build/install/api/bin/api"
            )
        );
    }

    #[test]
    fn the_port_is_told_as_the_framework_takes_it() {
        let found = programs(&Files::of(&[("pom.xml", SPRING_POM)]));
        assert_eq!(
            found[0].hints.port,
            Port::Variable("SERVER_PORT".into(), "{port}".into())
        );
    }
}
