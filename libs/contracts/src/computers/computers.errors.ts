import { defineErrors } from '@berth/kernel';

/** Error codes that callers of the API get from `computers`. */
export const computersErrors = defineErrors({
  invalid_action: {
    kind: 'invalid',
    when: 'an action or the request around it is not valid, see `fields`; nothing was done. `outputs` has what each `tool_use` block is answered',
  },
  safety_check_pending: {
    kind: 'conflict',
    when: 'a `computer_call` item has `pending_safety_checks` that `acknowledged_safety_checks` does not name; nothing was done',
  },
});
