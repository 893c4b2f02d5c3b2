import { DomainError, type ErrorKind } from '@berth/kernel';
import { expect, it } from 'vitest';
import { toCallersWords } from './sending.js';

it.each<[ErrorKind, string, boolean]>([
  ['upstream', 'agent_error', true],
  ['unsupported', 'chat_unsupported', false],
  ['unavailable', 'agent_unavailable', true],
  ['unavailable', 'agent_unavailable', false],
  ['timeout', 'agent_timeout', true],
  ['timeout', 'agent_timeout', false],
])('tells callers of %s %s nothing that is between the guest and us', (kind, code, handedOver) => {
  const error = new DomainError(kind, code, 'No.', { handedOver, limitBytes: 1 });
  const told = toCallersWords(error, handedOver);
  expect(told).toMatchObject({ kind, code });
  expect(told).not.toHaveProperty('context.handedOver');
});

it('leaves the rest of what a guest says of its refusal', () => {
  const error = new DomainError('too_large', 'payload_too_large', 'No.', { limitBytes: 1 });
  expect(toCallersWords(error, false)).toMatchObject({ message: 'No.', context: { limitBytes: 1 } });
});
