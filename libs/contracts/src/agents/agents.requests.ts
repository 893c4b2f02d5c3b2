import type { Addressee, FindAddressees, FoundAddressee } from './addressee.js';
import { defineRequest, type CommandEnvelope, type Page } from '@berth/kernel';
import type { NullWhenAbsent } from '../schema/index.js';
import type {
  CreateAgentBody,
  EnvValueBody,
  EnvVarBody,
  GetAgentQuery,
  ListAgentsQuery,
  ResourcesBody,
} from './agents.schemas.js';
import type { AgentCounts, AgentOfEndUser, CountOfEndUsers, ForgetEndUser } from './end-users.requests.js';
import type { DeployBody } from './deployments.schemas.js';
import type { DeploymentView } from './deployment.view.js';
import type { PageRequest } from '../schema/index.js';
import type { HostView } from './host.view.js';
import type {
  ActivityKind,
  AnnounceHost,
  AwakeAgent,
  HostOrders,
  ReportActivity,
  ReportObservation,
  SetEndUserStanding,
} from '../hosting/index.js';
import type { AgentState, AgentView, EnvVarView, TemplateView } from './agent.view.js';

/** A null `idleTtlSeconds` takes the default, 900. */
export interface CreateAgent
  extends CommandEnvelope, Omit<NullWhenAbsent<CreateAgentBody>, 'labels' | 'env' | 'resources'> {
  readonly labels: NonNullable<CreateAgentBody['labels']>;
  readonly env: readonly (Pick<EnvVarBody, 'key' | 'value'> & { readonly isSecret: boolean })[];
  /** Absent members default to the template's. */
  readonly resources: { readonly [Member in keyof ResourcesBody]: NonNullable<ResourcesBody[Member]> };
}

export interface AgentRef extends CommandEnvelope {
  readonly agentId: string;
}

/** `settled` is false when the transition continues after the response (202). */
export interface TransitionResult {
  readonly agent: AgentView;
  readonly settled: boolean;
}

export interface GetAgent {
  readonly accountId: string;
  readonly agentId: string;
  /** Respond as soon as the agent is in this state or `failed`, or the timeout expires. */
  readonly wait: {
    readonly state: AgentState;
    readonly timeoutSeconds: GetAgentQuery['timeout'];
  } | null;
}

export interface ListAgents extends NullWhenAbsent<ListAgentsQuery> {
  readonly accountId: string;
  /**
   * Without the agents of other end users: after a deletion, another one may have the same external id. Agents from before
   * end users had ids have none.
   */
  readonly endUserId?: string | null;
}

export interface EnsureAwake extends CommandEnvelope {
  readonly agentId: string;
  readonly kind: ActivityKind;
  /**
   * The epoch that the host has just refused: the agent is no longer awake at this epoch, even if its stream says so.
   */
  readonly refusedEpoch: number | null;
  /** `refuse` leaves a sleeping agent asleep: conflict `agent_asleep`, where `wake` (the default) would wake it. */
  readonly asleep?: 'wake' | 'refuse';
  /** Names one attempt of the command, with which the caller first sends `refuse` and a moment later `wake`. */
  readonly attempt?: string;
}

export interface OpenApp extends CommandEnvelope {
  readonly agentId: string;
  /** The epoch of the last connection, if the host refused it as stale. */
  readonly refusedEpoch: number | null;
}

/** Grants one connection to the agent's program: see `TransferTicket`. */
export interface OpenedApp {
  readonly url: string;
  /** The host that issued the ticket; services of earlier versions leave it out. */
  readonly host?: string;
  /** A secret; it never leaves the gateway and the host. */
  readonly ticket: string;
  readonly epoch: number;
}

export interface LocateAgent {
  readonly accountId: string;
  readonly agentId: string;
}

export interface LocatedAgent {
  /** null before the agent is placed on a host. */
  readonly host: string | null;
  /** The guest of the last start; before the first start `version` is empty. */
  readonly guest: { readonly version: string; readonly capabilities: readonly string[] };
}

/** A computer that is to be made. */
export interface PlaceComputer {
  readonly computerId: string;
  readonly accountId: string;
  readonly memMb: number;
  readonly diskGb: number;
}

export interface HostRef extends CommandEnvelope {
  readonly hostId: string;
}

export interface SetEnvVar extends AgentRef, Pick<EnvValueBody, 'value'> {
  readonly key: string;
  /** null keeps the current setting; for a new variable it means not secret. */
  readonly isSecret: boolean | null;
}

