import pytest
from tests import services


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """asyncio only: the engine starts and reaps processes through asyncio's loop."""
    return "asyncio"


@pytest.fixture
def postgres() -> str:
    """The URL of a PostgreSQL database to work in, beside others: use ids of your own."""
    return services.require(services.POSTGRES)


@pytest.fixture
def nats() -> str:
    """The URL of a NATS server to work with, beside others: use subjects of your own."""
    return services.require(services.NATS)
