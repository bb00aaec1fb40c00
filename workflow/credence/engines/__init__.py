"""Outside programs that find relatives: found, checked, run and read."""
