//! Artifacts that somebody made to do harm: each one is refused, and only a failing check is written.

use std::io::{Cursor, Write as _};

use serde_json::{Value, json};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::github::scene::{ARTIFACT, RUN, Scene, comparison, listed, zip_of, zipped};

const NAME: &str = "comparison.json";

const OTHER_BYTES: &str = "other bytes than those of its one entry";

fn good() -> Vec<u8> {
    comparison("regressed").to_string().into_bytes()
}

fn plain() -> SimpleFileOptions {
    SimpleFileOptions::default().unix_permissions(0o644)
}

fn refused(zip: &[u8]) -> String {
    Scene::with(zip).refused_by_the_check()
}

/// The place of a signature, the last one.
fn last(zip: &[u8], signature: &[u8]) -> usize {
    zip.windows(4).rposition(|window| window == signature).unwrap()
}

#[test]
fn names_that_lead_elsewhere_or_are_others_are_refused() {
    let good = good();
    for name in [
        "../comparison.json",
        "/comparison.json",
        "../../../../home/runner/.bashrc",
        "a/comparison.json",
        "a/b/c/comparison.json",
        "Comparison.json",
        "comparison.json ",
        "comparison.json\n",
        "comparison.json/x",
        "C:\\comparison.json",
        "::set-output name=x::y",
        "run.json",
    ] {
        let why = refused(&zip_of(&[(name, &good)], plain()));
        assert!(why.contains("another name"), "{name:?}: {why}");
    }
}

#[test]
fn what_is_no_single_plain_file_is_refused() {
    let good = good();
    assert!(refused(&zip_of(&[(NAME, &good), ("more.json", &good)], plain())).contains("another number of entries"));
    assert!(refused(&zip_of(&[], plain())).contains("another number of entries"));
    for mode in [0o755_u32, 0o4644, 0o2644, 0o1644, 0o645] {
        let mut zip = zipped(&good);
        let attributes = last(&zip, b"PK\x01\x02") + 38;
        zip[attributes..attributes + 4].copy_from_slice(&((0o100_000 | mode) << 16).to_le_bytes());
        assert!(refused(&zip).contains("no ordinary file"), "{mode:o}");
    }
    for kind in [0o040_000_u32, 0o120_000, 0o060_000, 0o010_000, 0o140_000] {
        let mut zip = zipped(&good);
        let attributes = last(&zip, b"PK\x01\x02") + 38;
        zip[attributes..attributes + 4].copy_from_slice(&((kind | 0o644) << 16).to_le_bytes());
        assert!(refused(&zip).contains("no ordinary file"), "{kind:o}");
    }
    let mut link = ZipWriter::new(Cursor::new(Vec::new()));
    link.add_symlink(NAME, "/etc/passwd", plain()).unwrap();
    assert!(refused(&link.finish().unwrap().into_inner()).contains("no ordinary file"));
    let mut folder = ZipWriter::new(Cursor::new(Vec::new()));
    folder.add_directory("comparison.json/", plain()).unwrap();
    assert!(refused(&folder.finish().unwrap().into_inner()).contains("another name"));
}

#[test]
fn one_name_twice_and_entries_that_are_hidden_are_refused() {
    let (good, other) = (good(), b"{}".to_vec());
    let one = zipped(&good);
    let two = zipped(&other);
    // The directory of the second archive, behind both: a reader from the front sees another file than one from the end.
    let hidden = [&one[..last(&one, b"PK\x01\x02")], &two].concat();
    assert!(refused(&hidden).contains(OTHER_BYTES));
    let mut twice = zip_of(&[(NAME, &good), ("comparison.jsox", &other)], plain());
    let changed: Vec<usize> = (0..twice.len() - 15)
        .filter(|at| twice[*at..].starts_with(b"comparison.jsox"))
        .collect();
    changed.iter().for_each(|at| twice[at + 14] = b'n');
    assert_eq!(changed.len(), 2);
    assert!(refused(&twice).contains("another number of entries"));
    let mut told_one = twice;
    let end = told_one.len() - 22;
    (told_one[end + 8], told_one[end + 10]) = (1, 1);
    assert!(refused(&told_one).contains(OTHER_BYTES));
    let mut between = one.clone();
    let central = last(&one, b"PK\x01\x02");
    between.splice(central..central, *b"0123456789abcdef");
    let end = between.len() - 22;
    between[end + 16..end + 20].copy_from_slice(&u32::try_from(central + 16).unwrap().to_le_bytes());
    assert!(refused(&between).contains(OTHER_BYTES));
    let before = [b"#!/bin/sh\n".as_slice(), &one].concat();
    assert!(refused(&before).contains(OTHER_BYTES));
    let mut two_names = one;
    two_names[30] = b'C';
    assert!(refused(&two_names).contains("one thing in the directory"));
}

