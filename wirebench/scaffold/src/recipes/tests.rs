//! What the recipes find: for each ecosystem the programs with their name, protocols, build and start.

use super::*;

const GO_MAIN: &str = "package main\nfunc main() { http.ListenAndServe(os.Getenv(\"PORT\"), nil) }\n";

fn found(pairs: &[(&str, &str)]) -> Vec<Program> {
    let mut found = programs(&Files::of(pairs));
    crate::program::make_names_unique(&mut found);
    found
}

fn parts(program: &Program) -> (String, String) {
    match &program.started {
        Started::Command(command) => (program.build.clone().unwrap_or_default().join(" "), command.join(" ")),
        other @ Started::Package(_) => panic!("{other:?}"),
    }
}

/// Name, build and command of each.
fn told(pairs: &[(&str, &str)]) -> Vec<(String, String, String)> {
    let one = |program: &Program| {
        let (build, command) = parts(program);
        (program.name.clone(), build, command)
    };
    found(pairs).iter().map(one).collect()
}

#[track_caller]
fn assert_told(pairs: &[(&str, &str)], expected: &[(&str, &str, &str)]) {
    let told = told(pairs);
    let told: Vec<(&str, &str, &str)> = told
        .iter()
        .map(|(a, b, c)| (a.as_str(), b.as_str(), c.as_str()))
        .collect();
    assert_eq!(told, expected);
}

#[test]
fn a_recipe_is_data_alone() {
    let recipe: Recipe = crate::recipe::read(
        r#"
ecosystem = "Crystal"
sources = ["cr"]
frameworks = 'Kemal|Lucky'

[[manifest]]
file = "shard.yml"
install = ["shards", "install"]

[[start]]
file = "*.cr"
contains = '(?:{frameworks})\.run'
build = ["crystal", "build", "--release", "-o", ".wirebench/bin/{name}", "{file}"]
command = [".wirebench/bin/{name}"]
env = { KEMAL_ENV = "production", PORT = "{port}" }
"#,
    )
    .unwrap();
    let files = Files::of(&[
        ("shard.yml", "name: shop\n"),
        ("src/shop.cr", "require \"kemal\"\nKemal.run\n"),
    ]);
    let found = of_recipe(&files, &recipe);
    assert_eq!(found.len(), 1);
    assert_eq!(
        parts(&found[0]),
        (
            "sh -c shards install && crystal build --release -o .wirebench/bin/{name} src/shop.cr".to_owned(),
            ".wirebench/bin/{name}".to_owned()
        )
    );
    assert_eq!(
        found[0].port,
        Some(PortSetting::variable("PORT".into(), "{port}".into()))
    );
    assert_eq!(found[0].env["KEMAL_ENV"], "production");
}

#[test]
fn what_a_repository_says_itself_goes_first_and_is_the_only_server_of_its_project() {
    let found = found(&[
        (
            "Procfile",
            "release: ./manage.py migrate\nweb: gunicorn --config gunicorn.conf.py shop.wsgi\n",
        ),
        ("requirements.txt", "django\ngunicorn\n"),
        ("manage.py", "import django\n"),
        ("shop/wsgi.py", "application = get_wsgi_application()\n"),
    ]);
    assert!(found.iter().all(|one| one.alone), "{found:?}");
    let commands: Vec<String> = found.iter().map(|one| parts(one).1).collect();
    assert_eq!(
        commands,
        [
            "gunicorn --config gunicorn.conf.py shop.wsgi",
            "python3 -m gunicorn --chdir . --bind {address} shop.wsgi:application",
            "python3 manage.py runserver --noreload {address}",
        ]
    );
    assert_eq!(
        found[0].port,
        Some(PortSetting::variable("PORT".into(), "{port}".into()))
    );
    assert_eq!(
        parts(&found[0]).0,
        "python3 -m pip install --quiet --requirement requirements.txt gunicorn"
    );
}

#[test]
fn each_main_package_of_go_that_serves_is_a_program() {
    let grpc = "package main\nfunc main() { s := grpc.NewServer() }\n";
    let pairs = [
        ("go.mod", "module example.org/shop\n"),
        ("cmd/api/main.go", GO_MAIN),
        ("cmd/calls/main.go", grpc),
        (
            "cmd/tool/main.go",
            "package main\nfunc main() { http.ListenAndServeNot() }\n",
        ),
        ("internal/x.go", "package x\n"),
    ];
    assert_told(
        &pairs,
        &[
            (
                "api",
                "go build -C . -o .wirebench/bin/api ./cmd/api",
                ".wirebench/bin/api",
            ),
            (
                "calls",
                "go build -C . -o .wirebench/bin/calls ./cmd/calls",
                ".wirebench/bin/calls",
            ),
        ],
    );
    let spoken: Vec<_> = found(&pairs).iter().map(|one| one.protocols.clone()).collect();
    assert_eq!(spoken, [[Protocol::Http], [Protocol::Grpc]]);
}

