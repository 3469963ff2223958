"""What a memory is: types, rules, arithmetic; no input or output."""
