"""From lowered TIR to native code: LLVM emission, the target, and the engine that links it."""
