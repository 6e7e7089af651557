"""The agent: session > run > step > call, its models, tools, approval, compaction and child agents."""
