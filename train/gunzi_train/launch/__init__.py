"""How the further processes of a run are started: on this machine, or by Ray."""
