"""How agents are started: one file for each way, all of them a `Launcher`. A launcher makes command lines and explains their failures;
it runs nothing that stays."""
