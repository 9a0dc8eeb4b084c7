//! What the API on loopback answers, in the shapes of GitHub's own answers.

use axum::body::Body;
use axum::http::{Method, StatusCode, header};
use axum::response::Response;
use serde_json::{Value, json};

use crate::github::fake::{Asked, Known, REPOSITORY, REPOSITORY_ID, comment, repository};

pub(super) fn reply(status: u16, body: &Value) -> Response {
    Response::builder()
        .status(StatusCode::from_u16(status).unwrap())
        .header(header::CONTENT_TYPE, "application/json")
        .body(Body::from(body.to_string()))
        .unwrap()
}

pub(super) fn missing() -> Response {
    reply(404, &json!({ "message": "Not Found" }))
}

impl Known {
    pub(super) fn answer(&mut self, asked: &Asked) -> Response {
        let parts: Vec<&str> = asked.path.trim_start_matches('/').split('/').collect();
        let number = |text: &str| text.parse::<u64>().unwrap_or_default();
        let method: Method = asked.method.parse().unwrap();
        match (method.as_str(), &parts[..]) {
            ("GET", [""]) => reply(200, &repository(REPOSITORY_ID, REPOSITORY)),
            ("GET", ["actions", "runs", id]) => by_id(&self.runs, "id", number(id)),
            ("GET", ["actions", "runs", id, "artifacts"]) => {
                let all = self.artifacts.get(&number(id)).cloned().unwrap_or_default();
                reply(200, &json!({ "total_count": all.len(), "artifacts": page(asked, all) }))
            }
            ("GET", ["actions", "runs", id, "jobs"]) => {
                let all = self.jobs.get(&number(id)).cloned().unwrap_or_default();
                reply(200, &json!({ "total_count": all.len(), "jobs": page(asked, all) }))
            }
            ("GET", ["actions", "artifacts", id, "zip"]) => {
                let to = format!("{}/blob/{id}", self.downloads);
                let mut response = reply(302, &Value::Null);
                response.headers_mut().insert(header::LOCATION, to.parse().unwrap());
                response
            }
            ("GET", ["actions", "workflows", _, "runs"]) => {
                let fits = |run: &Value| {
                    let same = |key: &str| asked.query.get(key).is_none_or(|wanted| run[key] == **wanted);
                    same("head_sha") && same("event")
                };
                let all: Vec<Value> = self.runs.iter().filter(|run| fits(run)).cloned().collect();
                reply(
                    200,
                    &json!({ "total_count": all.len(), "workflow_runs": page(asked, all) }),
                )
            }
            ("POST", ["actions", "runs", id, "rerun"]) => {
                self.reruns.push(number(id));
                reply(201, &json!({}))
            }
            ("GET", ["pulls"]) => {
                let fits = |pull: &Value| {
                    let (owner, branch) = (&pull["head"]["user"]["login"], &pull["head"]["ref"]);
                    let head = format!("{}:{}", owner.as_str().unwrap(), branch.as_str().unwrap());
                    let state = asked.query.get("state").map_or("open", String::as_str);
                    asked.query.get("head").is_none_or(|wanted| *wanted == head) && pull["state"] == state
                };
                let all = self.pulls.iter().filter(|pull| fits(pull)).cloned().collect();
                reply(200, &page(asked, all))
            }
            ("GET", ["pulls", id]) => by_id(&self.pulls, "number", number(id)),
            ("GET", ["pulls", id, "files"]) => reply(
                200,
                &page(asked, self.files.get(&number(id)).cloned().unwrap_or_default()),
            ),
            ("GET", ["collaborators", login, "permission"]) => {
                let permission = self.permissions.get(*login).copied().unwrap_or("read");
                reply(
                    200,
                    &json!({ "permission": permission, "role_name": permission, "user": { "login": login } }),
                )
            }
            (_, ["issues" | "check-runs" | "commits", ..]) => self.said(asked, &method, &parts),
            _ => missing(),
        }
    }

