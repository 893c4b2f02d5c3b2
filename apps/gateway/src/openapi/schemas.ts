import {
  AGENT_STATES,
  DEPLOYMENT_FAILURES,
  DEPLOYMENT_STATUSES,
  type AgentView,
  type DeploymentView,
  type EnvVarView,
  type TemplateView,
  HOST_STATES,
  type HostView,
} from '@berth/contracts/agents';
import { LOG_LEVELS, LOG_SOURCES, type LogEntry } from '@berth/contracts/runtime';
import { type ExecutionSummary } from '@berth/contracts/exec';
import { EXECUTION_STATUSES } from '@berth/contracts/hosting';
import type { DeadLetterView, ProjectionView } from '@berth/contracts/operations';
import type { AgentStats } from '../agents/agent-stats.js';
import { DISK_HEALTH, type HealthView } from '../health/health.view.js';
import { COMPUTER_SCHEMAS } from './computer-schemas.js';
import { AUDIT_SCHEMAS } from './audit-schemas.js';
import { LLM_SCHEMAS } from './llm-schemas.js';
import { ACCOUNT_SCHEMAS } from './account-schemas.js';
import { SCHEDULE_SCHEMAS } from './schedule-schemas.js';
import { END_USER_SCHEMAS } from './end-user-schemas.js';
import { USAGE_SCHEMAS } from './usage-schemas.js';
import { WEBHOOK_SCHEMAS } from './webhook-schemas.js';
import {
  bool,
  integer,
  integerOrNull,
  list,
  number,
  numberOrNull,
  object,
  page,
  ref,
  text,
  textOrNull,
  time,
  timeOrNull,
  view,
  type JsonSchema,
} from './json-schema.js';

const resources = object({ memMb: integer, vcpus: number, diskGb: integer });

const source = object(
  { kind: { enum: ['template', 'git', 'image'] }, repoUrl: text, branch: text, commit: text, image: text },
  ['repoUrl', 'branch', 'commit', 'image'],
);

const deployment = view<DeploymentView>({
  id: { ...text, examples: ['dep_01jd2m3k4n5p6q7r8s9t0v1w2x'] },
  source,
  status: { enum: [...DEPLOYMENT_STATUSES] },
  error: {
    anyOf: [object({ code: { enum: Object.keys(DEPLOYMENT_FAILURES) }, message: text }), { type: 'null' }],
  },
  commit: textOrNull,
  createdAt: time,
  finishedAt: timeOrNull,
});

const agent = view<AgentView>({
  id: { ...text, examples: ['agt_01jd2m3k4n5p6q7r8s9t0v1w2x'] },
  name: text,
  templateId: text,
  externalId: textOrNull,
  externalUserId: textOrNull,
  instructions: textOrNull,
  labels: { type: 'object', additionalProperties: { type: 'string' } },
  state: { enum: [...AGENT_STATES] },
  stateReason: textOrNull,
  stateChangedAt: time,
  lastError: { anyOf: [object({ code: text, message: text, at: time }), { type: 'null' }] },
  idleTtlSeconds: { ...integer, description: '0: always on.' },
  sleepDepth: { enum: ['warm', 'cold', null] },
  lastActiveAt: time,
  lastActivityKind: text,
  sleepAt: timeOrNull,
  nextWakeAt: timeOrNull,
  source,
  resources,
  guest: object({ version: text, capabilities: list(text) }),
  appUrl: textOrNull,
  createdAt: time,
  updatedAt: time,
});

const executionStatus: JsonSchema = { enum: [...EXECUTION_STATUSES] };
const keptOutput: JsonSchema = {
  ...text,
  description:
    'The last 262,144 characters; if truncated, it begins with `[output truncated]` and a newline. Absent while the command runs.',
};

const dependency: JsonSchema = {
  enum: ['ok', 'degraded', 'down', 'unknown'],
  description:
    '`degraded`: some probes got no response in time. `unknown`: no service that uses it responded.',
};

const error = (more: { readonly [member: string]: JsonSchema }): JsonSchema => {
  const description = 'The request may have taken effect: send it again only with the same Idempotency-Key.';
  const context = { ...more, mayHaveBeenDone: { const: true, description } };
  const code = { ...text, description: 'Stable, snake_case.' };
  const message = { ...text, description: 'What to do.' };
  return object({ detail: object({ code, message, ...context }, Object.keys(context)) });
};

