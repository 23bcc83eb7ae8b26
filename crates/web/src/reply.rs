//! HTTP replies: JSON answers, and errors with their status codes.

use axum::http::StatusCode;
use axum::http::header;
use axum::response::IntoResponse;
use axum::response::Response;
use consort_core::explain::ErrorKind;
use consort_core::explain::Explain;
use serde_json::json;

/// The reason why a call was refused or failed: `{"error": {"kind", "message", "hints"}}`.
#[derive(Debug)]
pub(crate) struct ApiError {
    status: StatusCode,
    kind: ErrorKind,
    message: String,
    hints: Vec<String>,
}

impl ApiError {
    fn new(status: StatusCode, message: impl Into<String>, hint: &str) -> Self {
        Self { status, kind: ErrorKind::User, message: message.into(), hints: vec![hint.to_owned()] }
    }

    pub(crate) fn forbidden(message: &str, hint: &str) -> Self {
        Self::new(StatusCode::FORBIDDEN, message, hint)
    }

    pub(crate) fn unauthorized() -> Self {
        let hint = "send `Authorization: Bearer TOKEN`; `consort serve` says where the token is";
        Self::new(StatusCode::UNAUTHORIZED, "the token is missing or wrong", hint)
    }

    pub(crate) fn not_found() -> Self {
        Self::new(StatusCode::NOT_FOUND, "there is nothing here", "see docs/serve.md")
    }

    pub(crate) fn malformed(message: String) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message, "see docs/serve.md")
    }

    /// Changes the status to "not found".
    pub(crate) fn into_not_found(self) -> Self {
        Self { status: StatusCode::NOT_FOUND, ..self }
    }

    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    pub(crate) fn internal(message: String) -> Self {
        let status = StatusCode::INTERNAL_SERVER_ERROR;
        Self { status, kind: ErrorKind::Internal, message, hints: Vec::new() }
    }
}

impl<E: Explain> From<E> for ApiError {
    fn from(error: E) -> Self {
        let status = match error.kind() {
            ErrorKind::User => StatusCode::BAD_REQUEST,
            ErrorKind::Conflict => StatusCode::CONFLICT,
            ErrorKind::Busy | ErrorKind::Retry => StatusCode::SERVICE_UNAVAILABLE,
            ErrorKind::Damaged | ErrorKind::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self { status, kind: error.kind(), message: error.to_string(), hints: error.hints() }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let Self { status, kind, message, hints } = self;
        let told = json!({ "error": { "kind": kind, "message": message, "hints": hints } });
        let mut response = answer(status, told.to_string().into_bytes());
        if status == StatusCode::UNAUTHORIZED {
            response
                .headers_mut()
                .insert(header::WWW_AUTHENTICATE, header::HeaderValue::from_static("Bearer"));
        }
        response
    }
}

/// Makes a response with JSON as its body.
pub(crate) fn answer(status: StatusCode, json: Vec<u8>) -> Response {
    let headers = [
        (header::CONTENT_TYPE, "application/json"),
        // The answer may be out of date in a moment.
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    (status, headers, json).into_response()
}
