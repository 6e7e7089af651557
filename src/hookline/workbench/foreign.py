"""placeholder"""

VARIABLES = {"CLAUDE_PROJECT_DIR": "Claude Code", "CLAUDE_TOOL_INPUT": "Claude Code", "TOOL_NAME": "another tool"}
