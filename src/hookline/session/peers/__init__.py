"""Messages between agents: the transports that carry them, and what a session does about them."""
