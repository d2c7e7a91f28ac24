"""The objects of the one-machine cloud in files, read and written with or without the cloud."""
