import { defineErrors } from '@berth/kernel';

/** Error codes that callers of the API get from `computers`. */
export const computersErrors = defineErrors({
  actions_outcome_unknown: {
    kind: 'upstream',
    when: 'the computer was lost during the actions; some or all of them may have been done',
  },
  addon_required: { kind: 'payment_required', when: "the account's plan lacks the add-on `computers`" },
  computer_failed: { kind: 'conflict', when: 'the computer has failed; `wake` tries again' },
  computer_not_found: { kind: 'not_found', when: 'the account has no computer with this id' },
  computer_starting: { kind: 'conflict', when: 'the computer did not wake within 60 s; try again' },
  computer_unavailable: {
    kind: 'unavailable',
    when: 'the computer or its host cannot be reached; with `mayHaveBeenDone` the request may have been carried out',
  },
  computers_unsupported: {
    kind: 'unsupported',
    when: 'no host has desktop software; the message says how to install it',
  },
  invalid_action: {
    kind: 'invalid',
    when: 'an action or the request around it is not valid, see `fields`; nothing was done. `outputs` has what each `tool_use` block is answered',
  },
  safety_check_pending: {
    kind: 'conflict',
    when: 'a `computer_call` item has `pending_safety_checks` that `acknowledged_safety_checks` does not name; nothing was done',
  },
  session_not_found: { kind: 'not_found', when: 'the viewer session is over, or never existed' },
  session_used: {
    kind: 'forbidden',
    when: 'the viewer session is over, or a socket of it was opened before',
  },
  taken_over: { kind: 'conflict', when: 'a person has taken the computer over; nothing was done' },
  too_many_batches: {
    kind: 'exhausted',
    when: '100 batches of actions wait for the computer already; nothing was done',
  },
});
