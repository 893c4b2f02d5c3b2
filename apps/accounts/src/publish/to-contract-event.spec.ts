import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RecordedEvent, StoredEvent } from '@berth/event-store';
import { describe, expect, it } from 'vitest';
import { toContractEvent } from './to-contract-event.js';

const recorded = (file: string, stream: string, extra: object = {}): RecordedEvent => {
  const stored = JSON.parse(readFileSync(join(import.meta.dirname, '..', file), 'utf8')) as StoredEvent;
  return {
    id: '00000000-0000-5000-8000-000000000000',
    stream,
    revision: 0n,
    position: 0n,
    createdAt: new Date(0),
    type: stored.type,
    data: { ...stored.data, ...extra },
    metadata: {
      correlationId: 'req_1',
      causationId: 'cmd_1',
      accountId: 'acc_01jd4p2q8hf3ar0a1s6v9wz2xe',
      actor: { kind: 'system', id: 'accounts' },
    },
  };
};

const ACCOUNT = 'acc_01jd4p2q8hf3ar0a1s6v9wz2xe';
const KEY = 'key_01jd4p2q8hf3ar0a1s6v9wz2xf';

describe('the contract events of accounts', () => {
  it('announce a minted key with its scopes, without its name', () => {
    const event = recorded('key/__events__/KeyMinted.json', `key-${KEY}`, { secretMember: 'x' });
    expect(toContractEvent(event)).toEqual({
      subject: `evt.accounts.key-minted.v1.${ACCOUNT}.${KEY}`,
      payload: {
        accountId: ACCOUNT,
        keyId: KEY,
        scopes: ['read', 'deploy'],
        expiresAt: '2027-01-01T00:00:00.000Z',
        at: '2026-11-21T08:00:00.000Z',
      },
    });
  });

  it('announce that a key was revoked', () => {
    expect(toContractEvent(recorded('key/__events__/KeyRevoked.json', `key-${KEY}`))).toEqual({
      subject: `evt.accounts.key-revoked.v1.${ACCOUNT}.${KEY}`,
      payload: { accountId: ACCOUNT, keyId: KEY, at: '2026-11-22T08:00:00.000Z' },
    });
  });

  it('announce that an account was opened', () => {
    expect(toContractEvent(recorded('account/__events__/AccountOpened.json', `account-${ACCOUNT}`))).toEqual({
      subject: `evt.accounts.account-opened.v1.${ACCOUNT}.${ACCOUNT}`,
      payload: { accountId: ACCOUNT, plan: 'default', at: '2026-11-21T08:00:00.000Z' },
    });
  });

  it('contain nothing about the installation', () => {
    expect(
      toContractEvent(recorded('installation/__events__/InstallationBegun.json', 'installation-first')),
    ).toBeNull();
  });
});
