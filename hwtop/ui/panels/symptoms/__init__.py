"""Findings, questions, and when each symptom was up."""
