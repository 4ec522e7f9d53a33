"""The sandbox of a bot's process: `tiers` chooses one, `launch` starts, `confine` confines."""
