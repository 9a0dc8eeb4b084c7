//! Converts the metrics document to the contract's message.

use domain::MetricsDocument;

use crate::metrics_v1::GetMetricsDocumentResponse;

impl From<&MetricsDocument> for GetMetricsDocumentResponse {
    fn from(document: &MetricsDocument) -> Self {
        Self {
            content_type: document.content_type.clone(),
            text: document.text.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use prost::Message;

    use super::GetMetricsDocumentResponse;

    /// Comparison B: 8,964 bytes of JSON, 8,581 of protobuf.
    #[test]
    fn the_document_is_as_large_as_claimed_within_a_tenth() {
        let json = serde_json::to_string(domain::metrics_document()).unwrap().len();
        let message = GetMetricsDocumentResponse::from(domain::metrics_document()).encoded_len();
        assert!((8_068..=9_860).contains(&json), "{json} bytes of JSON");
        assert!((7_723..=9_439).contains(&message), "{message} bytes of protobuf");
        let ratio = json * 1000 / message;
        assert!((1_030..=1_060).contains(&ratio), "{json} to {message} is {ratio} ‰");
    }
}
