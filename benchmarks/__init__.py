"""Measured, not claimed: each script compares in one run and prints ratios, on whatever machine."""
