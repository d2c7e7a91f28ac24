"""The page of flame graphs, of one version each or coloured by the change since another."""