/** The schemas of responses. The schemas of bodies and queries are generated from their TypeBox declarations. */
export const RESPONSE_SCHEMAS: { readonly [name: string]: JsonSchema } = {
  ...ACCOUNT_SCHEMAS,
  ...AUDIT_SCHEMAS,
  ...COMPUTER_SCHEMAS,
  ...USAGE_SCHEMAS,
  ...LLM_SCHEMAS,
  Agent: agent,
  AgentPage: page('Agent'),
  AgentList: object({ items: list(ref('Agent')) }),
  AgentStats: view<AgentStats>({
    state: { enum: [...AGENT_STATES] },
    memBytes: integerOrNull,
    memLimitBytes: integer,
    cpuSeconds: { ...numberOrNull, description: 'Since the agent started.' },
    processes: { ...integerOrNull, description: 'Including threads.' },
    diskBytes: { ...integerOrNull, description: 'Used on the volume.' },
    diskLimitBytes: integer,
    startedAt: timeOrNull,
    asOf: time,
  }),
  Deployment: deployment,
  DeploymentPage: page('Deployment'),
  AcceptedDeployment: object({ deploymentId: text, agent: ref('Agent') }),
  ChatReply: object({ response: text, conversation_id: text }),
  ...END_USER_SCHEMAS,
  ...WEBHOOK_SCHEMAS,
  ...SCHEDULE_SCHEMAS,
  EnvVar: view<EnvVarView>({
    key: text,
    value: { ...text, description: '`********` for secrets.' },
    isSecret: bool,
    updatedAt: time,
  }),
  EnvList: object({ items: list(ref('EnvVar')) }),
  Execution: object(
    {
      executionId: { ...text, examples: ['exe_01jd2m3k4n5p6q7r8s9t0v1w2x'] },
      status: executionStatus,
      exitCode: {
        ...integer,
        description: '-1 for every final status but `completed`. Absent while the command runs.',
      },
      stdout: keptOutput,
      stderr: keptOutput,
    },
    ['exitCode', 'stdout', 'stderr'],
  ),
  AttachedResult: {
    anyOf: [
      ref('Execution'),
      {
        ...object({ exitCode: integer, stdout: text, stderr: text }),
        description: 'From an agent with an older guest: both streams in `stdout`, no id.',
      },
    ],
  },
  AcceptedExecution: object({ executionId: text, status: executionStatus }),
  ExecutionSummary: view<ExecutionSummary>({
    executionId: text,
    status: executionStatus,
    exitCode: integerOrNull,
    detached: bool,
    timeout: { ...number, description: 'Seconds.' },
    createdAt: time,
    endedAt: timeOrNull,
  }),
  ExecutionPage: page('ExecutionSummary'),
  LogEntry: view<LogEntry>({
    timestamp: time,
    level: { enum: [...LOG_LEVELS] },
    source: { enum: [...LOG_SOURCES] },
    message: text,
  }),
  LogsPage: object({ logs: list(ref('LogEntry')), nextCursor: textOrNull }),
  Template: view<TemplateView>({
    id: text,
    name: text,
    description: text,
    deprecated: bool,
    resources,
    capabilities: list(text),
    env: list(object({ key: text, required: bool, description: text })),
  }),
  TemplateList: object({ items: list(ref('Template')) }),
  Projection: view<ProjectionView>({
    name: text,
    service: text,
    version: integer,
    position: {
      ...textOrNull,
      description: 'The log position up to which events are applied, as a decimal number.',
    },
    lag: { ...integer, description: 'Events not applied yet; counting stops at 10,000.' },
    rebuilding: {
      anyOf: [
        object({
          applied: integer,
          total: integerOrNull,
          eventsPerSecond: number,
          secondsLeft: numberOrNull,
        }),
        { type: 'null' },
      ],
    },
    lastRebuild: {
      anyOf: [object({ outcome: { enum: ['completed', 'failed'] }, at: time }), { type: 'null' }],
    },
  }),
  ProjectionList: object({ items: list(ref('Projection')) }),
  DeadLetter: view<DeadLetterView>({
    id: text,
    service: text,
    consumer: text,
    eventId: text,
    subject: {
      ...text,
      description: '`evt.<context>.<event>.v<n>.<account>.<id>`; empty if the message was not an event.',
    },
    reason: { ...text, description: 'The last failure, without secrets.' },
    deliveries: integer,
    at: time,
  }),
  DeadLetterPage: page('DeadLetter'),
  Host: view<HostView>({
    id: text,
    name: { ...text, description: 'Chosen by its operator; the name of the machine by default.' },
    driver: text,
    version: text,
    state: { enum: HOST_STATES },
    agents: object({ awake: integer, warm: integer, cold: integer }),
    memMb: object({ total: integer, free: integer }),
    diskGb: object({ total: integer, free: integer }),
    runtimeClasses: { ...list(text), description: 'Of containers; empty under the driver `process`.' },
    lastSeenAt: time,
  }),
  HostPage: page('Host'),
  Health: view<HealthView>({
    status: { enum: ['ok', 'degraded', 'unavailable'] },
    runtime: { ...text, description: "The runtime's driver." },
    version: text,
    dependencies: object({
      nats: dependency,
      eventStore: dependency,
      postgres: dependency,
      runtime: dependency,
    }),
    disk: { enum: [...DISK_HEALTH], description: '`full`: changes are refused for lack of space.' },
    deadLetters: { ...integerOrNull, description: 'Null while they cannot be counted.' },
  }),
  FileList: object({
    path: text,
    root: { ...text, description: "The path of the agent's volume." },
    entries: list(
      object({
        name: text,
        isDir: bool,
        size: { ...integer, description: 'Bytes; 0 for a folder.' },
        mtime: { ...integer, description: 'Seconds since 1970.' },
      }),
    ),
  }),
  UploadedFile: object({ ok: bool, path: text, name: text, size: integer }),
  WrittenFile: object({ ok: bool, path: text, size: integer }),
  ChangedPath: object({ ok: bool, path: text }),
  MovedPath: object({ ok: bool, from: text, to: text }),
  Error: error({}),
  InvalidRequest: error({
    fields: {
      ...list(object({ path: text, message: text })),
      description: 'For `invalid_request`: every invalid field.',
    },
  }),
};
