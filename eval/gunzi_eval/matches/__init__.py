"""Duplicate matches and tournaments: playing, results, files and reports."""