#[test]
fn encrypted_cut_off_and_strange_archives_are_refused() {
    let zip = zipped(&good());
    let mut encrypted = zip.clone();
    let central = last(&zip, b"PK\x01\x02");
    encrypted[6] |= 1;
    encrypted[central + 8] |= 1;
    assert!(refused(&encrypted).contains("encrypted"));
    let mut method = zip.clone();
    (method[8], method[central + 10]) = (12, 12);
    assert!(refused(&method).contains("unusual way"));
    let mut damaged = zip.clone();
    damaged[central - 20] ^= 0xff;
    assert!(refused(&damaged).contains("damaged"));
    for bytes in [
        &b""[..],
        b"PK",
        b"not a zip at all, but some text that is long enough",
        &zip[..zip.len() / 2],
        &zip[..zip.len() - 1],
        &[&zip[..], b"\n"].concat(),
    ] {
        let why = refused(bytes);
        assert!(why.contains("no zip") || why.contains(OTHER_BYTES), "{why}");
    }
}

#[test]
fn bombs_are_refused_before_they_grow() {
    let zeros = vec![b' '; 64 << 20];
    let bomb = zipped(&zeros);
    assert!(bomb.len() < 256 << 10, "{} bytes", bomb.len());
    assert!(refused(&bomb).contains("states a size of 67108864 bytes, more than 1048576"));
    let mut lying = zipped(&zeros);
    let central = last(&lying, b"PK\x01\x02");
    for at in [22, central + 24] {
        lying[at..at + 4].copy_from_slice(&1000_u32.to_le_bytes());
    }
    assert!(refused(&lying).contains("although its header states fewer"));
    let just_over = zipped(&vec![b' '; (1 << 20) + 1]);
    assert!(refused(&just_over).contains("states a size of 1048577 bytes"));
}

#[test]
fn what_is_too_large_is_not_even_downloaded_and_what_grows_is_not_read() {
    let zip = zipped(&good());
    let scene = Scene::with(&zip);
    scene.fake.known().artifacts.insert(RUN, vec![listed(257 << 10)]);
    assert!(scene.refused_by_the_check().contains("263168 bytes"));
    assert!(
        scene
            .fake
            .requests()
            .iter()
            .all(|asked| !asked.download && !asked.path.ends_with("/zip"))
    );
    scene.fake.known().archives.insert(ARTIFACT, vec![0; 257 << 10]);
    scene.fake.known().artifacts.insert(RUN, vec![listed(1000)]);
    assert!(scene.refused_by_the_check().contains("larger than was said"));
}

