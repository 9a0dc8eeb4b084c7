//! The routes that sources declare, each with its line: the requests for the running server.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::files::{Files, pattern};
use crate::known::KNOWN;

/// A route as a source declares it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Route {
    /// The method, upper case.
    pub(super) method: String,
    /// The path as written, parameters included.
    pub(super) path: String,
    /// Its file and line: `cmd/api/main.go:12`.
    pub(super) place: String,
}

impl fmt::Display for Route {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{} {} ({})", self.method, self.path, self.place)
    }
}

/// Every route that a server printed when it started, with its whole path; each method and path once.
pub(super) fn printed(output: &str) -> Vec<Route> {
    let mut seen = BTreeSet::new();
    let all = KNOWN.printed.iter().flat_map(|pattern| pattern.captures_iter(output));
    let all = all.map(|one| Route {
        method: one["method"].to_owned(),
        path: one["path"].to_owned(),
        place: "its own output".into(),
    });
    all.filter(|route| seen.insert(route.clone())).collect()
}

/// Every route of these files, in order; each method and path once.
pub(super) fn of(files: &Files, sources: &[String]) -> Vec<Route> {
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for (source, text) in texts(files, sources) {
        let mut of_file: Vec<(usize, Route)> = Vec::new();
        let nests = nests(text);
        for pattern in &KNOWN.routes {
            for one in pattern.captures_iter(text) {
                of_file.extend(route(&one, source, text, &nests));
            }
        }
        of_file.sort();
        let routes = of_file.into_iter().map(|(_, route)| route);
        found.extend(routes.filter(|route| seen.insert((route.method.clone(), route.path.clone()))));
    }
    found
}

/// Every prefix below which routes of these files may be mounted.
pub(super) fn prefixes(files: &Files, sources: &[String]) -> BTreeSet<String> {
    let all = texts(files, sources).flat_map(|(_, text)| KNOWN.prefixes.iter().map(move |one| (one, text)));
    let all = all.flat_map(|(pattern, text)| pattern.captures_iter(text));
    all.map(|one| one["path"].trim_end_matches('/').to_owned())
        .filter(|prefix| !prefix.is_empty())
        .collect()
}

fn texts<'a>(files: &'a Files, sources: &'a [String]) -> impl Iterator<Item = (&'a str, &'a str)> {
    sources
        .iter()
        .filter_map(|source| Some((source.as_str(), files.text(source)?)))
}

/// Where the routes are that lie below a path, and the path.
fn nests(text: &str) -> Vec<(Range<usize>, &str)> {
    let span = |one: Captures<'_>| {
        let (chained, from) = (one.name("chained"), one.get(0)?.end());
        let mut depth = 1;
        let ends = |(_, c): &(usize, char)| {
            depth += match c {
                '(' | '[' | '{' => 1,
                ')' | ']' | '}' => -1,
                _ => 0,
            };
            depth == 0 || (*c == ';' && depth == 1 && chained.is_some())
        };
        let end = text[from..]
            .char_indices()
            .find(ends)
            .map_or(text.len(), |(at, _)| from + at);
        let path = chained.or(one.name("around"))?;
        Some((from..end, &text[path.range()]))
    };
    KNOWN.nest.captures_iter(text).filter_map(span).collect()
}

fn route(one: &Captures, source: &str, text: &str, nests: &[(Range<usize>, &str)]) -> Option<(usize, Route)> {
    let path = one.name("path")?;
    let around = nests.iter().filter(|(span, _)| span.contains(&path.start()));
    let around: String = around.map(|(_, path)| format!("/{}", path.trim_matches('/'))).collect();
    let is_whole = !path.is_empty() || !around.is_empty();
    // Tornado's paths are patterns, which often end in a slash that may be missing.
    let written = path.as_str().strip_suffix("/?").unwrap_or(path.as_str());
    let usable = is_whole && !written.contains(['\\', '$', '(', ' ']) && written.chars().all(|c| c.is_ascii_graphic());
    let line = text[..path.start()].matches('\n').count() + 1;
    let method = one.name("method").map_or("GET", |method| method.as_str());
    let route = Route {
        method: method.to_ascii_uppercase(),
        path: if path.is_empty() {
            around
        } else {
            format!("{around}/{}", written.trim_start_matches('/'))
        },
        place: format!("{source}:{line}"),
    };
    usable.then_some((path.start(), route))
}