    /// Comments, reactions and check runs.
    fn said(&mut self, asked: &Asked, method: &Method, parts: &[&str]) -> Response {
        let number = |text: &str| text.parse::<u64>().unwrap_or_default();
        match (method.as_str(), parts) {
            ("GET", ["issues"]) => {
                let open = |issue: &&Value| issue["state"] == "open";
                let by = |issue: &&Value| {
                    asked
                        .query
                        .get("creator")
                        .is_none_or(|who| issue["user"]["login"] == **who)
                };
                // A real server filters by creator; one that did not would have to be survived as well.
                let lenient = self.issues.len() > 1;
                let all = self.issues.iter().filter(open).filter(|issue| lenient || by(issue));
                reply(200, &page(asked, all.cloned().collect()))
            }
            ("POST", ["issues"]) => {
                let mut made = asked.body.clone();
                made["number"] = json!(40 + self.issues.len());
                made["state"] = json!("open");
                made["user"] = json!({"id": 41_898_282, "login": "github-actions[bot]", "type": "Bot"});
                self.issues.push(made.clone());
                reply(201, &made)
            }
            ("PATCH", ["issues", id]) => match self.issues.iter_mut().find(|issue| issue["number"] == number(id)) {
                Some(issue) => {
                    for (key, value) in asked.body.as_object().unwrap() {
                        issue[key] = value.clone();
                    }
                    reply(200, issue)
                }
                None => missing(),
            },
            ("GET", ["issues", id, "comments"]) => reply(
                200,
                &page(asked, self.comments.get(&number(id)).cloned().unwrap_or_default()),
            ),
            ("GET", ["issues", id, "timeline"]) => reply(
                200,
                &page(asked, self.timeline.get(&number(id)).cloned().unwrap_or_default()),
            ),
            ("POST", ["issues", id, "comments"]) => {
                let all = self.comments.entry(number(id)).or_default();
                let mut made = comment(70_000 + all.len() as u64, "github-actions[bot]", "Bot", "");
                made["body"] = asked.body["body"].clone();
                all.push(made.clone());
                reply(201, &made)
            }
            ("PATCH", ["issues", "comments", id]) => {
                let mut all = self.comments.values_mut().flatten();
                match all.find(|comment| comment["id"] == number(id)) {
                    Some(comment) => {
                        comment["body"] = asked.body["body"].clone();
                        reply(200, comment)
                    }
                    None => missing(),
                }
            }
            ("POST", ["issues", "comments", id, "reactions"]) => {
                self.reactions.push((
                    number(id),
                    asked.body["content"].as_str().unwrap_or_default().to_owned(),
                ));
                reply(201, &json!({ "id": 1 }))
            }
            ("GET", ["commits", sha, "check-runs"]) => {
                let fits = |check: &&Value| check["head_sha"] == *sha && check["name"] == asked.query["check_name"];
                let all: Vec<Value> = self.checks.iter().filter(fits).cloned().collect();
                reply(
                    200,
                    &json!({ "total_count": all.len(), "check_runs": page(asked, all) }),
                )
            }
            ("POST", ["check-runs"]) => {
                let mut made = asked.body.clone();
                made["id"] = json!(80_000 + self.checks.len());
                made["app"] = json!({ "slug": "github-actions" });
                made["output"]["annotations_count"] = json!(made["output"]["annotations"].as_array().unwrap().len());
                self.checks.push(made.clone());
                reply(201, &made)
            }
            ("PATCH", ["check-runs", id]) => match self.checks.iter_mut().find(|check| check["id"] == number(id)) {
                Some(check) => {
                    for (key, value) in asked.body.as_object().unwrap() {
                        check[key] = value.clone();
                    }
                    reply(200, check)
                }
                None => missing(),
            },
            _ => missing(),
        }
    }
}

fn by_id(all: &[Value], key: &str, id: u64) -> Response {
    all.iter()
        .find(|one| one[key] == id)
        .map_or_else(missing, |one| reply(200, one))
}

fn page(asked: &Asked, all: Vec<Value>) -> Value {
    let of = |key: &str, otherwise: usize| asked.query.get(key).and_then(|n| n.parse().ok()).unwrap_or(otherwise);
    let size: usize = of("per_page", 30).min(100);
    all.into_iter().skip((of("page", 1) - 1) * size).take(size).collect()
}
