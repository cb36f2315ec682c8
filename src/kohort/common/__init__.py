"""What every room uses: progress, names that are looked up, private places, signals."""
