//! Signatures: a delivery counts only if its bytes, as they came, are signed with the secret that GitHub shares.

use std::sync::Arc;

use aide::OperationInput;
use aide::generate::GenContext;
use aide::openapi::Operation;
use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::http::HeaderMap;
use hmac::{Hmac, KeyInit, Mac};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use sha2::Sha256;

use crate::App;
use crate::auth::address_of;
use crate::code::Code;
use crate::error::ApiError;
use crate::input::{read_bytes, visible};
use crate::openapi::{document_body, document_codes, document_header};

/// The largest body that GitHub sends.
const LARGEST_BYTES: usize = 25 * 1024 * 1024;
const SIGNATURE: &str = "X-Hub-Signature-256";

/// A delivery that GitHub has signed.
pub(super) struct Signed {
    /// Which kind of event.
    pub(super) event: String,
    /// GitHub's id of the delivery.
    pub(super) delivery: Option<String>,
    /// What it says, byte for byte.
    pub(super) body: Bytes,
}

/// A webhook's payload, as GitHub documents it for each event.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "GithubPayload")]
#[allow(dead_code, reason = "only its schema is looked at")]
struct AnyPayload(Map<String, Value>);

impl FromRequest<Arc<App>> for Signed {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, ApiError> {
        let secret = app.settings.github_webhook_secret.as_deref().filter(|it| !it.is_empty());
        let secret = secret.ok_or_else(|| {
            ApiError::new(Code::GithubWebhookNotConfigured, "this server has no GITHUB_WEBHOOK_SECRET")
        })?;
        let (address, headers) = (address_of(request.extensions()), request.headers().clone());
        let unsigned = || {
            let refusal = app.limiter.of_unsigned_webhook(address).refusal();
            let wrong = "X-Hub-Signature-256 is not the body's signature";
            refusal.unwrap_or_else(|| ApiError::new(Code::GithubWebhookSignatureInvalid, wrong))
        };
        // Without a signature there is no need to read on.
        let given = signature(&headers).ok_or_else(unsigned)?;
        let body = read_bytes(&headers, request.into_body(), LARGEST_BYTES).await?;
        if !is_signed(secret, &body, &given) {
            return Err(unsigned());
        }
        let text = |name| visible(&headers, name).ok().flatten().map(str::to_owned);
        Ok(Self { event: text("X-GitHub-Event").unwrap_or_default(), delivery: text("X-GitHub-Delivery"), body })
    }
}

fn signature(headers: &HeaderMap) -> Option<Vec<u8>> {
    let text = headers.get(SIGNATURE)?.to_str().ok()?;
    hex::decode(text.strip_prefix("sha256=")?).ok()
}

/// Takes as long for a wrong signature as for a right one.
fn is_signed(secret: &str, body: &[u8], signature: &[u8]) -> bool {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("HMAC takes a key of any length");
    mac.update(body);
    mac.verify_slice(signature).is_ok()
}

impl OperationInput for Signed {
    fn operation_input(context: &mut GenContext, operation: &mut Operation) {
        document_body::<AnyPayload>(context, operation, true);
        let signature = json!({ "type": "string", "pattern": "^sha256=[0-9a-f]{64}$" });
        document_header(
            operation,
            SIGNATURE,
            "The HMAC-SHA-256 of the body's bytes under the shared secret.",
            signature,
        );
        let text = json!({ "type": "string", "minLength": 1, "maxLength": 255 });
        document_header(operation, "X-GitHub-Event", "Which kind of event it is.", text.clone());
        document_header(operation, "X-GitHub-Delivery", "GitHub's id of the delivery: taken once in 30 days.", text);
        document_codes(operation, &[Code::PayloadTooLarge]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of GitHub's documentation.
    #[test]
    fn a_signature_is_the_one_that_github_documents() {
        let secret = "It's a Secret to Everybody";
        let signature = "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
        let signature = hex::decode(signature).expect("hex");
        assert!(is_signed(secret, b"Hello, World!", &signature));
        for (secret, body) in [(secret, "Hello, World! "), (secret, ""), ("another", "Hello, World!")] {
            assert!(!is_signed(secret, body.as_bytes(), &signature));
        }
        assert!(!is_signed(secret, b"Hello, World!", &signature[..31]));
    }

    #[test]
    fn a_signature_has_one_form() {
        let of = |text: &str| {
            signature(&HeaderMap::from_iter([(
                axum::http::HeaderName::from_static("x-hub-signature-256"),
                text.parse().expect("a header"),
            )]))
        };
        assert_eq!(of("sha256=00ff"), Some(vec![0, 255]));
        for bad in ["", "00ff", "sha1=00ff", "sha256=0", "sha256=xy", "SHA256=00ff"] {
            assert_eq!(of(bad), None, "{bad}");
        }
        assert_eq!(signature(&HeaderMap::new()), None);
    }
}
