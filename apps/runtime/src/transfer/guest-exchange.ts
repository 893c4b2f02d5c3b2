import type { IncomingHttpHeaders } from 'node:http';
import { APP_PROTOCOL, type Transfer } from '@berth/contracts/runtime';
import { GUEST_ROUTES } from '@berth/guest-protocol';
import { toTarget } from '../guest/guest-socket.js';

/** The guest request of a transfer, and the filter for its response. */
export interface GuestExchange {
  /** Allowed methods; the method is passed on to the guest. */
  readonly methods: readonly string[];
  /** Whether the request has a body. */
  readonly takesBody: boolean;
  /** Path and query for the guest. */
  readonly target: string;
  /** Request headers that are passed on to the guest, besides those that announce a body. */
  readonly passedOn: readonly string[];
  readonly response: ResponseRules;
  /** Time-out for a stalled transfer; null: no time-out. */
  readonly idleMs: number | null;
  /** Whether it goes on, and keeps the agent awake, when the gateway hangs up after the whole request. */
  readonly outlivesCaller: boolean;
}

/** Allowed statuses and headers of a guest's response; each header has a required format. */
export interface ResponseRules {
  readonly statuses: readonly number[];
  readonly contentType: string;
  readonly headers: { readonly [name: string]: RegExp };
  /** Maximum `content-length`. If set, a response with a body must have the header. */
  readonly limitBytes: number | null;
}

const IDLE_MS = 120_000;
const LENGTH = /^\d{1,15}$/;
const PIXELS = /^\d{1,5}$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** A transfer that takes over its connection instead of exchanging a request and a response. */
export type UpgradeTransfer = Extract<Transfer, { kind: 'console' | 'app' | 'vnc' }>;

/** Whether the transfer takes over its connection. */
export const isUpgrade = (transfer: Transfer): transfer is UpgradeTransfer =>
  Object.hasOwn(PROTOCOL_OF, transfer.kind);

/** The protocol that the gateway has to ask for. */
export const PROTOCOL_OF: { readonly [Kind in UpgradeTransfer['kind']]: string } = {
  console: 'websocket',
  vnc: 'websocket',
  app: APP_PROTOCOL,
};

/** How to ask the guest for a transfer that is an exchange. */
export const toExchange = (transfer: Exclude<Transfer, UpgradeTransfer>): GuestExchange => {
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
        takesBody: true,
        target: toTarget({
          route: GUEST_ROUTES.stageFile,
          query: { id: transfer.stagedId, limit: transfer.limitBytes },
        }),
      };
    case 'actions':
      return {
        // An empty line each second shows that the guest is alive.
        ...plain('POST', 'application/json', IDLE_MS),
        takesBody: true,
        outlivesCaller: true,
        target: toTarget({ route: GUEST_ROUTES.actions }),
      };
    case 'screenshot': {
      const { format, quality, scale } = transfer;
      const image = plain('GET', `image/${format}`, IDLE_MS);
      const { headers } = image.response;
      return {
        ...image,
        response: { ...image.response, headers: { ...headers, ...OF_SCREENSHOTS } },
        target: toTarget({ route: GUEST_ROUTES.screenshot, query: { format, quality, scale } }),
      };
    }
    case 'output':
      return {
        ...plain('GET', 'application/x-ndjson', null),
        target: toTarget({ route: GUEST_ROUTES.executionOutput, query: { id: transfer.executionId } }),
      };
  }
};

/** Path and query for the guest of a transfer that takes over its connection. */
export const upgradeTarget = (transfer: UpgradeTransfer): string => {
  if (transfer.kind === 'app') return toTarget({ route: GUEST_ROUTES.app });
  if (transfer.kind === 'vnc') {
    const { sessionId, mode, takeover } = transfer;
    return toTarget({
      route: GUEST_ROUTES.vnc,
      query: { session: sessionId, mode, takeover: String(takeover) },
    });
  }
  const { cols, rows } = transfer;
  return toTarget({ route: GUEST_ROUTES.console, query: { cols, rows } });
};

/** The parts of a guest's response to pass on; undefined if the response is invalid. */
export const checkResponse = (
  rules: ResponseRules,
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

const OF_SCREENSHOTS = { 'berth-width': PIXELS, 'berth-height': PIXELS, 'berth-captured-at': TIME } as const;

const plain = (
  method: string,
  contentType: string,
  idleMs: number | null,
): Omit<GuestExchange, 'target'> => ({
  methods: [method],
  takesBody: false,
  outlivesCaller: false,
  passedOn: [],
  response: { statuses: [200], contentType, headers: { 'content-length': LENGTH }, limitBytes: null },
  idleMs,
});

const download = ({ path, within, limitBytes }: Extract<Transfer, { kind: 'download' }>): GuestExchange => ({
  methods: ['GET', 'HEAD'],
  takesBody: false,
  outlivesCaller: false,
  target: toTarget({ route: GUEST_ROUTES.readFile, query: { path, within, limit: limitBytes } }),
  passedOn: ['range', 'if-range', 'if-none-match'],
  response: {
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
