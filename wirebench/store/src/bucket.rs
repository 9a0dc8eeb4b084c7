//! The objects of one history: listing, reading, writing once, and replacing if unchanged.

use std::collections::BTreeMap;
use std::error::Error as _;
use std::time::Duration;

use bytes::Bytes;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::path::Path as Key;
use object_store::{
    BackoffConfig, ClientOptions, Error, ObjectStore as _, ObjectStoreExt as _, PutMode, PutOptions, RetryConfig,
    UpdateVersion,
};
use tokio::runtime::Runtime;

use crate::address::Address;
use crate::error::StoreError;
use wirebench_history::append::Written;

/// The most concurrent requests.
const CONCURRENT: usize = 16;
/// How often a request is sent again after a failed connection or a response 5xx.
const RETRIES: usize = 5;
/// The time limit of a transfer.
const TRANSFER_TIMEOUT: Duration = Duration::from_secs(120);
/// How often a write is tried if it collides with another write of the same object.
const WRITE_TRIES: u32 = 5;

/// A history in object storage.
#[derive(Debug)]
pub struct Bucket {
    address: Address,
    store: AmazonS3,
    runtime: Runtime,
}

/// An object's content, and the tag of this version of it.
pub(crate) struct Content {
    pub(crate) bytes: Bytes,
    pub(crate) tag: Option<String>,
}

