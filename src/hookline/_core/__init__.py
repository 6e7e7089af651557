"""Types and protocols that every part shares. Standard library only."""
