"""From a journal of games to tables of ratings. Pandas and numpy are first imported in this
package.
"""
