import { defineErrors } from '@berth/kernel';

/** Error codes that callers of the API get from `delivery`. */
export const deliveryErrors = defineErrors({
  agent_error: { kind: 'upstream', when: "the agent's program failed to answer the message" },
  agent_timeout: {
    kind: 'timeout',
    when: 'the agent did not answer in time; with `mayHaveBeenDone` it may have received the message',
  },
  chat_unsupported: { kind: 'unsupported', when: 'the agent has no program that handles messages' },
  idempotency_answer_gone: {
    kind: 'conflict',
    when: 'the answer under this Idempotency-Key is no longer stored, or the secret in it has ended',
  },
  rate_limited: {
    kind: 'exhausted',
    when: 'the messages of the agent, the requests of the end user, or the followed streams of the credential exceed their limit',
  },
});
