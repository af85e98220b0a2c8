"""Starting and resuming runs, and starting their other processes on this machine or with Ray."""