export interface ListEnv extends LocateAgent {
  /** The last name on the previous page; null for the first page. */
  readonly after: string | null;
}

/**
 * Variables sorted by name, as many as fit into one message. `next` is the value of `after` for the next page, null at
 * the end.
 */
export interface EnvPage {
  readonly items: readonly EnvVarView[];
  readonly next: string | null;
}

export interface DeleteEnvVar extends AgentRef {
  readonly key: string;
}

export interface Deploy extends AgentRef, Omit<NullWhenAbsent<DeployBody>, 'agentId'> {}

export interface AcceptedDeployment {
  readonly deploymentId: string;
  readonly agent: AgentView;
}

export interface ListDeployments extends LocateAgent, PageRequest {}

export interface GetDeployment extends LocateAgent {
  readonly deploymentId: string;
}

/**
 * The requests that `agents` handles. Errors: not_found `agent_not_found`; conflict `agent_name_taken`,
 * `external_id_taken` (context `agentId`), `agent_deploying`, `agent_stopped`, `agent_failed`; invalid
 * `unknown_template`; forbidden `end_user_suspended` for whatever uses or starts an agent of a suspended end user.
 */
export const agentsRequests = {
  /** A process carries out a few creations, and a few deletions, at a time; the others wait for their turn. */
  create: defineRequest<CreateAgent, AgentView>('cmd.agents.create.v1', 60_000, { whenLost: 'repeat' }),
  /**
   * Returns *the* agent of the end user `externalUserId`: the one that this request has made and that still exists. Any
   * number of concurrent requests make one agent. Errors: those of `create`; unavailable `service_unavailable`.
   */
  createForEndUser: defineRequest<CreateAgent & { readonly externalUserId: string }, AgentOfEndUser>(
    'cmd.agents.create-for-end-user.v1',
    60_000,
    { whenLost: 'repeat' },
  ),
  get: defineRequest<GetAgent, AgentView>('qry.agents.get.v1', 65_000),
  list: defineRequest<ListAgents, Page<AgentView>>('qry.agents.list.v1'),
  countOfEndUsers: defineRequest<CountOfEndUsers, AgentCounts>('qry.agents.count-of-end-users.v1'),
  /**
   * Once it returns, nothing can begin to use an agent of a suspended end user. The event of the suspension has the same
   * effect, later.
   */
  setEndUserStanding: defineRequest<SetEndUserStanding, Record<string, never>>(
    'cmd.agents.set-end-user-standing.v1',
    4_000,
    { whenLost: 'repeat' },
  ),
  delete: defineRequest<AgentRef, Record<string, never>>('cmd.agents.delete.v1', 60_000),
  /** Destroys the copy of the end user's key that `agents` holds. */
  forgetEndUser: defineRequest<ForgetEndUser, Record<string, never>>(
    'cmd.agents.forget-end-user.v1',
    undefined,
    { whenLost: 'repeat' },
  ),
  start: defineRequest<AgentRef, TransitionResult>('cmd.agents.start.v1', 65_000, { whenLost: 'repeat' }),
  stop: defineRequest<AgentRef, TransitionResult>('cmd.agents.stop.v1', 65_000, { whenLost: 'repeat' }),
  sleep: defineRequest<AgentRef, TransitionResult>('cmd.agents.sleep.v1', 65_000, { whenLost: 'repeat' }),
  restart: defineRequest<AgentRef, TransitionResult>('cmd.agents.restart.v1', 65_000, { whenLost: 'repeat' }),
  ensureAwake: defineRequest<EnsureAwake, AwakeAgent>('cmd.agents.ensure-awake.v1', 75_000, {
    whenLost: 'repeat',
    onlyWhileAwaited: true,
  }),
  /**
   * Wakes the agent for a connection to its program. Errors: those of `ensureAwake`; unavailable `agent_unavailable`.
   * The host raises upstream `app_unreachable` and exhausted `too_many_app_connections` when the ticket is used.
   */
  openApp: defineRequest<OpenApp, OpenedApp>('cmd.agents.open-app.v1', 75_000, {
    whenLost: 'repeat',
    onlyWhileAwaited: true,
  }),
  /** Returns the agent's host and its guest's capabilities. Never wakes. Errors: unavailable `agent_unavailable`. */
  locate: defineRequest<LocateAgent, LocatedAgent>('qry.agents.locate.v1'),
  /** Returns the owner of an agent. Never wakes it. Errors: not_found `agent_not_found`. */
  addressee: defineRequest<{ readonly agentId: string }, Addressee>('qry.agents.addressee.v1'),
  /** Like `addressee`, for many agents; `found` omits those that do not exist. */
  addressees: defineRequest<FindAddressees, { readonly found: readonly FoundAddressee[] }>(
    'qry.agents.addressees.v1',
  ),
  templates: defineRequest<Record<string, never>, { readonly items: readonly TemplateView[] }>(
    'qry.agents.templates.v1',
  ),
  /** The ids of the templates whose agents have no program of their own. */
  programlessTemplates: defineRequest<Record<string, never>, { readonly templateIds: readonly string[] }>(
    'qry.agents.programless-templates.v1',
  ),
  listEnv: defineRequest<ListEnv, EnvPage>('qry.agents.list-env.v1'),
  /** Errors: invalid `invalid_request` (context `fields`) beyond `AGENT_LIMITS`. */
  setEnv: defineRequest<SetEnvVar, EnvVarView>('cmd.agents.set-env.v1', undefined, { whenLost: 'repeat' }),
  /** Errors: not_found `env_var_not_found`. */
  deleteEnv: defineRequest<DeleteEnvVar, Record<string, never>>('cmd.agents.delete-env.v1', undefined, {
    whenLost: 'repeat',
  }),
  /** Errors: conflict `env_too_large`. */
  reloadEnv: defineRequest<AgentRef, AgentView>('cmd.agents.reload-env.v1', 65_000),
  /**
   * Accepts a deployment. Errors: invalid `invalid_request` (context `fields`), `repo_url_refused`, `image_refused`;
   * unsupported `images_unsupported`.
   */
  deploy: defineRequest<Deploy, AcceptedDeployment>('cmd.agents.deploy.v1', 20_000, { whenLost: 'repeat' }),
  listDeployments: defineRequest<ListDeployments, Page<DeploymentView>>('qry.agents.list-deployments.v1'),
  /** Errors: not_found `deployment_not_found`. */
  getDeployment: defineRequest<GetDeployment, DeploymentView>('qry.agents.get-deployment.v1'),
  reportObservation: defineRequest<ReportObservation, Record<string, never>>(
    'cmd.agents.report-observation.v1.{from}',
  ),
  /**
   * Chooses a host for a computer like for an agent. Errors: unavailable `no_capacity`; unsupported `computers_unsupported`
   * if no host that is up has desktop software.
   */
  placeComputer: defineRequest<PlaceComputer, { readonly host: string }>(
    'cmd.agents.place-computer.v1',
    10_000,
    { whenLost: 'repeat' },
  ),
  /** The hosts that an operator has removed: they take no orders, also if they return. */
  removedHosts: defineRequest<Record<string, never>, { readonly hosts: readonly string[] }>(
    'qry.agents.removed-hosts.v1',
  ),
  /** Hosts by id, the oldest first. Errors: invalid `invalid_request` for a bad cursor. */
  listHosts: defineRequest<PageRequest, Page<HostView>>('qry.agents.list-hosts.v1'),
  /** The host gets no new agents; those that it has stay. Errors: not_found `host_not_found`. */
  drainHost: defineRequest<HostRef, Record<string, never>>('cmd.agents.drain-host.v1', undefined, {
    whenLost: 'repeat',
  }),
  /** Errors: not_found `host_not_found`. */
  resumeHost: defineRequest<HostRef, Record<string, never>>('cmd.agents.resume-host.v1', undefined, {
    whenLost: 'repeat',
  }),
  /** Gives up a lost host and its agents. Errors: not_found `host_not_found`, conflict `host_not_lost`. */
  removeHost: defineRequest<HostRef, Record<string, never>>('cmd.agents.remove-host.v1', undefined, {
    whenLost: 'repeat',
  }),
  /**
   * Errors: conflict `other_event_log`, if the host belongs to an installation with another log, `host_removed`, if an
   * operator has removed it.
   */
  announceHost: defineRequest<AnnounceHost, HostOrders>('cmd.agents.announce-host.v1.{from}', 30_000),
  reportActivity: defineRequest<ReportActivity, Record<string, never>>(
    'cmd.agents.report-activity.v1.{from}',
  ),
};
