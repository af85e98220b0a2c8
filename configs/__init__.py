"""The TOML files shipped with gunzi, as package data: `rules/`, `train/`, `eval/`. Each holds only what differs from
the defaults."""
