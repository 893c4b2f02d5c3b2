import { ServerInterceptingCall, type Server, type ServerInterceptor } from '@grpc/grpc-js';
import { CommitSignal } from './commit-signal.js';
import { openDatabase } from './database.js';
import { notLeader } from './errors.js';
import { EventLog } from './event-log.js';
import type { Member } from './fixed-responses.js';
import { GroupCommit } from './group-commit.js';
import { listen, type Listener } from './listener.js';
import { LogWriter } from './log-writer.js';
import { createServer, shutDown } from './server.js';

const HOST = '127.0.0.1';
const STREAMS = '/event_store.client.streams.Streams/';

/** The current leader and the addresses of the nodes, as the test defines them; nodes are numbered from 0. */
export interface ClusterView {
  readonly leader: () => number;
  readonly members: () => readonly Member[];
}

/** Nodes that serve the same log, for tests of a client's behaviour in a cluster. */
export interface ClusterStandIn {
  readonly ports: readonly number[];
  /** Stream calls that a follower served because they did not require the leader. */
  readonly servedByFollowers: number;
  close(): Promise<void>;
}

/**
 * Starts `count` nodes on one log. A follower refuses calls that require the leader, like EventStoreDB, and gossip
 * returns what `view` says. Nothing is replicated and there are no elections: the test moves the leadership.
 */
export async function startClusterStandIn(options: {
  readonly file: string;
  readonly count: number;
  readonly view: ClusterView;
}): Promise<ClusterStandIn> {
  const database = openDatabase(options.file);
  const log = new EventLog(database.db);
  const signal = new CommitSignal();
  const writes = new GroupCommit(database.db, new LogWriter(log, Date.now), signal);
  const { view } = options;
  let servedByFollowers = 0;
  const nodes: { server: Server; listener: Listener }[] = [];
  for (let index = 0; index < options.count; index += 1) {
    const role = followersRefuse(view, index, () => (servedByFollowers += 1));
    const server = createServer({ log, signal, writes, members: view.members, interceptors: [role] });
    nodes.push({ server, listener: await listen(server, HOST, 0) });
  }
  return {
    ports: nodes.map(({ listener }) => listener.port),
    get servedByFollowers() {
      return servedByFollowers;
    },
    close: async () => {
      signal.close();
      for (const { listener } of nodes) listener.close();
      await Promise.all(nodes.map(({ server }) => shutDown(server, writes)));
      database.close();
    },
  };
}

function followersRefuse(view: ClusterView, index: number, served: () => void): ServerInterceptor {
  return ({ path }, call) =>
    new ServerInterceptingCall(call, {
      start: (next) =>
        next({
          onReceiveMetadata: (metadata, pass) => {
            const leader = view.members()[view.leader()];
            if (view.leader() === index || leader === undefined || !path.startsWith(STREAMS)) pass(metadata);
            else if (metadata.get('requires-leader')[0] === 'true')
              call.sendStatus(notLeader(leader.host, leader.port));
            else {
              served();
              pass(metadata);
            }
          },
        }),
    });
}
