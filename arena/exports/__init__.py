"""Writes tables, games and boards as text, CSV, Parquet, JSON, SVG and web pages, and checks a
run's files.
"""