#[test]
fn json_that_is_not_as_strict_as_ours_is_refused() {
    let text = String::from_utf8(good()).unwrap();
    let changed = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        text.replacen(from, to, 1)
    };
    let depth = format!("{}1{}", "[".repeat(10_000), "]".repeat(10_000));
    let rows = format!("[{}0]", "0,".repeat(400_000));
    for (json, why) in [
        ("NaN".into(), "refused"),
        (changed("\"seed\":42", "\"seed\":NaN"), "refused"),
        (changed("\"stage\":1", "\"stage\":1e400"), "out of range"),
        (
            changed("\"schema\":", "\"schema\":\"wirebench.comparison/v2\",\"schema\":"),
            "twice",
        ),
        (
            changed("\"notes\":[]", &format!("\"notes\":{depth}")),
            "nested more than",
        ),
        (changed("\"notes\":[]", &format!("\"notes\":{rows}")), "values"),
        (
            changed("\"paired\":", &format!("\"unknown\":{depth},\"paired\":")),
            "nested more than",
        ),
        (
            changed(
                "\"paired\":",
                &format!("\"unknown\":\"{}\",\"paired\":", "x".repeat(9000)),
            ),
            "more than 8192 bytes",
        ),
        (
            changed("wirebench.comparison/v2", "wirebench.comparison/v3"),
            "a newer version than wirebench.comparison/v2",
        ),
        (changed("\"unit\":\"ns\"", "\"unit\":\"<b>ns</b>\""), "unit"),
        (changed("\"unit\":\"ns\"", "\"unit\":\"req/s\""), "unit"),
        (
            changed("\"verdict\":\"regressed\"", "\"verdict\":\"fine\""),
            "as the schema says",
        ),
        (
            changed("@http@", "@http\\n::set-output name=a::b@"),
            "series?0?.id is not as the schema says",
        ),
        (
            changed("@http@", "@<img src=x>@"),
            "series?0?.id is not as the schema says",
        ),
        (text.clone() + " {}", "trailing"),
        (text[..text.len() - 2].to_owned(), "EOF"),
        ("[]".into(), "is no wirebench"),
        ("\u{feff}".to_owned() + &text, "refused"),
    ] {
        let said = refused(&zipped(json.as_bytes()));
        assert!(said.contains(why), "{why}: {said}");
        assert!(
            said.len() < 400 && !said.contains("::") && !said.contains('<'),
            "{said}"
        );
    }
    assert!(refused(&zipped(&[text.as_bytes(), b"\xff"].concat())).contains("UTF-8"));
}

#[test]
fn a_field_of_a_newer_version_changes_no_word() {
    let mut value = comparison("regressed");
    let known = Scene::with(&zipped(value.to_string().as_bytes())).said();
    value["pull_request"] = json!(8);
    value["series"][0]["advice"] = json!(["@everyone", { "see": "https://evil.example" }]);
    assert_eq!(Scene::with(&zipped(value.to_string().as_bytes())).said(), known);
}

#[test]
fn a_comparison_of_too_many_series_is_refused() {
    let mut value = comparison("unchanged");
    let mut one = value["series"][0].clone();
    one["metrics"].as_array_mut().unwrap().truncate(1);
    let all: Vec<Value> = (0..501)
        .map(|number| {
            let mut one = one.clone();
            (one["id"], one["scenario"]) = (json!(format!("s{number}@http@hey")), json!(format!("s{number}")));
            one
        })
        .collect();
    value["series"] = json!(all);
    assert!(refused(&zipped(value.to_string().as_bytes())).contains("at most 500 series"));
    value["series"].as_array_mut().unwrap().pop();
    let scene = Scene::with(&zipped(value.to_string().as_bytes()));
    let text = scene.said();
    assert!(text.len() <= 4096, "{} bytes", text.len());
}

#[test]
fn the_artifact_cannot_say_which_commit_or_pull_request_it_is_about() {
    let mut value = comparison("regressed");
    value["candidate"]["revision"]["commit"] = json!("e".repeat(40));
    value["candidate"]["revision"]["name"] = json!("release");
    let text = Scene::with(&zipped(value.to_string().as_bytes())).said();
    assert!(
        text.contains("own code at `b81e05d44c7f`") && text.contains("`3f9d2c71a0b8` → `b81e05d44c7f`"),
        "{text}"
    );
    assert!(!text.contains("eeee") && !text.contains("release"));
}

/// One made by `@actions/artifact` 6.2.1, which streams.
#[test]
fn archives_of_other_programs_are_read() {
    let mut writer = ZipWriter::new_stream(Vec::new());
    writer.start_file(NAME, plain()).unwrap();
    writer.write_all(&good()).unwrap();
    let streamed = writer.finish().unwrap().into_inner();
    let upload_artifact = include_bytes!("../../fixtures/artifacts/upload-artifact.zip");
    for zip in [&streamed[..], upload_artifact] {
        assert_eq!(zip[6] & 8, 8, "sizes follow the data");
        assert!(Scene::with(zip).said().contains("✗ Regressed"));
    }
}

/// Info-ZIP 3.0 adds fields of its own, which no program that uploads artifacts does.
#[test]
fn extra_fields_are_refused() {
    assert!(refused(include_bytes!("../../fixtures/artifacts/info-zip.zip")).contains(OTHER_BYTES));
}