impl Bucket {
    /// Prepares access to a history. Credentials, region and endpoint come from the environment variables `AWS_…`. Sends
    /// nothing.
    ///
    /// # Errors
    /// If there are no credentials, or the endpoint is not encrypted and `AWS_ALLOW_HTTP` does not allow that.
    pub fn open(address: &Address) -> Result<Self, StoreError> {
        let unusable = |why: String| StoreError::Unusable {
            address: address.to_string(),
            why,
        };
        check_configuration(|name| std::env::var(name).ok().filter(|value| !value.is_empty())).map_err(unusable)?;
        // A process has one default provider; one that is installed already serves as well.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let backoff = BackoffConfig {
            init_backoff: Duration::from_millis(100),
            max_backoff: Duration::from_secs(5),
            ..BackoffConfig::default()
        };
        let retry = RetryConfig {
            backoff,
            max_retries: RETRIES,
            retry_timeout: TRANSFER_TIMEOUT,
        };
        let mut builder = AmazonS3Builder::from_env()
            .with_bucket_name(address.bucket())
            .with_retry(retry);
        let allow_http = std::env::var("AWS_ALLOW_HTTP").is_ok_and(|value| is_true(&value));
        builder = builder.with_client_options(
            ClientOptions::new()
                .with_allow_http(allow_http)
                .with_timeout(TRANSFER_TIMEOUT),
        );
        let store = builder.build().map_err(|error| unusable(with_causes(&error)))?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| unusable(format!("cannot wait for answers: {error}")))?;
        Ok(Self {
            address: address.clone(),
            store,
            runtime,
        })
    }

    /// The address of the history.
    #[must_use]
    pub const fn address(&self) -> &Address {
        &self.address
    }

    /// Paths and lengths in bytes of all objects under the prefix, in order.
    ///
    /// # Errors
    /// If the bucket cannot be listed.
    pub(crate) fn list(&self) -> Result<BTreeMap<String, u64>, StoreError> {
        let prefix = Key::from(self.address.prefix());
        let listed = self.store.list(Some(&prefix)).try_collect::<Vec<_>>();
        let listed = self
            .runtime
            .block_on(listed)
            .map_err(|error| self.failed(None, "listed", &error))?;
        let objects = listed.into_iter();
        let paths =
            objects.filter_map(|object| Some((self.address.path(object.location.as_ref())?.to_owned(), object.size)));
        Ok(paths.collect())
    }

    /// Reads objects by path, several at a time, and passes each to `take` as it arrives. Objects that do not exist are left
    /// out.
    ///
    /// # Errors
    /// If an object cannot be read, or `take` fails.
    pub(crate) fn read(
        &self,
        paths: &[String],
        mut take: impl FnMut(&str, Content) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let reads = stream::iter(paths).map(|path| async move { self.get(path).await.map(|content| (path, content)) });
        let mut reads = reads.buffer_unordered(CONCURRENT);
        self.runtime.block_on(async {
            while let Some((path, content)) = reads.try_next().await? {
                if let Some(content) = content {
                    take(path, content)?;
                }
            }
            Ok(())
        })
    }

    async fn get(&self, path: &str) -> Result<Option<Content>, StoreError> {
        let object = match self.store.get(&self.key(path)).await {
            Ok(object) => object,
            Err(Error::NotFound { .. }) => return Ok(None),
            Err(error) => return Err(self.failed(Some(path), "read", &error)),
        };
        let tag = object.meta.e_tag.clone();
        let bytes = object.bytes().await;
        let bytes = bytes.map_err(|error| self.failed(Some(path), "read", &error))?;
        Ok(Some(Content { bytes, tag }))
    }

    /// Writes objects that must not change later, several at a time; `content` returns the content of each. An object with the
    /// same content is left. Returns the paths in the order in which they were finished.
    ///
    /// # Errors
    /// If an object has other content, or cannot be written. Others may have been written before.
    pub(crate) fn write_once(
        &self,
        paths: &[String],
        content: impl Fn(&str) -> Result<Bytes, StoreError>,
    ) -> Result<Vec<(String, Written)>, StoreError> {
        let content = &content;
        let writes = stream::iter(paths).map(|path| async move {
            let written = self.create(path, &content(path)?).await?;
            Ok((path.clone(), written))
        });
        self.runtime.block_on(writes.buffer_unordered(CONCURRENT).try_collect())
    }

    async fn create(&self, path: &str, content: &Bytes) -> Result<Written, StoreError> {
        let mut tries = 0;
        loop {
            tries += 1;
            let collision = match self.put(path, content, PutMode::Create).await {
                Ok(()) => return Ok(Written::New),
                Err(error @ Error::AlreadyExists { .. }) => error,
                Err(error) => return Err(self.failed(Some(path), "written", &error)),
            };
            match self.get(path).await? {
                Some(stored) if stored.bytes == *content => return Ok(Written::AlreadyThere),
                Some(_) => return Err(self.differs(path)),
                // The write that this one collided with has failed.
                None if tries < WRITE_TRIES => {}
                None => return Err(self.failed(Some(path), "written", &collision)),
            }
        }
    }

    /// Writes an object if nobody else changed it: `tag` is the tag of the version to replace, `None` if there was no object.
    /// Returns false, and changes nothing, if somebody else changed it.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn replace(&self, path: &str, content: &Bytes, tag: Option<String>) -> Result<bool, StoreError> {
        let mode = match tag {
            None => PutMode::Create,
            Some(tag) => PutMode::Update(UpdateVersion {
                e_tag: Some(tag),
                version: None,
            }),
        };
        match self.runtime.block_on(self.put(path, content, mode)) {
            Ok(()) => Ok(true),
            Err(Error::AlreadyExists { .. } | Error::Precondition { .. }) => Ok(false),
            Err(error) => Err(self.failed(Some(path), "written", &error)),
        }
    }

    async fn put(&self, path: &str, content: &Bytes, mode: PutMode) -> Result<(), Error> {
        let options = PutOptions::from(mode);
        self.store
            .put_opts(&self.key(path), content.clone().into(), options)
            .await
            .map(|_| ())
    }

    fn key(&self, path: &str) -> Key {
        Key::from(self.address.key(path))
    }

    /// The error of an object whose content differs from the file's.
    pub(crate) fn differs(&self, path: &str) -> StoreError {
        StoreError::Differs {
            address: self.address.of(path),
            path: path.to_owned(),
        }
    }

    fn failed(&self, path: Option<&str>, verb: &'static str, error: &Error) -> StoreError {
        let why = with_causes(error);
        // Errors of listing have no kind of their own: only the message of the server tells.
        let has = |texts: &[&str]| texts.iter().any(|text| why.contains(text));
        let advice = if has(&["NoSuchBucket"]) {
            "; make the bucket, and check AWS_ENDPOINT_URL and AWS_REGION"
        } else if has(&["401 Unauthorized", "403 Forbidden"]) {
            "; check the credentials in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and that they may list, read and write objects there"
        } else if has(&["501 Not Implemented"]) {
            "; the server must support If-None-Match and If-Match of PutObject"
        } else {
            ""
        };
        StoreError::Failed {
            address: path.map_or_else(|| self.address.to_string(), |path| self.address.of(path)),
            verb,
            why: format!("{why}{advice}"),
        }
    }
}

