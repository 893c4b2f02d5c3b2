import type { IncomingHttpHeaders } from 'node:http';
import type { Transfer } from '@berth/contracts-runtime';
import { GUEST_ROUTES } from '@berth/guest-protocol';
import { toTarget } from '../guest/guest-socket.js';

/** What is asked of a guest for a transfer, and what of its answer goes on. */
export interface GuestExchange {
  /** Methods that a redeemer may use; the guest gets the same. */
  readonly methods: readonly string[];
  /** Path and query at the guest. */
  readonly target: string;
  /** Headers of the redeemer that the guest gets. */
  readonly passedOn: readonly string[];
  readonly answer: AnswerRules;
  /** How long nothing may move; null: as long as it likes. */
  readonly idleMs: number | null;
}

/** Statuses and headers of a guest's answer that go on, each in the form it must have. */
export interface AnswerRules {
  readonly statuses: readonly number[];
  readonly contentType: string;
  readonly headers: { readonly [name: string]: RegExp };
  /** The most a `content-length` may say, which then has to be there where there is a body. */
  readonly limitBytes: number | null;
}

const IDLE_MS = 120_000;
const LENGTH = /^\d{1,15}$/;

/** A console is a socket, not an exchange: see `consoleTarget`. */
export const toExchange = (transfer: Exclude<Transfer, { kind: 'console' }>): GuestExchange => {
  switch (transfer.kind) {
    case 'list':
      return {
        ...plain('GET', 'application/json', IDLE_MS),
        target: toTarget({
          route: GUEST_ROUTES.listFiles,
          query: transfer.path === null ? {} : { path: transfer.path },
        }),
      };
    case 'download':
      return download(transfer);
    case 'stage':
      return {
        ...plain('PUT', 'application/json', IDLE_MS),
        target: toTarget({
          route: GUEST_ROUTES.stageFile,
          query: { id: transfer.stagedId, limit: transfer.limitBytes },
        }),
        passedOn: ['content-length'],
      };
    case 'output':
      return {
        ...plain('GET', 'application/x-ndjson', null),
        target: toTarget({ route: GUEST_ROUTES.executionOutput, query: { id: transfer.executionId } }),
      };
  }
};

/** Where a guest is asked for a terminal. */
export const consoleTarget = ({ cols, rows }: Extract<Transfer, { kind: 'console' }>): string =>
  toTarget({ route: GUEST_ROUTES.console, query: { cols, rows } });

/** What of a guest's answer goes on; undefined when it is none. */
export const checkAnswer = (
  rules: AnswerRules,
  status: number,
  headers: IncomingHttpHeaders,
  hasBody: boolean,
): { readonly [name: string]: string } | undefined => {
  if (!rules.statuses.includes(status)) return undefined;
  const kept: Record<string, string> = { 'content-type': rules.contentType };
  for (const [name, form] of Object.entries(rules.headers)) {
    const value = headers[name];
    if (typeof value === 'string' && form.test(value)) kept[name] = value;
  }
  const length = kept['content-length'];
  const within =
    rules.limitBytes === null || !hasBody || (length !== undefined && Number(length) <= rules.limitBytes);
  return within ? kept : undefined;
};

const plain = (
  method: string,
  contentType: string,
  idleMs: number | null,
): Omit<GuestExchange, 'target'> => ({
  methods: [method],
  passedOn: [],
  answer: { statuses: [200], contentType, headers: { 'content-length': LENGTH }, limitBytes: null },
  idleMs,
});

const download = ({ path, within, limitBytes }: Extract<Transfer, { kind: 'download' }>): GuestExchange => ({
  methods: ['GET', 'HEAD'],
  target: toTarget({ route: GUEST_ROUTES.readFile, query: { path, within, limit: limitBytes } }),
  passedOn: ['range', 'if-range', 'if-none-match'],
  answer: {
    statuses: [200, 206, 304, 416],
    contentType: 'application/octet-stream',
    headers: {
      'content-length': LENGTH,
      'content-range': /^bytes (\d{1,15}-\d{1,15}|\*)\/\d{1,15}$/,
      'accept-ranges': /^(bytes|none)$/,
      etag: /^(W\/)?"[\x21\x23-\x7e]{0,200}"$/,
    },
    limitBytes,
  },
  idleMs: IDLE_MS,
});
