// @NAME@: a Murmur hook. Each function is given the event's record, with its fields in camel case, and returns one
// case of hook-output as { tag, val }. Throwing a string says that the hook failed. A hook that decides whether a call
// may run is asked before it, with no outcome, and told of it behind it, with one. What it may reach is granted by the
// capsule's manifest, never by its own.

import environment from "wasi:cli/environment@0.2.12";

const NONE = { tag: "none" };

function configuration() {
  const found = environment.getEnvironment().find(([name]) => name === "MURMUR_ARTIFACT_CONFIG");
  return found ? JSON.parse(found[1]) : {};
}

export const lifecycle = {
  onToolCall(event) {
    if (event.outcome !== null && event.outcome !== undefined) return NONE;
    const refused = configuration().refuse ?? [];
    if (refused.includes(event.toolName)) {
      return { tag: "deny", val: `${event.toolName} is refused by the configuration of @NAME@` };
    }
    return NONE;
  },
  onStage: () => NONE,
  onSessionStart: () => NONE,
  onTaskStart: () => NONE,
  onInference: () => NONE,
  onShell: () => NONE,
  onCompaction: () => NONE,
  onTaskEnd: () => NONE,
  onSessionEnd: () => NONE,
};