fn is_true(value: &str) -> bool {
    ["1", "true", "yes", "on"].contains(&value.to_ascii_lowercase().as_str())
}

/// Checks the environment variables, which `get` reads.
///
/// # Errors
/// If there are no credentials, or the endpoint is not encrypted and that is not allowed: the variables to set.
fn check_configuration(get: impl Fn(&str) -> Option<String>) -> Result<(), String> {
    let has = |name: &str| get(name).is_some();
    match (has("AWS_ACCESS_KEY_ID"), has("AWS_SECRET_ACCESS_KEY")) {
        (true, false) => return Err("AWS_ACCESS_KEY_ID is set, AWS_SECRET_ACCESS_KEY is not; set both".into()),
        (false, true) => return Err("AWS_SECRET_ACCESS_KEY is set, AWS_ACCESS_KEY_ID is not; set both".into()),
        _ => {}
    }
    // Without any of these, the library would request credentials from the cloud's metadata service, which most machines lack.
    let sources = [
        "AWS_ACCESS_KEY_ID",
        "AWS_WEB_IDENTITY_TOKEN_FILE",
        "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
        "AWS_CONTAINER_CREDENTIALS_FULL_URI",
        "AWS_METADATA_ENDPOINT",
        "AWS_SKIP_SIGNATURE",
    ];
    if !sources.into_iter().any(has) {
        return Err(
            "no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and AWS_ENDPOINT_URL if it is not Amazon's".into(),
        );
    }
    let endpoint = get("AWS_ENDPOINT_URL_S3")
        .or_else(|| get("AWS_ENDPOINT_URL"))
        .or_else(|| get("AWS_ENDPOINT"));
    let Some(endpoint) = endpoint else { return Ok(()) };
    let allowed = get("AWS_ALLOW_HTTP").is_some_and(|value| is_true(&value));
    if endpoint.starts_with("https://") || (endpoint.starts_with("http://") && allowed) {
        return Ok(());
    }
    Err(format!(
        "the endpoint {endpoint} is not encrypted; give one with https://, or for a server of your own set AWS_ALLOW_HTTP=true"
    ))
}

/// An error and its causes on one line, each once.
fn with_causes(error: &Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(error) = next {
        let cause = error.to_string();
        if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
        next = error.source();
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(variables: &[(&str, &str)]) -> Result<(), String> {
        let all: BTreeMap<&str, &str> = variables.iter().copied().collect();
        check_configuration(|name| all.get(name).map(ToString::to_string))
    }

    const KEYS: [(&str, &str); 2] = [("AWS_ACCESS_KEY_ID", "a"), ("AWS_SECRET_ACCESS_KEY", "b")];

    #[test]
    fn missing_credentials_are_said_before_anything_is_sent() {
        assert!(with(&[]).unwrap_err().contains("no credentials: set AWS_ACCESS_KEY_ID"));
        assert!(
            with(&KEYS[..1])
                .unwrap_err()
                .contains("AWS_SECRET_ACCESS_KEY is not; set both")
        );
        assert!(
            with(&KEYS[1..])
                .unwrap_err()
                .contains("AWS_ACCESS_KEY_ID is not; set both")
        );
        assert_eq!(with(&KEYS), Ok(()));
        assert_eq!(with(&[("AWS_WEB_IDENTITY_TOKEN_FILE", "/token")]), Ok(()));
    }

    #[test]
    fn an_endpoint_without_encryption_has_to_be_allowed() {
        let endpoint = |url: &'static str, more: &[(&'static str, &'static str)]| {
            let mut all = KEYS.to_vec();
            all.push(("AWS_ENDPOINT_URL", url));
            all.extend(more);
            with(&all)
        };
        assert_eq!(endpoint("https://s3.example.org", &[]), Ok(()));
        let error = endpoint("http://s3.example.org", &[]).unwrap_err();
        assert!(error.contains("http://s3.example.org is not encrypted") && error.contains("AWS_ALLOW_HTTP=true"));
        assert_eq!(endpoint("http://s3.example.org", &[("AWS_ALLOW_HTTP", "true")]), Ok(()));
        assert!(endpoint("ftp://s3.example.org", &[("AWS_ALLOW_HTTP", "true")]).is_err());
    }
}
