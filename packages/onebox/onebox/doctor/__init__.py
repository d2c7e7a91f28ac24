"""The examination of a state folder: what is damaged in it, and how it is mended."""
