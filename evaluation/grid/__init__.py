"""The grid: reports against references by kind of task, and by one setting of systems that varies."""
