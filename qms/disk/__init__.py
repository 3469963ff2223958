"""File operations: open, write, sync, lock; append-only logs; the folder watcher."""
