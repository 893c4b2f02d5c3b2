import { defineErrors } from '@berth/kernel';

/** Error codes that callers of the API get from `exec`. */
export const execErrors = defineErrors({
  console_unsupported: { kind: 'unsupported', when: 'the guest of the agent has no terminal' },
  detached_unsupported: { kind: 'unsupported', when: 'the guest of the agent runs attached commands only' },
  execution_not_found: {
    kind: 'not_found',
    when: 'the agent has no execution with this id, or its result has expired',
  },
  execution_outcome_unknown: {
    kind: 'upstream',
    when: 'the command may have been started; read the execution named in `executionId`',
  },
  guest_command_unavailable: {
    kind: 'unavailable',
    when: 'the agent cannot take commands; the command was not started',
  },
  invalid_command: { kind: 'invalid', when: '`command` is empty, malformed or too large' },
  invalid_cwd: { kind: 'invalid', when: '`cwd` is not a folder that the agent may enter' },
  invalid_detached: { kind: 'invalid', when: '`detached` is not a boolean' },
  invalid_timeout: { kind: 'invalid', when: '`timeout` is not a positive number of seconds' },
  too_many_consoles: { kind: 'exhausted', when: 'the agent has too many open consoles' },
  vm_not_ready: { kind: 'conflict', when: 'the agent is starting; the command was not started' },
});
