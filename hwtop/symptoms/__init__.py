"""JUDGE: pure rules over the history of Moments; one file a family."""
