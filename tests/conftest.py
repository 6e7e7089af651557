import pytest


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """asyncio only: the engine starts and reaps processes through asyncio's loop."""
    return "asyncio"
