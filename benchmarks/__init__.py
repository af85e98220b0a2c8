"""Speed and memory of gunzi, alone and beside its peers; run from a checkout. docs/performance.md has the method."""
