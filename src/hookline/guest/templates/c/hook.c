// @NAME@: a Murmur hook. It defines those of the nine functions that concern it; the others answer none. One that decides
// whether a call may run is asked before it, with no outcome, and told of it behind it, with one. What it may reach is
// granted by the capsule's manifest, never by its own.
#include "lib/hook.h"

hook_answer on_tool_call(const tool_event *event) {
    const json *config;
    text why;
    if (event->outcome.given) {
        return answer_none();
    }
    if (!hook_config(&call_memory, &config, &why)) {
        return answer_deny(TEXT("configuration error: "), why);
    }
    const json *refused = json_member(config, "refuse");
    for (size_t index = 0; json_is(refused, JSON_ARRAY) && index < refused->count; index++) {
        if (text_equal(refused->items[index].value, event->tool_name)) {
            return answer_deny(event->tool_name, TEXT(" is refused by the configuration of @NAME@"));
        }
    }
    return answer_none();
}