#[test]
fn a_file_of_go_without_a_module_is_built_alone() {
    assert_told(
        &[("backend/main.go", GO_MAIN)],
        &[(
            "backend",
            "go build -o .wirebench/bin/backend backend/main.go",
            ".wirebench/bin/backend",
        )],
    );
}

#[test]
fn a_server_of_go_is_known_by_what_it_calls() {
    for call in ["s := http2.Server{}", "funcframework.Start(port)", "http.Serve(l, nil)"] {
        let main = format!("package main\nfunc main() {{ {call} }}\n");
        let names = told(&[("go.mod", "module example.org/shop\n"), ("main.go", &main)]);
        assert_eq!(names.len(), 1, "{call}");
    }
}

#[test]
fn a_main_package_of_go_that_only_calls_another_serves_what_that_does() {
    let pairs = [
        ("go.mod", "module example.org/shop/v2\n"),
        (
            "main.go",
            "package main\nimport (\n\t\"fmt\"\n\n\tcmd \"example.org/shop/v2/cmd\"\n)\nfunc main() { cmd.Run() }\n",
        ),
        ("cmd/run.go", "package cmd\nimport \"example.org/shop/v2/server\"\n"),
        ("server/server.go", "package server\nvar s = http.Server{}\n"),
        // A client of the same module imports nothing that serves.
        ("tools/load/main.go", "package main\nfunc main() { http.Get(url) }\n"),
    ];
    assert_told(
        &pairs,
        &[(
            "shop",
            "go build -C . -o .wirebench/bin/shop ./.",
            ".wirebench/bin/shop",
        )],
    );
    let pairs = [
        ("go.mod", "module example.org/top\n"),
        ("services/api/go.mod", "module example.org/api\n"),
        ("services/api/cmd/x/main.go", GO_MAIN),
    ];
    let build = "go build -C services/api -o ../../.wirebench/bin/x ./cmd/x";
    assert_told(&pairs, &[("x", build, ".wirebench/bin/x")]);
    assert_eq!(found(&pairs)[0].folder.as_deref(), Some("services/api"));
}

#[test]
fn every_start_script_of_node_is_a_program() {
    let package = r#"{"name":"@x/shop","scripts":{"start":"node --enable-source-maps src/http.js","start:grpc":"node ./src/calls.js",
        "test":"node src/t.js"},"dependencies":{"fastify":"5","@grpc/grpc-js":"1"}}"#;
    let pairs = [
        ("package.json", package),
        ("package-lock.json", ""),
        (
            "src/http.js",
            "import fastify from 'fastify'; app.listen({ port: process.env.PORT })",
        ),
        ("src/calls.js", "const grpc = require(\"@grpc/grpc-js\")"),
        ("src/t.js", "import fastify from 'fastify'"),
    ];
    let install = "npm ci --no-audit --no-fund --prefix .";
    assert_told(
        &pairs,
        &[
            ("http", install, "node --enable-source-maps src/http.js"),
            ("calls", install, "node ./src/calls.js"),
        ],
    );
    let found = found(&pairs);
    assert_eq!(
        (found[0].protocols.as_slice(), found[1].protocols.as_slice()),
        (&[Protocol::Http][..], &[Protocol::Grpc][..])
    );
    assert_eq!(
        found[0].port,
        Some(PortSetting::variable("PORT".into(), "{port}".into()))
    );
}

