"""The sandbox of a bot's process: `tiers` chooses one, `launch` sets it up, `seccomp` and `confine`
are parts, `probe` tries it out.
"""
