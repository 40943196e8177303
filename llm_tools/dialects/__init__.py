"""Wire protocols, one module or package each: pure functions, no I/O."""
