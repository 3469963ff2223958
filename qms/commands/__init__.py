"""Commands: the table row, the gate, the call, requests and answers."""
