"""The state of continuous views: parts on disk, and how far each view has read."""
