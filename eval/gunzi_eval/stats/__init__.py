"""Statistics: intervals, ratings and match equity."""
