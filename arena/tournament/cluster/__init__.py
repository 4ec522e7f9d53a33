"""Games played on the workers of a Dask cluster.

`pool` is the side of whoever runs the tournament and alone writes the journal; `node` runs inside a Dask worker, which has a `child`
process for each game that it plays at once; `shipping` brings bots there; `terms` are what a worker has to agree to.
"""
