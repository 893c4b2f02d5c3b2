import { dirname } from 'node:path';
import { hasRoom } from '@berth/host-requirements';
import { Server, type ServerInterceptor } from '@grpc/grpc-js';
import { batchAppendCall } from './batch-append-call.js';
import { CommitSignal } from './commit-signal.js';
import { openDatabase } from './database.js';
import { EventLog } from './event-log.js';
import { addUnsupportedServices, gossipCall, supportedMethodsCall, type Member } from './fixed-responses.js';
import { GroupCommit } from './group-commit.js';
import { listen } from './listener.js';
import { LogWriter } from './log-writer.js';
import { pipelineResponses } from './pipelined-call.js';
import { featuresService, gossipService, streamsService } from './protocol.js';
import { readCall } from './read-call.js';
import { appendCall, deleteCall, tombstoneCall } from './write-calls.js';

const LOOPBACK = '127.0.0.1';
/* The client sends batches of up to 3 MiB; the append limit applies to their content. */
const MAX_MESSAGE_BYTES = 17 * 1_048_576;
/* Time for responses in progress; the client's batch append never ends on its own. */
const GRACE_MS = 250;

/* Read responses are already encoded; see event-encoder. */
const STREAMS_SERVICE = {
  ...streamsService.StreamsService,
  read: { ...streamsService.StreamsService.read, responseSerialize: (encoded: Buffer) => encoded },
};

/** Where the log is stored and where the server listens; port 0 picks a free one. */
export interface EventStoreServerOptions {
  readonly file: string;
  readonly port: number;
  /** Default: loopback, because the server only checks the user behind a connection. */
  readonly host?: string;
}

/** A running server. `close()` resolves once all accepted writes are on disk and the file is closed. */
export interface EventStoreServer {
  readonly port: number;
  /** How many write transactions were flushed since the start. */
  readonly flushedGroups: number;
  /** How many subscriptions are open. */
  readonly subscriptions: number;
  close(): Promise<void>;
}

/**
 * Starts a server that implements EventStoreDB's gRPC protocol (streams, gossip, server features) on a SQLite file.
 * Rejects with the errors of opening the file, and when the port is in use.
 */
export async function startEventStoreServer(options: EventStoreServerOptions): Promise<EventStoreServer> {
  const host = options.host ?? LOOPBACK;
  const database = openDatabase(options.file);
  try {
    const log = new EventLog(database.db);
    const signal = new CommitSignal();
    const writes = new GroupCommit(database.db, new LogWriter(log, Date.now), signal, () =>
      hasRoom(dirname(options.file)),
    );
    const members = (): readonly Member[] => [{ host, port, state: 'leader', alive: true }];
    const server = createServer({ log, signal, writes, members, interceptors: [] });
    const listener = await listen(server, host, options.port);
    const { port } = listener;
    let closing: Promise<void> | undefined;
    const close = async (): Promise<void> => {
      signal.close();
      listener.close();
      await shutDown(server, writes);
      database.close();
    };
    return {
      port,
      get flushedGroups() {
        return writes.groups;
      },
      get subscriptions() {
        return signal.listenerCount;
      },
      close: () => (closing ??= close()),
    };
  } catch (error) {
    database.close();
    throw error;
  }
}

/** What a node serves, and its view of the cluster. */
export interface NodeParts {
  readonly log: EventLog;
  readonly signal: CommitSignal;
  readonly writes: GroupCommit;
  readonly members: () => readonly Member[];
  readonly interceptors: readonly ServerInterceptor[];
}

/** Creates the gRPC server of one node; it does not listen yet. */
export function createServer({ log, signal, writes, members, interceptors }: NodeParts): Server {
  const server = new Server({
    'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
    interceptors: [...interceptors, pipelineResponses(streamsService.StreamsService.read.path)],
  });
  server.addService(STREAMS_SERVICE, {
    append: appendCall(writes),
    batchAppend: batchAppendCall(writes),
    read: readCall({ log, signal }),
    delete: deleteCall(writes),
    tombstone: tombstoneCall(writes),
  });
  server.addService(featuresService.ServerFeaturesService, { getSupportedMethods: supportedMethodsCall });
  server.addService(gossipService.GossipService, { read: gossipCall(members) });
  addUnsupportedServices(server);
  return server;
}

/** Shuts a server down once its responses are sent, or after a grace period. */
export async function shutDown(server: Server, writes: GroupCommit): Promise<void> {
  writes.flushAll();
  await new Promise<void>((resolve) => {
    // A caller that neither reads nor hangs up must not keep the server running.
    const timer = setTimeout(() => {
      server.forceShutdown();
      resolve();
    }, GRACE_MS);
    server.tryShutdown(() => {
      clearTimeout(timer);
      resolve();
    });
  });
  writes.flushAll();
}
