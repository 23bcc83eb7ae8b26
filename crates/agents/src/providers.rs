//! The variables of model providers, for CLIs that work with any of them: the well-known
//! ones, and those that a person's settings name.

use serde_json::Value;
use toml_edit::Document;

/// The variables with keys and addresses of the well-known providers, and those that OpenCode and pi have
/// themselves. A person has to name any other.
pub(crate) const KEYS: &[&str] = &[
    "OPENCODE_*",
    "PI_*",
    "ANTHROPIC_*",
    "OPENAI_*",
    "AZURE_OPENAI_*",
    "AZURE_RESOURCE_NAME",
    "AZURE_API_KEY",
    "AWS_BEARER_TOKEN_BEDROCK",
    "AWS_PROFILE",
    "AWS_REGION",
    "CLOUDFLARE_*",
    "GEMINI_*",
    "GOOGLE_API_KEY",
    "GOOGLE_GENERATIVE_AI_API_KEY",
    "GOOGLE_GEMINI_BASE_URL",
    "VERTEX_LOCATION",
    "AI_GATEWAY_API_KEY",
    "ANT_LING_API_KEY",
    "BASETEN_API_KEY",
    "CEREBRAS_API_KEY",
    "COHERE_API_KEY",
    "DEEPSEEK_API_KEY",
    "FIREWORKS_API_KEY",
    "GROQ_API_KEY",
    "HF_TOKEN",
    "META_API_KEY",
    "QWEN_*",
    "XIAOMI_*",
    "KIMI_API_KEY",
    "MINIMAX_API_KEY",
    "MISTRAL_API_KEY",
    "MOONSHOT_API_KEY",
    "NVIDIA_API_KEY",
    "OPENROUTER_API_KEY",
    "PERPLEXITY_API_KEY",
    "TOGETHER_API_KEY",
    "XAI_API_KEY",
    "ZAI_*",
];

/// Returns the variables that Codex's `config.toml` names for its providers: `env_key = "NAME"`, and headers.
pub(crate) fn in_codex(config: &str) -> Vec<String> {
    let Ok(config) = Document::parse(config) else { return Vec::new() };
    let providers = config.get("model_providers").and_then(|all| all.as_table_like());
    let mut names = Vec::new();
    for (_, provider) in providers.into_iter().flat_map(|all| all.iter()) {
        names.extend(provider.get("env_key").and_then(|name| name.as_str()).map(str::to_owned));
        let headers = provider.get("env_http_headers").and_then(|headers| headers.as_table_like());
        let headers = headers.into_iter().flat_map(|headers| headers.iter());
        names.extend(headers.filter_map(|(_, name)| name.as_str().map(str::to_owned)));
    }
    names
}

/// Returns the variables that OpenCode's settings name: `{env:NAME}`.
pub(crate) fn in_opencode(config: &str) -> Vec<String> {
    let after = config.split("{env:").skip(1);
    after
        .filter_map(|rest| rest.split_once('}'))
        .map(|(name, _)| name.trim().to_owned())
        .filter(|name| is_name(name))
        .collect()
}

/// Returns the variables that pi's `models.json` names for its providers: `"apiKey": "NAME"`, with or without
/// `$`.
pub(crate) fn in_pi(models: &str) -> Vec<String> {
    let Ok(models) = serde_json::from_str::<Value>(models) else { return Vec::new() };
    let providers = models["providers"].as_object().into_iter().flat_map(|all| all.values());
    let keys = providers.filter_map(|provider| provider["apiKey"].as_str());
    let name = |key: &str| key.trim_start_matches('$').trim_matches(['{', '}']).to_owned();
    keys.map(name).filter(|name| is_name(name)).collect()
}

/// Tells whether a text can be the name of a variable, and is not a key itself.
fn is_name(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    !text.is_empty() && text.bytes().all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_name_variables() {
        let config = "[model_providers.a]\nenv_key = \"A_KEY\"\n[model_providers.b]\nname = \"b\"\n\
                      env_http_headers = { \"x-org\" = \"B_ORG\" }\n";
        assert_eq!(in_codex(config), ["A_KEY", "B_ORG"]);
        assert_eq!(in_codex("not toml ="), [""; 0]);
        assert_eq!(in_opencode(r#"{"apiKey":"{env:MY_KEY}","x":"{file:y}{env:no good}"}"#), ["MY_KEY"]);
        assert_eq!(
            in_pi(r#"{"providers":{"a":{"apiKey":"A_KEY"},"b":{"apiKey":"sk-secret"},"c":{"apiKey":"$C"}}}"#),
            ["A_KEY", "C"]
        );
    }
}
