"""Running programs: started, bounded, ended with all that is left of them, and reaped. Hooks and tools share it."""
