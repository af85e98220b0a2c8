"""Start of the further processes of a run: on this machine, or by Ray."""
