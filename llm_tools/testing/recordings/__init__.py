"""Real exchanges in a file: written once, answered from ever after, without their keys."""
