import { hkdfSync } from 'node:crypto';
import { SnapshotTable, type EventStore, type ProjectionRunner } from '@berth/event-store';
import type { Requester } from '@berth/messaging';
import type { Operations } from '@berth/operations';
import { SecretBox, type Database } from '@berth/persistence';
import type { Logger } from '@berth/telemetry';
import { AgentActivity } from './agent-list/agent-activity.js';
import { AgentListQuery } from './agent-list/agent-list.query.js';
import { DecidedAgents } from './agent-list/decided-agents.js';
import { ownersAdmission } from './agent/admission.js';
import { AgentCommandHandler } from './agent/agent.command-handler.js';
import { AgentLifecycle } from './agent/agent-lifecycle.js';
import { AgentCreation } from './agent/create-agent.js';
import { AgentDeletion } from './agent/delete-agent.js';
import { EnsureAwakeHandler } from './agent/ensure-awake.js';
import { StartRecipe } from './agent/start-recipe.js';
import { Transitions } from './agent/transitions.js';
import type { AgentsConfig } from './config.js';
import { EnvCommandHandler } from './env/env.command-handler.js';
import { EnvVault } from './env/env-vault.js';
import { AnnounceHostHandler } from './host/announce-host.js';
import { HostDirectory } from './host/host-directory.js';
import { Placement } from './host/placement.js';
import { ObservationHandler } from './host/report-observation.js';
import { Reservations } from './reservation/reservations.js';
import type { TemplateCatalogue } from './templates/template-catalogue.js';
import { AgentReconciler } from './timers/agent-reconciler.js';

/** What the service stands on, opened before it. */
export interface AgentsParts {
  readonly config: AgentsConfig;
  readonly requester: Pick<Requester, 'request' | 'requestAll'>;
  readonly store: EventStore;
  readonly database: Database;
  readonly templates: TemplateCatalogue;
  readonly agentList: Pick<ProjectionRunner, 'waitFor'>;
  readonly operations: Operations;
  readonly log: Logger;
}

/** What answers requests, each thing once. */
export interface AgentsHandlers {
  readonly query: AgentListQuery;
  readonly activity: AgentActivity;
  readonly creation: AgentCreation;
  readonly deletion: AgentDeletion;
  readonly transitions: Transitions;
  readonly ensureAwake: EnsureAwakeHandler;
  readonly env: EnvCommandHandler;
  readonly announceHost: AnnounceHostHandler;
  readonly observations: ObservationHandler;
  readonly timers: AgentReconciler;
  readonly lifecycle: AgentLifecycle;
}

/** How patient a creation is. */
export interface CreationTiming {
  readonly unfinishedAfterMs: number;
  readonly undoneWithinMs: number;
}

const TIMING: CreationTiming = { unfinishedAfterMs: 10_000, undoneWithinMs: 4_500 };

/** Puts the service together: commands in the middle, hosts on one side, the table on the other. */
export const assemble = (parts: AgentsParts, timing: CreationTiming = TIMING): AgentsHandlers => {
  const { config, store, database, requester, templates, log } = parts;
  const activity = new AgentActivity(database);
  const vault = new EnvVault(database, new SecretBox(config.keyring));
  const hosts = new HostDirectory(database);
  const placement = new Placement(requester, database);
  const streams = { store, snapshots: new SnapshotTable(database, log) };
  const agents = new AgentCommandHandler(streams, parts.agentList);
  const decided = new DecidedAgents(agents, activity);
  const recipe = new StartRecipe(vault, tokenSecret(config));
  const lifecycle = new AgentLifecycle(agents, requester, recipe, log);
  // The claims ask the creation whether a holder is gone, and the creation makes the claims.
  const reservations = new Reservations(
    streams,
    (...asked) => creation.isGone(...asked),
    timing.unfinishedAfterMs,
  );
  const creation: AgentCreation = new AgentCreation(
    agents,
    lifecycle,
    { reservations, templates, placement, vault, undoneWithinMs: timing.undoneWithinMs },
    log,
  );
  return {
    query: new AgentListQuery(database, decided),
    activity,
    creation,
    lifecycle,
    deletion: new AgentDeletion(agents, lifecycle, reservations),
    transitions: new Transitions(agents, lifecycle, requester, decided, config),
    ensureAwake: new EnsureAwakeHandler(agents, lifecycle, ownersAdmission, activity, log),
    env: new EnvCommandHandler(streams, agents, vault, requester, decided, lifecycle),
    announceHost: new AnnounceHostHandler({ agents, lifecycle, hosts, placement, database, store }),
    observations: new ObservationHandler(agents, lifecycle),
    timers: new AgentReconciler({ ...parts, ...config, agents, lifecycle, creation, hosts, placement }),
  };
};

/** The secret behind agents' tokens, derived from the oldest key so that a rotation leaves running agents alone. */
const tokenSecret = ({ keyring }: AgentsConfig): Buffer => {
  const oldest = [...keyring.keys.values()].at(-1) ?? new Uint8Array();
  return Buffer.from(hkdfSync('sha256', oldest, '', 'berth/agent-token', 32));
};
