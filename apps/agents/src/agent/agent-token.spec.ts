import { randomBytes } from 'node:crypto';
import { newId } from '@berth/kernel';
import { redactText } from '@berth/telemetry';
import { describe, expect, it } from 'vitest';
import { agentToken } from './agent-token.js';

describe('the token of an agent', () => {
  const agentId = newId('agt');

  it('differs for every epoch, and is the same for the same epoch', () => {
    const secret = randomBytes(32);
    expect(agentToken(secret, agentId, 1)).toBe(agentToken(secret, agentId, 1));
    expect(agentToken(secret, agentId, 1)).not.toBe(agentToken(secret, agentId, 2));
  });

  it('is redacted in logs, for any secret and epoch', () => {
    for (let epoch = 1; epoch <= 200; epoch++) {
      const token = agentToken(randomBytes(32), agentId, epoch);
      const mac = token.split('_').slice(3).join('_');
      expect(redactText(`the token ${token} is not good`)).not.toContain(mac.slice(0, 8));
    }
  });
});
