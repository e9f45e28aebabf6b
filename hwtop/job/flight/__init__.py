"""Flight Recorder: dumps of torch's collectives, understood. Pure."""
