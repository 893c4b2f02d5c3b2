import { SCOPES, type Scope } from '@berth/contracts/accounts';
import { DomainError, isoTime, type Decider } from '@berth/kernel';
import { evolveKey, type KeyEvent, type KeyState } from './key.js';

export interface Mint {
  readonly type: 'Mint';
  readonly keyId: string;
  readonly accountId: string;
  readonly name: string;
  readonly scopes: readonly string[];
  /** The scopes of the minting key: a new key gets no others. */
  readonly holderScopes: readonly Scope[];
  /** Whether the key is for the installation's first account; only there can a key hold `operate`. */
  readonly forFirstAccount: boolean;
  readonly expiresAt: string | null;
  /** When the minting key expires: the new key does, too, unless it does so earlier. */
  readonly holderExpiresAt: string | null;
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
}

export interface Revoke {
  readonly type: 'Revoke';
  readonly keyId: string;
  readonly accountId: string;
  /** The key that revokes; null if that is not checked. */
  readonly holder: { readonly keyId: string; readonly scopes: readonly Scope[] } | null;
  readonly now: number;
}

/** Gives a live key scopes that did not exist when it was minted. */
export interface ExtendScopes {
  readonly type: 'ExtendScopes';
  readonly keyId: string;
  readonly scopes: readonly Scope[];
  readonly now: number;
}

export type KeyCommand = Mint | Revoke | ExtendScopes;

export const keyDecider: Decider<KeyState, KeyCommand, KeyEvent> = {
  initial: { kind: 'unknown' },
  decide: (command, state) => {
    switch (command.type) {
      case 'Mint':
        return mint(command, state);
      case 'Revoke':
        return revoke(command, state);
      case 'ExtendScopes':
        return extendScopes(command, state);
    }
  },
  evolve: evolveKey,
};

const mint = (command: Mint, state: KeyState): readonly KeyEvent[] => {
  if (state.kind !== 'unknown') throw keyAlreadyMinted(state.key.keyId);
  refuseScopesNotHeld(command);
  const expiresAt = command.expiresAt === null ? null : parseIsoTime(command.expiresAt);
  const fields = [
    ...nameProblems(command.name),
    ...scopeProblems(command.scopes),
    ...expiryProblems(expiresAt, command.now),
  ];
  if (fields.length > 0) {
    throw new DomainError(
      'invalid',
      'invalid_request',
      'Correct the named fields and send the request again.',
      {
        fields,
      },
    );
  }
  return [
    {
      type: 'KeyMinted',
      keyId: command.keyId,
      accountId: command.accountId,
      name: command.name,
      scopes: withRead(command.scopes),
      expiresAt: earlierOf(expiresAt, command.holderExpiresAt),
      mintedAt: isoTime(command.now),
    },
  ];
};

const earlierOf = (time: number | null, other: string | null): string | null => {
  if (time === null) return other;
  return isoTime(other === null ? time : Math.min(time, Date.parse(other)));
};

const revoke = (command: Revoke, state: KeyState): readonly KeyEvent[] => {
  if (state.kind === 'unknown' || state.key.accountId !== command.accountId) throw keyNotFound();
  if (state.kind === 'revoked') return [];
  refuseToRevoke(command, state.key.scopes);
  return [
    {
      type: 'KeyRevoked',
      keyId: command.keyId,
      accountId: command.accountId,
      revokedAt: isoTime(command.now),
    },
  ];
};

const extendScopes = (command: ExtendScopes, state: KeyState): readonly KeyEvent[] => {
  if (state.kind === 'unknown') throw keyNotFound();
  if (state.kind === 'revoked') return [];
  const { keyId, accountId, scopes } = state.key;
  if (command.scopes.every((scope) => scopes.includes(scope))) return [];
  return [
    {
      type: 'KeyScopesExtended',
      keyId,
      accountId,
      scopes: withRead([...scopes, ...command.scopes]),
      extendedAt: isoTime(command.now),
    },
  ];
};

/** 409: the key exists, and its secret is shown once only. */
export const keyAlreadyMinted = (keyId: string): DomainError =>
  new DomainError(
    'conflict',
    'key_already_minted',
    'This request has already minted a key, which cannot be shown again. Revoke that key and mint another.',
    { keyId },
  );

/** 404, also for the key of another account. */
export const keyNotFound = (): DomainError => new DomainError('not_found', 'key_not_found', 'No such key.');

interface FieldProblem {
  readonly path: string;
  readonly message: string;
  readonly [key: string]: string;
}

const isScope = (text: string): text is Scope => (SCOPES as readonly string[]).includes(text);

const refuseScopesNotHeld = (command: Mint): void => {
  const missing = withRead(command.scopes).find(
    (scope) => scope !== 'read' && !command.holderScopes.includes(scope),
  );
  if (missing !== undefined)
    throw missingScope('A key mints only keys with scopes that it holds itself.', missing);
  if (command.scopes.includes('operate') && !command.forFirstAccount)
    throw missingScope("Only keys of the installation's first account can hold this scope.", 'operate');
};

/** Otherwise a key could end keys that can do more than it can, such as those of the operator. */
const refuseToRevoke = ({ keyId, holder }: Revoke, scopes: readonly Scope[]): void => {
  if (holder === null || holder.keyId === keyId) return;
  const missing = scopes.find((scope) => !holder.scopes.includes(scope));
  if (missing !== undefined)
    throw missingScope('A key revokes only itself, and keys all of whose scopes it holds.', missing);
};

const missingScope = (message: string, requiredScope: string): DomainError =>
  new DomainError('forbidden', 'missing_scope', message, { requiredScope });

/** In the order of `SCOPES`, each once, and always with `read`. */
const withRead = (scopes: readonly string[]): readonly Scope[] =>
  SCOPES.filter((scope) => scope === 'read' || scopes.includes(scope));

/** Control characters can break terminals, and PostgreSQL stores no NUL. */
const nameProblems = (name: string): FieldProblem[] =>
  /^\P{Cc}{1,128}$/u.test(name)
    ? []
    : [{ path: 'name', message: 'must be 1 to 128 characters, control characters excluded' }];

const scopeProblems = (scopes: readonly string[]): FieldProblem[] =>
  scopes.flatMap((scope, index) =>
    isScope(scope) ? [] : [{ path: `scopes[${index}]`, message: `must be one of ${SCOPES.join(', ')}` }],
  );

const ISO_TIME = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/;

/** Tables accept no years of more than four digits. */
const LATEST = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** Milliseconds since the Unix epoch; NaN for invalid text. A day without a time begins at midnight UTC. */
const parseIsoTime = (text: string): number => {
  const time = ISO_TIME.test(text) ? Date.parse(text) : Number.NaN;
  return time <= LATEST ? time : Number.NaN;
};

const expiryProblems = (expiresAt: number | null, now: number): FieldProblem[] => {
  if (expiresAt === null) return [];
  if (Number.isNaN(expiresAt))
    return [{ path: 'expiresAt', message: 'must be an ISO 8601 time with its zone' }];
  return expiresAt > now ? [] : [{ path: 'expiresAt', message: 'must be in the future' }];
};