#[test]
fn without_a_script_of_node_any_file_that_listens_is_taken() {
    let pairs = [
        ("web/package.json", r#"{"name":"shop","dependencies":{"express":"5"}}"#),
        ("web/yarn.lock", ""),
        ("web/index.js", "const app = require('express')(); app.listen(3000)"),
    ];
    assert_told(
        &pairs,
        &[("web", "yarn install --frozen-lockfile --cwd web", "node web/index.js")],
    );
    let alone = "const http = require('http'); const server = http.createServer(answer); server.listen(port)";
    assert_told(&[("shop/server.js", alone)], &[("shop", "", "node shop/server.js")]);
    assert_told(&[("tool.js", "events.listen(changed)")], &[]);
    let named = [
        ("package.json", r#"{"name":"shop","main":"app.js"}"#),
        ("app.js", alone),
    ];
    assert_told(
        &named,
        &[("shop", "npm install --no-audit --no-fund --prefix .", "node app.js")],
    );
    let library = r#"{"name":"site","scripts":{"start":"node tool.js"},"dependencies":{"react":"19"}}"#;
    assert_told(&[("package.json", library), ("tool.js", "console.log(1)")], &[]);
}

#[test]
fn a_function_that_serves_and_a_command_of_a_package_are_programs_of_node() {
    let install = "npm install --no-audit --no-fund --prefix .";
    let serves = "import { H3, serve } from \"h3\";\nserve(app);\n";
    assert_told(
        &[("package.json", r#"{ "name": "shop" }"#), ("status.mjs", serves)],
        &[("status", install, "node status.mjs")],
    );
    let package = r#"{ "name": "files", "bin": { "files": "./build/main.js" } }"#;
    let source = "import http from 'node:http';\nhttp.createServer(handler);\n";
    assert_told(
        &[("package.json", package), ("source/server.ts", source)],
        &[("files", install, "node build/main.js")],
    );
    assert!(told(&[("package.json", package), ("source/tool.ts", "console.log(1)")]).is_empty());
}

#[test]
fn a_program_of_node_that_a_script_compiles_is_built_and_started_by_itself() {
    let scripts = r#"{"build":"nest build","start":"nest start","start:debug":"nest start --debug","start:prod":"node dist/main"}"#;
    let package = format!(r#"{{"name":"shop","scripts":{scripts},"dependencies":{{"@nestjs/core":"11"}}}}"#);
    let pairs = [
        ("api/package.json", package.as_str()),
        ("api/package-lock.json", ""),
        ("api/src/main.ts", "await app.listen(3000);"),
    ];
    let build = "sh -c npm ci --no-audit --no-fund --prefix api && npm --prefix api run build";
    assert_told(&pairs, &[("shop", build, "node dist/main")]);
    assert_eq!(found(&pairs)[0].folder.as_deref(), Some("api"));
    assert_eq!(found(&pairs)[0].port, Some(PortSetting::fixed(3000)));
    let package = r#"{"name":"shop","scripts":{"start":"nest start"},"dependencies":{"@nestjs/core":"11"}}"#;
    let build = "sh -c npm install --no-audit --no-fund --prefix . && npm --prefix . run build --if-present";
    assert_told(
        &[("package.json", package)],
        &[("shop", build, "npm --prefix . run --silent start")],
    );
}

#[test]
fn a_file_of_node_that_imports_what_is_built_is_built_first() {
    let package =
        r#"{"name":"shop","scripts":{"build":"vite build","start":"node server.js"},"dependencies":{"express":"5"}}"#;
    let install = "npm install --no-audit --no-fund --prefix .";
    let build = format!("sh -c {install} && npm --prefix . run build");
    let of = |server: &str| told(&[("package.json", package), ("server.js", server)]);
    let commands = |server: &str| of(server).into_iter().map(|(_, build, _)| build).collect::<Vec<_>>();
    assert_eq!(
        commands("import \"express\"; const BUILT = \"./build/server/index.js\""),
        [&*build, install]
    );
    assert_eq!(commands("import \"express\""), [install]);
    let package = package.replace("node server", "cross-env A=1 node server");
    let pairs = [
        ("package.json", package.as_str()),
        ("server.js", "import \"./build/server/index.js\""),
    ];
    let build = format!("{build} --if-present");
    assert_told(&pairs, &[("shop", &build, "npm --prefix . run --silent start")]);
}

#[test]
fn packages_of_a_workspace_of_node_are_installed_and_built_from_its_top() {
    let package = r#"{"name":"@shop/api","scripts":{"start":"node dist/main.js","build":"tsc"},"dependencies":{"@shop/core":"workspace:*","fastify":"5"}}"#;
    let build = "npm --prefix . run build --if-present && npm --prefix packages/api run build";
    for (top, lock, install) in [
        ("{}", "pnpm-workspace.yaml", "pnpm install --frozen-lockfile --dir ."),
        (
            r#"{"workspaces":["packages/*"]}"#,
            "package-lock.json",
            "npm ci --no-audit --no-fund --prefix .",
        ),
    ] {
        let pairs = [
            ("package.json", top),
            (lock, ""),
            ("packages/api/package.json", package),
        ];
        let built = format!("sh -c {install} && sh -c '{build}'");
        assert_told(&pairs, &[("api", built.as_str(), "node dist/main.js")]);
    }
    // A lock file above that is not a workspace's has the packages of other programs.
    let pairs = [
        ("package.json", "{}"),
        ("package-lock.json", ""),
        ("packages/api/package.json", package),
    ];
    let built = "sh -c npm install --no-audit --no-fund --prefix packages/api && npm --prefix packages/api run build";
    assert_told(&pairs, &[("api", built, "node dist/main.js")]);

    let inside = Files::of(&[("package.json", package)]).with_above("package.json", "{}");
    let inside = programs(&inside.with_above("pnpm-workspace.yaml", ""));
    assert!(
        parts(&inside[0])
            .0
            .starts_with("sh -c pnpm install --frozen-lockfile --dir .. && "),
        "{inside:?}"
    );
}

#[test]
fn a_framework_of_node_is_built_before_it_serves() {
    let install = "sh -c npm install --no-audit --no-fund --prefix . && npm --prefix . run build";
    let if_present = format!("{install} --if-present");
    let start = "npm --prefix . run --silent start";
    for (package, build, command) in [
        (
            r#"{"name":"shop","scripts":{"start":"next start -p 80"}}"#,
            &*if_present,
            start,
        ),
        (
            r#"{"name":"shop","scripts":{"start":"node .output/server/index.mjs"}}"#,
            &if_present,
            start,
        ),
        (
            r#"{"name":"shop","scripts":{"start":"cross-env NODE_ENV=production remix-serve ./build"}}"#,
            &if_present,
            start,
        ),
        (
            r#"{"name":"shop","devDependencies":{"@sveltejs/adapter-node":"5"}}"#,
            install,
            "node build",
        ),
    ] {
        assert_told(&[("package.json", package)], &[("shop", build, command)]);
    }
}

#[test]
fn a_command_that_a_package_of_python_installs_is_a_program_if_its_sources_serve() {
    let project = "[project]\nname = \"x\"\n\n[project.scripts]\nshop-server = \"shop.cli:main\"\n\n[build-system]\n";
    let serves = "def main():\n    uvicorn.Server(config).run()\n";
    let install = "python3 -m pip install --quiet ./.";
    let told = [("shop-server", install, "shop-server")];
    assert_told(&[("pyproject.toml", project), ("shop/cli.py", serves)], &told);
    let setup = "setup(entry_points={'console_scripts': ['shop-server=shop:main']})\n";
    assert_told(&[("setup.py", setup), ("shop/cli.py", serves)], &told);
    // Without the dot, pip would install somebody's package `backend` from the registry.
    let install = "python3 -m pip install --quiet ./backend";
    let below = [("backend/pyproject.toml", project), ("backend/shop/cli.py", serves)];
    assert_told(&below, &[("shop-server", install, "shop-server")]);
    assert_told(&[("pyproject.toml", project), ("shop/cli.py", "print(1)\n")], &[]);
}

#[test]
fn a_lock_of_uv_is_installed_also_from_the_top_of_its_workspace() {
    let project = "[project]\nname = \"x\"\ndependencies = []\n";
    let main = "app = FastAPI()\n";
    let top = ("pyproject.toml", "[tool.uv.workspace]\nmembers = [\"api\"]\n");
    let lock = ("uv.lock", "");
    let build = |pairs: &[(&str, &str)]| found(pairs)[0].build.clone().unwrap().join(" ");
    let alone = build(&[("pyproject.toml", project), lock, ("main.py", main)]);
    assert!(
        alone.contains("--project \"$(dirname pyproject.toml)\" sh uvicorn"),
        "{alone}"
    );
    let member = build(&[("api/pyproject.toml", project), top, lock, ("api/main.py", main)]);
    assert!(
        member.contains("--project \"$(dirname api/pyproject.toml)\" sh uvicorn"),
        "{member}"
    );
    let other = build(&[("api/pyproject.toml", project), lock, ("api/main.py", main)]);
    assert!(!other.contains("uv sync"), "{other}");
}

#[test]
fn packages_of_php_are_installed_if_there_are_any() {
    for (require, install) in [
        (r#""php": ">=8", "ext-xml": "*""#, ""),
        (
            r#""php": ">=8", "slim/slim": "4""#,
            "composer install --no-interaction --quiet --working-dir=.",
        ),
    ] {
        let composer = format!(r#"{{ "name": "a/b", "require": {{ {require} }} }}"#);
        let found = found(&[("composer.json", &composer), ("index.php", "<?php\n")]);
        assert_eq!(parts(&found[0]).0, install);
    }
}

#[test]
fn an_application_of_python_is_served_by_its_usual_server() {
    let install = "python3 -m pip install --quiet --requirement requirements.txt";
    assert_told(
        &[
            ("shop/main.py", "api = FastAPI(title=\"x\")\n@api.get(\"/items\")\n"),
            ("old.py", "app = Flask(__name__)\n"),
            ("calls.py", "server = grpc.aio.server()\n"),
            (
                "own.py",
                "class Server(http.server.ThreadingHTTPServer):\n    pass\nServer((host, port), Handler).serve_forever()\n",
            ),
            ("tool.py", "print('FastAPI')\n"),
            ("chat/__init__.py", "app = Quart(__name__)\n@app.get(\"/\")\n"),
            ("requirements.txt", ""),
        ],
        &[
            ("old", install, "python3 -m flask run"),
            ("chat", install, "python3 -m quart --app ./chat:app run"),
            (
                "shop",
                &format!("{install} uvicorn"),
                "python3 -m uvicorn --no-access-log --app-dir . shop.main:api",
            ),
            ("calls", install, "python3 calls.py"),
            ("own", install, "python3 own.py"),
        ],
    );
    // Older versions of Flask have no argument for it.
    let flask = found(&[("old.py", "app = Flask(__name__)\n")]);
    assert_eq!(flask[0].env["FLASK_APP"], "old.py:app");
    assert!(told(&[("my-app/main.py", "app = FastAPI()\n")]).is_empty(), "no module");
}

#[test]
fn a_program_of_an_unknown_framework_is_one_that_names_paths_and_is_declared_if_it_serves() {
    let install = "python3 -m pip install --quiet --requirement requirements.txt";
    let requirements = ("requirements.txt", "blacksheep\n");
    let awaits = (
        "shop/main.py",
        "app = Application()\n@app.router.get(\"/\")\nasync def home(_):\n    ...\n",
    );
    let uvicorn = "python3 -m uvicorn --no-access-log --app-dir . shop.main:app";
    assert_told(
        &[requirements, awaits],
        &[("shop", &format!("{install} uvicorn"), uvicorn)],
    );
    let waits = (
        "shop/main.py",
        "routes = [(\"/\", home)]\n\napp = Application(routes)\n",
    );
    let gunicorn = "python3 -m gunicorn --worker-class gthread --chdir . --bind {address} shop.main:app";
    assert_told(
        &[requirements, waits],
        &[("shop", &format!("{install} gunicorn"), gunicorn)],
    );
    let module = ("go.mod", "module example.org/shop\n");
    let routes = "package main\nfunc main() { app := aero.New(); app.Get(\"/\", home); app.Run() }\n";
    let package = ("package.json", r#"{ "name": "shop" }"#);
    let listens = "import { App } from '@unknown/app';\nnew App().listen(3000)\n";
    let main =
        "package shop.api;\nimport io.activej.http.AsyncServlet;\nclass Main { static void main(String[] a) {} }\n";
    for pairs in [
        [module, ("main.go", routes)],
        [package, ("app.mjs", listens)],
        [
            package,
            ("app.mjs", "import muneem from 'muneem';\nmuneem().start(3000)\n"),
        ],
        [("pom.xml", "<project/>"), ("src/main/java/shop/api/Main.java", main)],
        [requirements, awaits],
        [requirements, waits],
    ] {
        let found = found(&pairs);
        assert_eq!(found.len(), 1, "{pairs:?}");
        assert!(found[0].must_serve, "{pairs:?}");
    }
    for pairs in [
        [module, ("main.go", "package main\nfunc main() { cmd.Run() }\n")],
        [
            requirements,
            ("tool.py", "app = typer.Typer()\n\n@app.command()\ndef main(): ...\n"),
        ],
        [
            package,
            ("tool.mjs", "import { run } from './run.js';\nevents.listen(changed)\n"),
        ],
        [
            ("pom.xml", "<project/>"),
            (
                "src/main/java/Main.java",
                "package a;\nclass Main { static void main() {} }\n",
            ),
        ],
    ] {
        assert_told(&pairs, &[]);
    }
    // Beside a server of a known framework, no other is tried.
    let both = [requirements, awaits, ("old.py", "app = Flask(__name__)\n")];
    assert_told(&both, &[("old", install, "python3 -m flask run")]);
    let spring = "package shop;\nimport org.springframework.web.bind.annotation.GetMapping;\n\
        class Main { public static void main(String[] a) { SpringApplication.run(Main.class, a); } }\n";
    let spring = found(&[("pom.xml", "<project/>"), ("src/main/java/shop/Main.java", spring)]);
    assert_eq!((spring.len(), spring[0].must_serve), (1, false));
    for recipe in RECIPES.iter() {
        let is_last = recipe.starts.is_sorted_by_key(|start| start.must_serve);
        assert!(is_last, "{}", recipe.ecosystem);
    }
}

#[test]
fn the_nearest_migration_runs_before_each_start() {
    let migration = |pairs: &[(&str, &str)]| {
        let all = found(pairs);
        let words = all[0].migration.as_ref()?;
        Some(words.last()?.clone())
    };
    let python = [("api/requirements.txt", ""), ("api/main.py", "app = FastAPI()\n")];
    assert_eq!(migration(&python), None);
    let with_alembic = [&python[..], &[("api/alembic.ini", "")]].concat();
    assert_eq!(
        migration(&with_alembic).as_deref(),
        Some("cd api && exec python3 -m alembic upgrade head")
    );
    let rails = [("Gemfile", ""), ("bin/rails", "APP_PATH = 1\n")];
    assert_eq!(
        migration(&rails).as_deref(),
        Some("cd . && exec bundle exec rails db:prepare")
    );
    let node = |scripts: &str| {
        let top = format!("{{ \"name\": \"top\", \"scripts\": {{ {scripts} }} }}");
        let api = r#"{ "name": "api", "scripts": { "start": "node main.js" }, "dependencies": { "express": "5" } }"#;
        migration(&[
            ("package.json", &top),
            ("api/package.json", api),
            ("api/main.js", "import 'express'"),
        ])
    };
    for script in [
        "migrate",
        "db:migrate",
        "prisma:migrate:deploy",
        "migration:run",
        "knex:migrate:latest",
    ] {
        assert_eq!(node(&format!("\"{script}\": \"x\"")).as_deref(), Some(script));
    }
    for other in [
        "migrate:down",
        "migrate:make",
        "db:reset",
        "unmigrate",
        "migration:generate",
    ] {
        assert_eq!(node(&format!("\"{other}\": \"x\"")), None, "{other}");
    }
}

#[test]
fn an_application_of_python_that_a_function_makes_is_one_program() {
    let requirements = ("requirements.txt", "fastapi\n");
    let factory = "def get_application() -> FastAPI:\n    return FastAPI()\n";
    let install = "python3 -m pip install --quiet --requirement requirements.txt uvicorn";
    let serve = "python3 -m uvicorn --no-access-log";
    let alone = format!("{serve} --factory --app-dir . shop.made:get_application");
    assert_told(&[requirements, ("shop/made.py", factory)], &[("made", install, &alone)]);
    let main = ("shop/main.py", "app = get_application()\n");
    let with_main = format!("{serve} --app-dir . shop.main:app");
    let settings = ("shop/migrations/env.py", "settings = get_app_settings()\n");
    let both = [requirements, ("shop/made.py", factory), main, settings];
    assert_told(&both, &[("shop", install, &with_main)]);
    let pages = "from flask import Flask\n\ndef create_app():\n    return Flask(__name__)\n";
    assert_told(&[("pages.py", pages)], &[("pages", "", "python3 -m flask run")]);
}

#[test]
fn a_file_of_python_that_serves_when_it_is_started_is_a_program_if_nothing_else_is() {
    let main = "if __name__ == '__main__':\n    ";
    for text in [
        format!("import tornado\nserver.listen(options.port)\n{main}asyncio.run(main())\n"),
        format!("app = falcon.App()\n{main}with make_server('', 8000, app) as httpd:\n"),
        format!("{main}uvicorn.run(app)\n"),
        format!("import connexion\napp = connexion.FlaskApp(__name__)\n{main}app.run(port=8080)\n"),
        "from bottle import route, run\nrun(host='localhost', port=8080)\n".to_owned(),
        "from waitress import serve\nserve(app)\n".to_owned(),
    ] {
        assert_told(&[("things.py", &text)], &[("things", "", "python3 things.py")]);
        let with_another = [("things.py", text.as_str()), ("old.py", "app = Flask(__name__)\n")];
        let names: Vec<String> = told(&with_another).into_iter().map(|(name, ..)| name).collect();
        assert_eq!(names, ["old"], "{text}");
    }
    // Alone, it would lack its package.
    let of_a_package = format!("from .app import app\n{main}uvicorn.run(app)\n");
    assert_told(&[("things.py", &of_a_package)], &[]);
    let documentation = "\"\"\"Call server.listen(8888) of tornado.\"\"\"\nimport tornado\n";
    assert!(told(&[("web.py", documentation)]).is_empty());
}

#[test]
fn a_package_of_python_is_started_as_one() {
    let pairs = [
        ("pyproject.toml", "dependencies = []\n"),
        ("shop/__init__.py", ""),
        (
            "shop/__main__.py",
            "from shop import server\nif __name__ == \"__main__\":\n    server.serve()\n",
        ),
        ("shop/server.py", "class Server(http.server.HTTPServer): pass\n"),
    ];
    let commands: Vec<String> = found(&pairs).iter().map(|one| parts(one).1).collect();
    assert_eq!(commands, ["python3 -m shop"]);
}

#[test]
fn a_handler_of_python_serves_http_over_any_server_of_its_library() {
    let handler = "handler = http.server.SimpleHTTPRequestHandler\n";
    let server = format!("{handler}socketserver.TCPServer((\"\", 8080), handler).serve_forever()\n");
    assert_told(&[("files.py", &server)], &[("files", "", "python3 files.py")]);
    let with_procfile = [("Procfile", "web: python files.py\n"), ("files.py", &server)];
    assert_told(&with_procfile, &[("files", "", "python3 files.py")]);
    let named = "class Hello(BaseHTTPRequestHandler): ...\nHTTPServer(address, Hello).serve_forever()\n";
    assert_told(&[("hello.py", named)], &[("hello", "", "python3 hello.py")]);
    assert_told(
        &[("echo.py", "socketserver.TCPServer((\"\", 7), Echo).serve_forever()\n")],
        &[],
    );
    let function = ("main.py", "def hello(request):\n    return 'hello'\n");
    let install = "python3 -m pip install --quiet --requirement requirements.txt";
    assert_told(
        &[function, ("requirements.txt", "functions-framework==3.*\n")],
        &[("server", install, "functions-framework --source main.py --target hello")],
    );
    assert_told(&[function, ("requirements.txt", "requests\n")], &[]);
}

#[test]
fn packages_of_python_are_installed_from_where_they_are_declared_and_imports_start_there() {
    let app = ("backend/app/main.py", "app = FastAPI()\n");
    let one = |pairs: &[(&str, &str)]| {
        let (_, build, command) = told(pairs).remove(0);
        (
            build.trim_start_matches("python3 -m pip install --quiet ").to_owned(),
            command,
        )
    };
    let (build, command) = one(&[app, ("backend/requirements.txt", ""), ("requirements.txt", "")]);
    assert_eq!(build, "--requirement backend/requirements.txt uvicorn");
    assert_eq!(
        command,
        "python3 -m uvicorn --no-access-log --app-dir backend app.main:app"
    );
    let project = "[project]\nname = \"x\"\ndependencies = [\"fastapi>=0.1\", \"uvicorn\"]\n";
    assert_eq!(
        one(&[app, ("pyproject.toml", project)]).0,
        "fastapi>=0.1 uvicorn uvicorn"
    );
    let package = format!("[build-system]\nrequires = [\"setuptools\"]\n{project}");
    let ways = told(&[app, ("pyproject.toml", &package)]);
    let ways: Vec<&str> = ways
        .iter()
        .map(|(_, build, _)| build.trim_start_matches("python3 -m pip install --quiet "))
        .collect();
    let as_package_then_packages = ["./. uvicorn", "fastapi>=0.1 uvicorn uvicorn"];
    assert_eq!(ways, as_package_then_packages);
    assert_eq!(one(&[app, ("backend/pyproject.toml", &package)]).0, "./backend uvicorn");
    let ways = |manifest| {
        let builds = found(&[app, manifest]).into_iter().map(|one| one.build.unwrap());
        builds.collect::<Vec<_>>()
    };
    let poetry = ways(("pyproject.toml", "[tool.poetry.dependencies]\npython = \"^3.10\"\n"));
    assert_eq!(poetry[0][3..], ["install", "--quiet", "./.", "uvicorn"]);
    let (script, arguments) = (&poetry[1][2], &poetry[1][3..]);
    assert!(
        script.contains("&& python3 -m poetry --directory . export --without-hashes --output"),
        "{script}"
    );
    assert_eq!(arguments, ["sh", "uvicorn"]);
    let pipenv = ways(("backend/Pipfile", "[packages]\nfastapi = \"*\"\n"));
    assert!(
        pipenv[0][2].ends_with("PIPENV_PIPFILE=backend/Pipfile python3 -m pipenv sync"),
        "{pipenv:?}"
    );
}

#[test]
fn an_application_of_python_without_routes_beside_one_with_routes_is_no_server() {
    let names: Vec<String> = found(&[
        (
            "shop/core.py",
            "app = Flask(__name__)\n@app.route('/items')\ndef items(): ...\n",
        ),
        ("shop/filters.py", "app = Flask(__name__)\n"),
        ("admin/site.py", "app = Flask(__name__)\n"),
    ])
    .into_iter()
    .map(|one| one.name)
    .collect();
    assert_eq!(names, ["site", "core"]);
}

const SPRING_POM: &str = "<project><artifactId>shop</artifactId><version>1.0</version><dependencies><dependency>\
    <artifactId>spring-boot-starter-webmvc</artifactId></dependency></dependencies><build><plugins><plugin>\
    <artifactId>spring-boot-maven-plugin</artifactId></plugin></plugins></build></project>";

#[test]
fn a_module_of_maven_is_packaged_and_its_jar_is_started() {
    let mvn = "mvn --quiet --batch-mode";
    let jar = |folder: &str| format!("sh -c exec java -jar {folder}/target/*.jar");
    let alone = format!("{mvn} --file pom.xml -DskipTests package");
    assert_told(&[("pom.xml", SPRING_POM)], &[("server", &alone, &jar("."))]);
    let top = "<project><packaging>pom</packaging><modules><module>api</module></modules></project>";
    let reactor = format!("{mvn} --projects api --also-make -DskipTests package");
    assert_told(
        &[("pom.xml", top), ("api/pom.xml", SPRING_POM)],
        &[("api", &reactor, &jar("api"))],
    );
    let port = &found(&[("pom.xml", SPRING_POM)])[0].port;
    assert_eq!(
        *port,
        Some(PortSetting::variable("SERVER_PORT".into(), "{port}".into()))
    );
    for starter in ["hateoas", "data-rest"] {
        let pom = SPRING_POM.replace("webmvc", starter);
        assert_eq!(told(&[("pom.xml", &pom)]).len(), 1, "{starter}");
    }
    let library = SPRING_POM.replace("spring-boot-maven-plugin", "other");
    assert!(told(&[("pom.xml", &library)]).is_empty());
}

#[test]
fn a_class_with_main_is_started_on_the_class_path_of_maven() {
    let main = "package shop.api;\npublic class Main { public static void main(String[] a) { Javalin.create().start(7070); } }\n";
    let (name, build, command) =
        told(&[("pom.xml", "<project/>"), ("src/main/java/shop/api/Main.java", main)]).remove(0);
    assert_eq!(name, "api");
    assert!(build.ends_with("dependency:copy-dependencies -DoutputDirectory=target/dependency -DincludeScope=runtime"));
    assert_eq!(command, "java -cp ./target/classes:./target/dependency/* shop.api.Main");
}

#[test]
fn gradle_makes_a_jar_of_spring_and_a_folder_of_applications() {
    let spring = "plugins { id(\"org.springframework.boot\") version \"4.1.2\" }\ndependencies { implementation(\"org.springframework.boot:spring-boot-starter-web\") }";
    assert_told(
        &[("build.gradle.kts", spring), ("gradlew", "")],
        &[(
            "server",
            "./gradlew --quiet -p . bootJar",
            "sh -c exec java -jar ./build/libs/*.jar",
        )],
    );
    let ktor = "plugins { application }\ndependencies { implementation(\"io.ktor:ktor-server-netty:3\") }";
    let start = "sh -c exec \"$(ls api/build/install/*/bin/* | grep -v bat$)\"";
    assert_told(
        &[("api/build.gradle.kts", ktor)],
        &[("api", "gradle --quiet -p api installDist", start)],
    );
}

#[test]
fn a_web_project_of_dotnet_is_published_and_told_its_address() {
    let web = "<Project Sdk=\"Microsoft.NET.Sdk.Web\"/>";
    let pairs = [
        ("src/Shop/Shop.csproj", web),
        ("src/Lib/Lib.csproj", "<Project Sdk=\"Microsoft.NET.Sdk\"/>"),
    ];
    let build = "dotnet publish src/Shop/Shop.csproj --configuration Release --output .wirebench/bin/shop";
    assert_told(&pairs, &[("shop", build, "dotnet .wirebench/bin/shop/Shop.dll")]);
    let port = Some(PortSetting::variable(
        "ASPNETCORE_URLS".into(),
        "http://{address}".into(),
    ));
    assert_eq!(found(&pairs)[0].port, port);
}

#[test]
fn ruby_and_php_are_started_by_what_they_bring() {
    let install = "bundle install --quiet --gemfile=Gemfile";
    assert_told(
        &[("Gemfile", "gem 'sinatra'\ngem 'puma'\n"), ("config.ru", "run App\n")],
        &[
            (
                "server",
                install,
                "bundle exec puma --environment production --bind tcp://{address}",
            ),
            (
                "server",
                install,
                "bundle exec rackup --env production --host {host} --port {port}",
            ),
        ],
    );
    assert_told(
        &[
            ("composer.json", r#"{"require": {"slim/slim": "4"}}"#),
            ("public/index.php", "<?php\n"),
        ],
        &[
            (
                "server",
                "composer install --no-interaction --quiet --working-dir=.",
                "php -S {address} -t public",
            ),
            ("server", "", "php -S {address} -t public"),
        ],
    );
}

#[test]
fn a_site_of_php_in_one_page_is_started_whatever_its_name_unless_there_is_an_index() {
    let page = (
        "files.php",
        "<?php $path = $_GET['p']; ?>\n<!DOCTYPE html>\n<html><body><?= $path ?></body></html>\n",
    );
    let part = ("header.php", "<html><head><title><?= $title ?></title></head>\n");
    assert_told(&[page, part], &[("files", "", "php -S {address} files.php")]);
    let index = ("index.php", "<?php echo 'shop';\n");
    assert_told(&[page, part, index], &[("server", "", "php -S {address} -t ."); 2]);
}

#[test]
fn each_target_whose_source_serves_is_a_program_of_c() {
    let makefile = "all: server client\nserver : server.cc ../httplib.h\n\t$(CXX) -o server server.cc\nclient : client.cc\n\t$(CXX)\n";
    let server = (
        "example/server.cc",
        "int main() { Server svr; svr.listen(\"0.0.0.0\", 8080); }",
    );
    let client = ("example/client.cc", "int main() { Client c; }");
    assert_told(
        &[("example/Makefile", makefile), server, client],
        &[("example", "make -C example server", "example/server")],
    );
    // Its first target runs the program.
    let makefile = "PROG ?= ./shop   # the program\nall: $(PROG)\n\t./$(PROG)\n";
    let main = ("main.c", "int main() { mg_http_listen(&mgr, url, fn, NULL); }");
    assert_told(&[("Makefile", makefile), main], &[("shop", "make -C . shop", "./shop")]);
}
