import { BACKWARDS, END, type Credentials } from '@eventstore/db-client';
import type { Logger } from '@berth/telemetry';
import { EsdbDiscovery } from './esdb-discovery.js';
import { LeaderConnection, type EsdbClient } from './leader-connection.js';
import { collect } from './esdb-read.js';
import { EsdbUrl } from './esdb-url.js';
import { FeedWatch } from './feed-watch.js';

const PROBE_MS = 2_500;

/** The connections behind the port and the options of every call. */
export interface EsdbConnection {
  /** Appends and reads. */
  readonly calls: LeaderConnection;
  /** Subscriptions, on a TCP connection of their own. */
  readonly feeds: LeaderConnection;
  readonly feedWatch: FeedWatch;
  readonly call: CallOptions;
}

/** Only the leader is asked: a follower may lack events that the leader has acknowledged. */
export interface CallOptions {
  readonly credentials: Credentials;
  readonly requiresLeader: true;
}

/** Does not connect yet. Throws when the URL is invalid; the error does not contain it. */
export const esdbConnection = (text: string, log: Logger): EsdbConnection => {
  const url = new EsdbUrl(text);
  const call: CallOptions = { credentials: url.credentials, requiresLeader: true };
  const discovery = new EsdbDiscovery(url);
  const feeds = new LeaderConnection(url, discovery, log);
  const probe = async (open: EsdbClient): Promise<void> => void (await lastPosition(open, call, PROBE_MS));
  return {
    calls: new LeaderConnection(url, discovery, log),
    feeds,
    feedWatch: new FeedWatch(feeds, probe),
    call,
  };
};

/** Position of the log's last event; null when it is empty. */
export const lastPosition = async (
  open: EsdbClient,
  call: CallOptions,
  timeoutMs: number,
): Promise<bigint | null> => {
  const read = open.client.readAll({ direction: BACKWARDS, fromPosition: END, maxCount: 1, ...call });
  const [last] = await collect(read, open, timeoutMs);
  return last?.event?.position.commit ?? last?.commitPosition ?? null;
};
