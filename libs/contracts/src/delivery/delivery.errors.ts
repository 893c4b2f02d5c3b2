import { defineErrors } from '@berth/kernel';

/** Error codes that callers of the API get from `delivery`. */
export const deliveryErrors = defineErrors({
  agent_error: { kind: 'upstream', when: "the agent's program failed to answer the message" },
  agent_timeout: {
    kind: 'timeout',
    when: 'the agent did not answer in time; with `mayHaveBeenDone` it may have received the message',
  },
  body_forgotten: { kind: 'conflict', when: 'the body of the delivery is no longer stored' },
  chat_unsupported: { kind: 'unsupported', when: 'the agent has no program that handles messages' },
  delivery_not_found: { kind: 'not_found', when: 'the agent has no delivery with this id' },
  idempotency_answer_gone: {
    kind: 'conflict',
    when: 'the answer under this Idempotency-Key is no longer stored, or the secret in it has ended',
  },
  queue_full: {
    kind: 'exhausted',
    when: 'too many webhook deliveries wait for the agent; see `Retry-After`',
  },
  rate_limited: {
    kind: 'exhausted',
    when: 'the messages of the agent, the invokes of a webhook by one caller, the requests of the end user, or the followed streams of the credential exceed their limit',
  },
});
