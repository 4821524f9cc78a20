// Only here so that the precompiled header has an owner.
