"""Games played on the workers of a Dask cluster.

`pool` is the main side: it runs the tournament, and only it writes the journal. `node` runs inside
a Dask worker, which has one `child` process for each game it plays at a time. `shipping` sends bots
there. `terms` are the conditions a worker has to meet.
"""
