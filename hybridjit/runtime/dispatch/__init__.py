"""Native calls: from the second call on, a kernel runs without Python."""
