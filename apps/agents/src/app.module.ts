import { ProjectionRunner, type EventStore } from '@berth/event-store';
import { Requester, type NatsLink } from '@berth/messaging';
import { Projections, projectionsController } from '@berth/operations';
import { Database, SecretBox } from '@berth/persistence';
import type { Logger } from '@berth/telemetry';
import { Module, type DynamicModule, type Provider } from '@nestjs/common';
import { hkdfSync } from 'node:crypto';
import { AgentListQuery } from './agent-list/agent-list.query.js';
import { ownersAdmission } from './agent/admission.js';
import { AgentCommandHandler } from './agent/agent.command-handler.js';
import { AgentLifecycle } from './agent/agent-lifecycle.js';
import { AgentNatsController } from './agent/agent.nats-controller.js';
import { AgentRegistration } from './agent/create-agent.js';
import { EnsureAwakeHandler } from './agent/ensure-awake.js';
import { StartRecipe } from './agent/start-recipe.js';
import { Transitions } from './agent/transitions.js';
import type { AgentsConfig } from './config.js';
import { EnvCommandHandler } from './env/env.command-handler.js';
import { EnvNatsController } from './env/env.nats-controller.js';
import { EnvVault } from './env/env-vault.js';
import { AnnounceHostHandler } from './host/announce-host.js';
import { HostDirectory } from './host/host-directory.js';
import { HostNatsController } from './host/host.nats-controller.js';
import { ObservationHandler } from './host/report-observation.js';
import { Reservations } from './reservation/reservations.js';
import { TemplateCatalogue } from './templates/template-catalogue.js';
import { AgentTimers } from './timers/agent-timers.js';
import { EVENT_STORE, LOGGER } from './tokens.js';

/** What the service stands on, opened before it. */
export interface AgentsParts {
  readonly config: AgentsConfig;
  readonly link: NatsLink;
  readonly store: EventStore;
  readonly database: Database;
  readonly templates: TemplateCatalogue;
  readonly agentList: ProjectionRunner;
  readonly projections: Projections;
  readonly log: Logger;
}

@Module({})
export class AppModule {
  static forRoot(parts: AgentsParts): DynamicModule {
    return {
      module: AppModule,
      controllers: [
        AgentNatsController,
        EnvNatsController,
        HostNatsController,
        projectionsController('agents'),
      ],
      providers: [...foundation(parts), ...handlers(parts)],
    };
  }
}

const foundation = ({
  config,
  link,
  store,
  database,
  templates,
  agentList,
  projections,
  log,
}: AgentsParts): Provider[] => [
  { provide: EVENT_STORE, useValue: store },
  { provide: LOGGER, useValue: log },
  { provide: Database, useValue: database },
  { provide: Projections, useValue: projections },
  { provide: TemplateCatalogue, useValue: templates },
  { provide: Requester, useValue: new Requester(link) },
  { provide: ProjectionRunner, useValue: agentList },
  { provide: AgentListQuery, useValue: new AgentListQuery(database) },
  { provide: EnvVault, useValue: new EnvVault(database, new SecretBox(config.keyring)) },
  {
    provide: HostDirectory,
    useFactory: (requester: Requester) => new HostDirectory(requester, database),
    inject: [Requester],
  },
  {
    provide: AgentCommandHandler,
    useFactory: (agentList: ProjectionRunner) => new AgentCommandHandler(store, agentList),
    inject: [ProjectionRunner],
  },
  {
    provide: StartRecipe,
    useFactory: (vault: EnvVault) => new StartRecipe(vault, tokenSecret(config)),
    inject: [EnvVault],
  },
];

const handlers = ({ config, store, database, templates, log }: AgentsParts): Provider[] => [
  {
    provide: AgentLifecycle,
    useFactory: (agents: AgentCommandHandler, requester: Requester, recipe: StartRecipe) =>
      new AgentLifecycle(agents, requester, recipe, log),
    inject: [AgentCommandHandler, Requester, StartRecipe],
  },
  {
    provide: AgentRegistration,
    useFactory: (
      agents: AgentCommandHandler,
      lifecycle: AgentLifecycle,
      hosts: HostDirectory,
      vault: EnvVault,
      query: AgentListQuery,
    ) => {
      // The claims ask the registration whether a holder is gone, and the registration makes the claims.
      const reservations = new Reservations(store, (agentId) => registration.isGone(agentId));
      const registration: AgentRegistration = new AgentRegistration(
        agents,
        lifecycle,
        { reservations, templates, hosts, vault },
        query,
        log,
      );
      return registration;
    },
    inject: [AgentCommandHandler, AgentLifecycle, HostDirectory, EnvVault, AgentListQuery],
  },
  {
    provide: Transitions,
    useFactory: (
      agents: AgentCommandHandler,
      lifecycle: AgentLifecycle,
      requester: Requester,
      query: AgentListQuery,
    ) => new Transitions(agents, lifecycle, requester, query, config),
    inject: [AgentCommandHandler, AgentLifecycle, Requester, AgentListQuery],
  },
  {
    provide: EnsureAwakeHandler,
    useFactory: (agents: AgentCommandHandler, lifecycle: AgentLifecycle) =>
      new EnsureAwakeHandler(agents, lifecycle, ownersAdmission),
    inject: [AgentCommandHandler, AgentLifecycle],
  },
  {
    provide: EnvCommandHandler,
    useFactory: (agents: AgentCommandHandler, vault: EnvVault, requester: Requester, query: AgentListQuery) =>
      new EnvCommandHandler(store, agents, vault, requester, query),
    inject: [AgentCommandHandler, EnvVault, Requester, AgentListQuery],
  },
  {
    provide: AnnounceHostHandler,
    useFactory: (agents: AgentCommandHandler, lifecycle: AgentLifecycle, hosts: HostDirectory) =>
      new AnnounceHostHandler(agents, lifecycle, hosts, database),
    inject: [AgentCommandHandler, AgentLifecycle, HostDirectory],
  },
  {
    provide: ObservationHandler,
    useFactory: (agents: AgentCommandHandler, lifecycle: AgentLifecycle) =>
      new ObservationHandler(agents, lifecycle, database),
    inject: [AgentCommandHandler, AgentLifecycle],
  },
  {
    provide: AgentTimers,
    useFactory: (agents: AgentCommandHandler, lifecycle: AgentLifecycle, hosts: HostDirectory) =>
      new AgentTimers(agents, lifecycle, hosts, database, config, log),
    inject: [AgentCommandHandler, AgentLifecycle, HostDirectory],
  },
];

/** The secret behind agents' tokens, derived from the oldest key so that a rotation leaves running agents alone. */
const tokenSecret = ({ keyring }: AgentsConfig): Buffer => {
  const oldest = [...keyring.keys.values()].at(-1) ?? new Uint8Array();
  return Buffer.from(hkdfSync('sha256', oldest, '', 'berth/agent-token', 32));
};
