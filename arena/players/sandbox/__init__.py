"""The sandbox of a bot's process: `tiers` chooses a tier, `launch` starts a command in it, and
`confine` runs inside and confines the process.
"""
