"""The walls around a bot's process: `tiers` chooses, `launch` builds them, `seccomp` and `confine` are parts, `probe` tries them."""
