"""Which environment variables hold credentials, to judge by their names. Letter case does not count.

One table for everybody who keeps secrets: what no hook may be granted, what no program of a tool gets to see, and what
no journal may hold.
"""

import re
from collections.abc import Mapping
from fnmatch import translate

# A name that holds a word of each table, between underscores, is taken for the credential of a model provider.
PROVIDERS = frozenset(
    """
    AI21 ANTHROPIC BEDROCK CEREBRAS CLAUDE CO COHERE DASHSCOPE DEEPSEEK FIREWORKS GEMINI GOOGLE GROK GROQ HF HUGGING
    HUGGINGFACE HUGGINGFACEHUB LITELLM LLAMA LLM META MISTRAL MODEL MOONSHOT MUSE NVIDIA OLLAMA OPENAI OPENROUTER
    PERPLEXITY PPLX REPLICATE TOGETHER TOGETHERAI VERTEX VOYAGE WATSONX XAI ZAI ZHIPUAI
    """.split()  # noqa: SIM905  # forty quoted words are harder to read
)
SECRETS = frozenset({"APIKEY", "KEY", "PASSWORD", "SECRET", "TOKEN"})

# Any credential, whoever it is for.
SECRET_NAMES = (
    "*API_KEY",
    "*APIKEY",
    "*ACCESS_KEY",
    "*SECRET_KEY",
    "*PRIVATE_KEY",
    "*ENCRYPTION_KEY",
    "*AUTH_KEY",
    "*TOKEN",
    "*SECRET",
    "*_PAT",
    "*PASSWORD*",
    "*PASSWD*",
    "*PASSPHRASE*",
    "*CREDENTIALS",
    "*CONNECTION_STRING",
    "*DATABASE_URL",
)

_SECRET_NAME = re.compile("|".join(translate(pattern) for pattern in SECRET_NAMES), re.IGNORECASE)


def is_provider_credential(name: str) -> bool:
    """Whether the variable *name* holds a model provider's credential."""
    words = frozenset(name.upper().split("_"))
    return bool(words & PROVIDERS and words & SECRETS)


# Variables of our own that a credential may stand in: a token, or the password in a URL.
OWN = frozenset({"HOOKLINE_TOKEN", "HOOKLINE_STORE", "HOOKLINE_NATS", "HOOKLINE_SEARCH_URL"})


def without_credentials(env: Mapping[str, str]) -> dict[str, str]:
    """*env* without what must not reach a program by accident: providers' credentials, and our own."""
    return {name: value for name, value in env.items() if name.upper() not in OWN and not is_provider_credential(name)}


def secrets_in(env: Mapping[str, str]) -> dict[str, str]:
    """The variables of *env* that hold a credential of any kind."""
    return {name: value for name, value in env.items() if _SECRET_NAME.match(name) or is_provider_credential(name)}
