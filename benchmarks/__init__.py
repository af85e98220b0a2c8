"""Benchmarks of gunzi and comparable environments, run from a checkout. docs/performance.md explains the method."""