/// A path with its parameters filled in: `:id`, `{id}`, `{id:int}`, `<int:id>`, `*rest`; the same path when it has none.
pub(super) fn filled(path: &str, value: &str) -> String {
    static PARAMETER: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"\{[^}/]*\}|<[^>/]*>|:[A-Za-z_]\w*\??|\[[^\]/]*\]|\*\w*"));
    PARAMETER.replace_all(path, value).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let files = Files::of(&[("a", text)]);
        let routes = of(&files, &["a".to_owned()]);
        routes
            .iter()
            .map(|one| format!("{} {}", one.method, one.path))
            .collect()
    }

    #[test]
    fn routes_are_found_in_the_words_of_each_framework() {
        for (text, expected) in [
            (".route(\"/users/{id}\", get(user))", "GET /users/{id}"),
            (".route(\"/users\", axum::routing::post(f))", "POST /users"),
            (".route(\"/x\", web::get().to(f))", "GET /x"),
            ("#[get(\"/x/{id}\")]", "GET /x/{id}"),
            ("r.GET(\"/ping\", func(c *gin.Context) {", "GET /ping"),
            ("mux.HandleFunc(\"POST /users\", f)", "POST /users"),
            ("http.HandleFunc(\"/old\", f)", "GET /old"),
            ("r.HandleFunc(config.Root+\"api/x\", f)", "GET /api/x"),
            ("r.HandleFunc(\"POST \"+root+\"api/x\", f)", "POST /api/x"),
            ("app.get('/items/:id', (req, res) => {", "GET /items/:id"),
            ("fastify.route({ method: 'GET', url: '/y' })", "GET /y"),
            ("server.route({ method: 'POST', path: '/y', handler })", "POST /y"),
            ("@app.get(\"/items/{item_id}\")", "GET /items/{item_id}"),
            ("@app.route('/z', methods=['POST'])", "POST /z"),
            ("@app.route('/hello/<name>')", "GET /hello/<name>"),
            ("if self.path == '/users':", "GET /users"),
            ("warp::path!(\"todos\").and(warp::get())", "GET /todos"),
            (".at(\"/hello/:name\", get(hello))", "GET /hello/:name"),
            ("app.at(\"/orders\").post(order)", "POST /orders"),
            ("router.route('/users').get(list)", "GET /users"),
            ("#[oai(path = \"/pets/:id\", method = \"get\")]", "GET /pets/:id"),
            ("Router::with_path(\"todos/{id}\").get(f)", "GET /todos/{id}"),
            ("if (req.url === \"/x\")", "GET /x"),
            ("    @GetMapping(\"/greeting\")", "GET /greeting"),
            ("@RequestMapping(\"/api/books\")", "GET /api/books"),
            ("@RequestMapping(path = \"/old\")", "GET /old"),
            ("routing {\n    get(\"/of-ktor\") {", "GET /of-ktor"),
            ("app.add_route('/things', things)", "GET /things"),
            ("app.add_url_rule('/of-flask', view_func=f)", "GET /of-flask"),
            ("app.router.add_get('/of-aiohttp', f)", "GET /of-aiohttp"),
            ("Application([(r\"/of-tornado\", Handler)])", "GET /of-tornado"),
            ("[(r\"/of-a-pattern/?\", Handler)]", "GET /of-a-pattern"),
            ("app.MapGet(\"/of-aspnet/{id:int}\", f)", "GET /of-aspnet/{id:int}"),
            (
                "this.app.get<{ Params: P }>(`${apiPath}/email/:id`, f)",
                "GET /email/:id",
            ),
            ("app = Router(\n    (\"/of-a-tuple\", f),\n)", "GET /of-a-tuple"),
            ("app\n  .get('/of-a-chain/:id', f)", "GET /of-a-chain/:id"),
            (
                "routes = [Route('/of-starlette/{name}', f)]",
                "GET /of-starlette/{name}",
            ),
            ("r.Get(*routePrefix+\"/-/healthy\", f)", "GET /-/healthy"),
        ] {
            assert_eq!(found(text), [expected], "{text}");
        }
        assert_eq!(found("axios.get('https://example.org')"), [""; 0]);
    }

    #[test]
    fn a_route_inside_others_has_their_paths_before_its_own() {
        for (text, expected) in [
            (
                "web::scope(\"/api\").service(web::scope(\"/tags\").route(\"\", get().to(f)))\n\
                 .service(web::scope(\"/users\").route(\"/{name}\", get().to(f)).route(\"\", post().to(f)))",
                &["GET /api/tags", "GET /api/users/{name}", "POST /api/users"][..],
            ),
            (
                "let a = web::scope(\"/a\");\n app.service(a).route(\"/b\", get().to(f))",
                &["GET /b"],
            ),
            (
                "Router::new().nest(\"/v1\", Router::new().route(\"/a\", get(f))).route(\"/b\", get(f))",
                &["GET /v1/a", "GET /b"],
            ),
            (
                "r.Route(\"/a\", func(r chi.Router) {\n r.Get(\"/\", f);\n r.Route(\"/{id}\", func(r chi.Router) { r.Get(\"/x\", f) })\n})\nr.Get(\"/b\", f)",
                &["GET /a", "GET /a/", "GET /a/{id}", "GET /a/{id}/x", "GET /b"],
            ),
            (
                "routing {\n route(\"/a\") {\n  get(\"/b\") { }\n }\n get(\"/c\") { }\n}",
                &["GET /a", "GET /a/b", "GET /c"],
            ),
            (
                "Router::new().push(Router::with_path(\"a\").push(Router::with_path(\"{id}\").get(f)))",
                &["GET /a", "GET /a/{id}"],
            ),
            ("app.route(\"\", get(f))", &[]),
        ] {
            assert_eq!(found(text), expected, "{text}");
        }
    }

    #[test]
    fn routes_that_a_server_prints_have_their_whole_path() {
        let output = "[GIN-debug] GET    /api/articles/             --> x/articles.ArticleList (4 handlers)\n\
                      [GIN-debug] [WARNING] Running in \"debug\" mode\n\
                      \u{1b}[32m[Nest] 1 - LOG [RouterExplorer] Mapped {/cats/:id, POST} route +1ms\u{1b}[39m\n   >> (hello) GET /hello/<name>\n";
        let told: Vec<String> = printed(output)
            .iter()
            .map(|one| format!("{} {}", one.method, one.path))
            .collect();
        assert_eq!(told, ["GET /api/articles/", "POST /cats/:id", "GET /hello/<name>"]);
    }

    #[test]
    fn a_route_names_its_line_and_prefixes_are_known() {
        let text = "\n\nv1 := r.Group(\"/v1\")\nv1.GET(\"/a\", f)\n";
        let (files, sources) = (Files::of(&[("m.go", text)]), ["m.go".to_owned()]);
        let routes = of(&files, &sources);
        assert_eq!((routes.len(), routes[0].place.as_str()), (1, "m.go:4"));
        assert_eq!(prefixes(&files, &sources).into_iter().collect::<Vec<_>>(), ["/v1"]);
        for text in [
            "const apiPath = `${basePath}/api`",
            "URL_PREFIX = '/api'",
            "serverBasePath: \"/api/\"",
        ] {
            let files = Files::of(&[("m.go", text)]);
            assert_eq!(
                prefixes(&files, &sources).into_iter().collect::<Vec<_>>(),
                ["/api"],
                "{text}"
            );
        }
    }

    #[test]
    fn parameters_are_filled_in_any_spelling() {
        for path in ["/a/:id/b", "/a/{id}/b", "/a/<int:id>/b", "/a/{id:[0-9]+}/b"] {
            assert_eq!(filled(path, "1"), "/a/1/b", "{path}");
        }
        assert_eq!(filled("/files/*path", "1"), "/files/1");
        assert_eq!(filled("/plain", "1"), "/plain");
    }
}
