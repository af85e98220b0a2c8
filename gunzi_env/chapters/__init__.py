"""The rules, one module for each group of clauses in docs/rules.md."""
