"""Proteins: FASTA, k-mers and engines that find relatives."""
