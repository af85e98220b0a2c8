"""Measuring, playing and watching Da Gunzi bots: duplicate matches with intervals, the terminal table, replays,
throughput."""
