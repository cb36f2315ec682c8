"""Privacy models, one file each; a file in this folder that registers one is found by itself."""
