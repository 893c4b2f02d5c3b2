import { setMaxListeners } from 'node:events';
import { CommandHandler, type EventStore, type ProjectionRunner } from '@berth/event-store';
import { Requester, type NatsLink } from '@berth/messaging';
import type { Database } from '@berth/persistence';
import type { Logger } from '@berth/telemetry';
import { CancelCommandHandler } from './execution/cancel.command-handler.js';
import { executionDecider } from './execution/execution.decider.js';
import { executionCodec } from './execution/execution.events.js';
import { ExecutionQuery } from './execution/execution.query.js';
import { ExecutionStreams } from './execution/execution-streams.js';
import { FollowedExecutions } from './execution/followed-executions.js';
import { ExecutionListQuery } from './execution-list/execution-list.query.js';
import { ExecutionHosts } from './host/execution-host.js';
import { FollowOutputHandler } from './open/follow-output.js';
import { OpenConsoleHandler } from './open/open-console.js';
import { OutputVault } from './output/output-vault.js';
import { AgentEndings } from './react/agent-endings.js';
import { EndExecutionsWhenAgentEnds } from './react/end-executions-when-agent-ends.js';
import { AcceptedPositions } from './submission/accepted-positions.js';
import { EarlierSubmission } from './submission/earlier-submission.js';
import { AgentDispatcher } from './submission/agent-dispatcher.js';
import { OlderGuest } from './submission/older-guest.js';
import { Refusing } from './submission/refusing.js';
import { Rerouting } from './submission/rerouting.js';
import { SubmitCommandHandler } from './submission/submit.command-handler.js';
import { Wake } from './submission/wake.js';
import { PACE, Reconciler, type Pace } from './timers/reconciler.js';
import { RunningExecutionsQuery } from './timers/running-executions.query.js';
import { PATIENCE, Settlement, type Patience } from './timers/settlement.js';
import { Sweep } from './timers/sweep.js';

/** What the service stands on, opened before it. */
export interface ExecParts {
  readonly link: NatsLink;
  readonly store: EventStore;
  readonly database: Database;
  readonly executionList: ProjectionRunner;
  readonly log: Logger;
}

/** How quick the background is; the usual unless said otherwise. */
export interface Timing {
  readonly pace?: Pace;
  readonly patience?: Patience;
}

/** What answers the service's requests, and what works behind them. */
export abstract class ExecHandlers {
  abstract readonly submit: SubmitCommandHandler;
  abstract readonly query: ExecutionQuery;
  abstract readonly cancel: CancelCommandHandler;
  abstract readonly list: ExecutionListQuery;
  abstract readonly followOutput: FollowOutputHandler;
  abstract readonly openConsole: OpenConsoleHandler;
  abstract readonly reconciler: Reconciler;
  abstract readonly agentEnds: EndExecutionsWhenAgentEnds;
  /** Ends what goes on behind answers, and sends those who wait for an end to another process. */
  abstract stop(): void;
}

/** Puts the service together. */
export const assemble = (parts: ExecParts, timing: Timing = {}): ExecHandlers => {
  const { link, store, database, executionList, log } = parts;
  const requester = new Requester(link);
  const ending = new AbortController();
  const stopping = ending.signal;
  // One for each caller who waits.
  setMaxListeners(0, stopping);
  const streams = new CommandHandler({ store, decider: executionDecider, codec: executionCodec });
  const vault = new OutputVault(database);
  const executions = new ExecutionStreams(streams, vault);
  const hosts = new ExecutionHosts(requester);
  const wake = new Wake(requester);
  const rerouting = new Rerouting(database);
  const positions = new AcceptedPositions(database);
  const query = new ExecutionQuery(executions, vault, hosts, requester, stopping);
  const followed = new FollowedExecutions(hosts, executions, log, stopping);
  const refusing = new Refusing(executions, positions, log, stopping);
  const dispatcher = new AgentDispatcher(hosts, wake, executions, rerouting);
  const earlier = new EarlierSubmission(executions, query, hosts, stopping);
  const olderGuest = new OlderGuest(hosts, wake);
  const patience = timing.patience ?? PATIENCE;
  const settlement = new Settlement({ executions, vault, hosts, followed, rerouting, patience });
  const endings = new AgentEndings(database);
  const running = new RunningExecutionsQuery(database);
  const sweep = new Sweep(vault, positions, rerouting, endings);
  const reconciler = new Reconciler(running, settlement, followed, sweep, timing.pace ?? PACE, log);
  return {
    submit: new SubmitCommandHandler({
      wake,
      olderGuest,
      dispatcher,
      executions,
      earlier,
      followed,
      positions,
      refusing,
      stopping,
    }),
    query,
    cancel: new CancelCommandHandler(executions, query, hosts),
    list: new ExecutionListQuery(database, positions, executionList, requester),
    followOutput: new FollowOutputHandler(query, hosts),
    openConsole: new OpenConsoleHandler(wake, hosts),
    reconciler,
    agentEnds: new EndExecutionsWhenAgentEnds(endings, running, reconciler, log),
    stop: () => ending.abort(),
  };
};
