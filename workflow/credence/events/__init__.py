"""Questions beyond the single class: how probable is any event, given all evidence."""
