import pytest

from hookline._core.credentials import without_credentials

WITHHELD = [
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "AZURE_OPENAI_API_KEY",
    "AWS_BEARER_TOKEN_BEDROCK",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "COHERE_API_KEY",
    "DEEPSEEK_API_KEY",
    "FIREWORKS_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "GROQ_API_KEY",
    "HF_TOKEN",
    "HOOKLINE_SEARCH_URL",
    "HUGGINGFACE_API_KEY",
    "META_API_KEY",
    "MISTRAL_API_KEY",
    "MODEL_API_KEY",
    "OPENAI_API_KEY",
    "OPENROUTER_API_KEY",
    "PERPLEXITY_API_KEY",
    "TOGETHER_API_KEY",
    "XAI_API_KEY",
    "openai_api_key",
]
PASSED = ["PATH", "HOME", "GITHUB_TOKEN", "OPENAI_BASE_URL", "MODEL", "KEYBOARD", "SSH_AUTH_SOCK", "MONKEY_OPENAI"]


@pytest.mark.parametrize("name", WITHHELD)
def test_credentials_of_model_providers_stay_with_the_agent(name: str) -> None:
    """No name that looks like a model provider's credential reaches a program that a tool starts."""
    assert without_credentials({name: "secret"}) == {}


@pytest.mark.parametrize("name", PASSED)
def test_everything_else_is_passed_on(name: str) -> None:
    """The rest of the agent's environment is the program's too."""
    assert without_credentials({name: "value"}) == {name: "value"}
