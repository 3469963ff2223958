"""What `record_wire.py` is made of: a scripted life of a checkout, to compare."""
